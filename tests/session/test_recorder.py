"""What a session saw, recorded and played again: the same state, the same verdicts; and which starts are kept."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from session_watch import watching
from simulated import needs_linux
from sshd import Sshd
from storydata import BEGAN, story
from waiting import eventually

from bringup.core.assess import assess
from bringup.core.errors import BringupError
from bringup.core.events import ActionStep, Event, Server, ServerFound
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.demo.host import DemoHost
from bringup.hosts.recording import load_recording
from bringup.recordings.encoder import Item, LogPiece
from bringup.recordings.place import Keeping
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.player import Player, past_policy
from bringup.session.recorder import AFTER, Recorder

Key = tuple[object, ...]


def key(verdict: Verdict) -> Key:
    return verdict.state, verdict.phase, verdict.role


def without_doubles(keys: list[Key]) -> list[Key]:
    return [now for number, now in enumerate(keys) if number == 0 or keys[number - 1] != now]


@needs_linux
async def test_a_replay_comes_to_the_same_state_and_verdicts_as_the_session(
    real_sshd: Sshd, knowledge: Knowledge, tmp_path: Path
) -> None:
    knowledge = dataclasses.replace(knowledge, policy=past_policy(knowledge))
    live: list[Key] = []
    states: list[State] = []
    async with DemoHost("healthy", speed=20) as demo:
        keeping = Keeping(tmp_path / "recordings", always=False)
        async with watching(demo, real_sshd, knowledge, keeping=keeping) as session:
            picture = session._picture
            apply = picture.apply

            def noted(events: list[Event]) -> None:
                apply(events)
                states.append(session.state)
                live.append(key(session.verdict()))

            picture.apply = noted  # type: ignore[method-assign,assignment]
            assert "from the beginning" in await session.record()
            await eventually(lambda: session.verdict().state == "ready", 60.0)
            await eventually(lambda: session.state.http is not None and session.state.http.status == 200, 60.0)
            assert "bringup replay" in await session.record()
    (path,) = (tmp_path / "recordings").iterdir()
    recording = load_recording(path)
    assert (recording.trouble, recording.header.host) == ("", "box")
    player, played = Player(recording, knowledge), list[Key]()
    for t, item in recording.items:
        player.take(t, item)
        played.append(key(assess(player.state, recording.wall + t, knowledge.policy)))
    # With all its times: nothing that counts was rounded. What came in the moment of the end is in one of them only.
    assert msgspec.to_builtins(player.state) in [msgspec.to_builtins(state) for state in states[-200:]]
    assert {rank.rank for rank in player.state.attempt.ranks} == set(range(8))
    assert without_doubles(played)[-1] == ("ready", "serving", None)
    known = without_doubles(live)
    assert [now for now in without_doubles(played) if now in known][-len(known) :] == known


class Desk:
    """A recorder over a picture that a test feeds, with a clock that it moves."""

    def __init__(self, folder: Path, knowledge: Knowledge, **more: object) -> None:
        self.at = BEGAN
        self.keeping = Keeping(folder, **more)  # type: ignore[arg-type]
        self.picture = Picture("gpu-a")
        self.player_knowledge = knowledge
        self.state = "starting"
        clock = HostClock(monotonic=lambda: self.at, wall=lambda: self.at)
        self.recorder = Recorder(self.keeping, "root@gpu-a", self.picture, clock, self._judge, lambda: True)

    def _judge(self) -> Verdict:
        found = assess(self.picture.state, self.at, self.player_knowledge.policy)
        return dataclasses.replace(found, state=self.state)  # type: ignore[arg-type]

    async def see(self, *seen: Item) -> None:
        for item in seen:
            self.picture.tap(item) if isinstance(item, LogPiece) else self.picture.apply([item])
        await self.recorder.look()

    async def begin(self) -> None:
        """See the host, the server, and some lines."""
        for _, item in story()[:8]:
            await self.see(item)

    @property
    def files(self) -> list[Path]:
        return sorted(self.keeping.folder.iterdir()) if self.keeping.folder.exists() else []


@pytest.fixture
def desk(tmp_path: Path, knowledge: Knowledge) -> Callable[..., Desk]:
    return lambda **more: Desk(tmp_path / "recordings", knowledge, **more)


async def test_every_start_is_recorded_until_five_minutes_after_it_is_over(desk: Callable[..., Desk]) -> None:
    one = desk()
    await one.begin()
    (file,) = one.files
    assert file.name.startswith("root@gpu-a-2026")
    assert file.name.endswith(".auto.bringup")
    assert file.stat().st_mode & 0o777 == 0o600
    one.state = "ready"
    await one.see(ActionStep(at=one.at, action="stop", step="first"))
    one.at += AFTER - 1
    await one.see(ActionStep(at=one.at, action="stop", step="within"))
    one.at += 2
    await one.see(ActionStep(at=one.at, action="stop", step="the last"))
    one.at += 1
    await one.see(ActionStep(at=one.at, action="stop", step="too late"))
    steps = [item.step for _, item in load_recording(file).items if isinstance(item, ActionStep)]
    assert steps == ["first", "within", "the last"]
    assert one.files == [file]


async def test_a_start_that_goes_on_after_all_is_recorded_on(desk: Callable[..., Desk]) -> None:
    one = desk()
    await one.begin()
    for state in ("ready", "starting"):
        one.state = state
        one.at += AFTER - 1
        await one.see(ActionStep(at=one.at, action="stop", step=state))
    one.at += AFTER
    await one.see(ActionStep(at=one.at, action="stop", step="still"))
    (file,) = one.files
    assert [item.step for _, item in load_recording(file).items if isinstance(item, ActionStep)][-1] == "still"


async def test_another_server_is_another_recording_which_begins_with_the_host(desk: Callable[..., Desk]) -> None:
    one = desk()
    await one.begin()
    one.at += 100
    again = ServerFound(at=one.at, server=Server(pid=99, start=7, engine="sglang", argv=("x",)))
    await one.see(again)
    await one.see(ActionStep(at=one.at, action="stop", step="second"))
    await one.see(ActionStep(at=one.at, action="stop", step="third"))
    first, second = one.files
    assert again in [item for _, item in load_recording(first).items] or len(load_recording(first).items) >= 8
    items = load_recording(second).items
    assert [type(item).__name__ for _, item in items][:3] == ["HostSeen", "LinkChanged", "ServerFound"]
    assert items[0][0] == 0.0
    assert items[2][1] == again


async def test_older_ones_go_only_as_this_one_needs_their_room(desk: Callable[..., Desk]) -> None:
    one = desk(most=4 << 20, total=4 << 20)
    one.keeping.folder.mkdir()
    older = [one.keeping.folder / f"{name}.auto.bringup" for name in "ab"]
    for file in older:
        file.write_bytes(bytes(1 << 20))
    await one.begin()
    assert len(one.files) == 3, "there is room for them all"
    for number in range(12):
        await one.see(LogPiece("/log", random.Random(number).randbytes(1 << 18).hex().encode(), BEGAN))
    assert [file.exists() for file in older] == [False, False]
    assert len(one.files) == 1


@pytest.mark.parametrize("state", ["ready", "waiting", "failed"])
async def test_a_server_that_was_up_or_down_when_we_came_is_not_recorded(state: str, desk: Callable[..., Desk]) -> None:
    one = desk()
    one.state, one.at = state, BEGAN + 3600
    await one.begin()
    assert one.files == []


async def test_nothing_is_recorded_by_itself_where_that_is_not_wanted(desk: Callable[..., Desk]) -> None:
    one = desk(always=False)
    await one.begin()
    assert one.files == []
    said = await one.recorder.toggle()
    (file,) = one.files
    assert str(file) in said
    assert ".auto." not in file.name
    # It holds what came before it was asked for.
    assert await one.recorder.end() != ""
    assert len(load_recording(file).items) == len(story()[:8])


async def test_what_was_asked_for_goes_on_over_the_end_and_ends_when_asked(desk: Callable[..., Desk]) -> None:
    one = desk(always=False)
    await one.begin()
    await one.recorder.toggle()
    one.state = "failed"
    for _ in range(3):
        one.at += AFTER
        await one.see(ActionStep(at=one.at, action="stop", step="later"))
    assert one.recorder.asked is not None
    said = await one.recorder.toggle()
    assert "Recorded for 15 min" in said
    assert one.recorder.asked is None
    (file,) = one.files
    assert len([1 for _, item in load_recording(file).items if isinstance(item, ActionStep)]) == 3


async def test_a_folder_that_cannot_be_written_is_told_once_and_asked_for_it_is_refused(
    tmp_path: Path, desk: Callable[..., Desk]
) -> None:
    (tmp_path / "recordings").write_text("no folder")
    one = desk()
    await one.begin()
    closed = dict(one.picture.state.closed)
    assert "cannot be made" in closed["recording"]
    with pytest.raises(BringupError, match="cannot be made"):
        await one.recorder.toggle()


async def test_a_log_that_comes_faster_than_it_can_be_written_ends_what_runs_and_nothing_else(
    desk: Callable[..., Desk],
) -> None:
    one = desk()
    await one.begin()
    (own,) = one.files
    noise = random.Random(1).randbytes(1 << 20)
    for _ in range(70):
        one.picture.tap(LogPiece("/log", noise, BEGAN))
    one.picture.tap(LogPiece("/log", b" --api-key sk-topse", BEGAN))
    await one.recorder.look()
    assert "More of the log came at once" in dict(one.picture.state.closed)["recording"]
    assert len(load_recording(own).items) == len(story()[:8])
    assert "from now on" in await one.recorder.toggle()
    await one.see(LogPiece("/log", b"cret99\nplain\n", BEGAN))
    await one.recorder.finish()
    (asked,) = [path for path in one.files if path != own]
    last = load_recording(asked).items[-1][1]
    assert isinstance(last, LogPiece)
    assert last.data.endswith(b"plain\n")
    assert b"cret99" not in last.data


async def test_whether_something_is_recorded_can_be_seen(desk: Callable[..., Desk]) -> None:
    one = desk()
    assert one.recorder.recorded == ""
    await one.begin()
    assert one.recorder.recorded == "by-itself"
    await one.recorder.toggle()
    assert one.recorder.recorded == "asked"
    await one.recorder.toggle()
    assert one.recorder.recorded == "by-itself"
    for _ in range(2):
        one.state = "ready"
        await one.see(ActionStep(at=one.at, action="stop", step="later"))
        one.at += AFTER
    await one.see(ActionStep(at=one.at, action="stop", step="the end"))
    assert one.recorder.recorded == ""
