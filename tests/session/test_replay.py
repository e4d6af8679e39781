"""A recording under the screen: its clock is played, stopped and moved, and any moment is there at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from storydata import BEGAN, story
from waiting import eventually

from bringup.core.errors import BringupError
from bringup.hosts.recording import Recording, load_recording
from bringup.recordings.encoder import Encoder
from bringup.recordings.writer import Writer
from bringup.session.frames import Frames, Mark
from bringup.session.knowledge import Knowledge
from bringup.session.player import Player
from bringup.session.replay import Replay


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    path = tmp_path_factory.mktemp("recording") / "a.bringup"
    writer, encoder = Writer(path, {"host": "root@gpu-a"}, BEGAN), Encoder(BEGAN)
    for t, item in story():
        writer.add(encoder.rows(item, BEGAN + t))
    writer.add(encoder.close(BEGAN + story()[-1][0]))
    writer.close()
    return load_recording(path)


@pytest.fixture(scope="module")
def frames(recording: Recording, knowledge: Knowledge) -> Frames:
    return Frames(recording, knowledge)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def replay(frames: Frames, clock: Clock) -> Replay:
    found = Replay(frames, monotonic=clock)
    found.marks = [mark for mark in frames.marks() if isinstance(mark, Mark)]
    found.looked_until = frames.end
    return found


def test_both_logs_are_read_each_with_its_own_decoder(frames: Frames) -> None:
    assert b"a word of the other stream" in frames.lines
    assert frames.verdict(frames.end).state == "ready"
    assert frames.at(frames.end).state.attempt.tp == 2


def test_any_moment_is_what_playing_up_to_it_gives(recording: Recording, knowledge: Knowledge, frames: Frames) -> None:
    player = Player(recording, knowledge)
    lines = 0
    for number, (t, item) in enumerate(recording.items):
        player.take(t, item)
        lines += len(player.take_lines())
        following = recording.items[number + 1][0] if number + 1 < len(recording.items) else t + 1
        if following - t > 0.11:
            frame = frames.at(t)
            assert (frame.lines, frame.tail) == (lines, player.open_line())
            assert frame.state.attempt.main == player.state.attempt.main
            assert frame.state.sampled_at == player.state.sampled_at


def test_it_plays_at_its_speed_up_to_its_end(replay: Replay, clock: Clock) -> None:
    assert (replay.position, replay.is_playing) == (0.0, True)
    clock.at += 2
    assert replay.position == 2.0
    replay.faster(1)
    assert replay.speed == 2.0
    clock.at += 1
    assert replay.position == 4.0
    assert replay.now() == BEGAN + 4
    clock.at += 10_000
    assert (replay.position, replay.is_playing) == (replay.frames.end, False)
    replay.toggle()
    assert (replay.position, replay.is_playing) == (0.0, True)


def test_it_stands_still_while_it_is_paused(replay: Replay, clock: Clock) -> None:
    clock.at += 1
    replay.toggle()
    before = replay.rev
    clock.at += 50
    assert (replay.position, replay.is_playing, replay.rev) == (1.0, False, before)
    replay.toggle()
    clock.at += 1
    assert replay.position == 2.0


def test_the_log_begins_anew_after_a_move(replay: Replay, clock: Clock) -> None:
    clock.at += 3
    first = replay.take_lines()
    clock.at += 1
    more = replay.take_lines()
    assert first
    assert replay.take_lines() == []
    revision = replay.rev
    replay.seek(3.0)
    assert replay.rev > revision
    assert (replay.seeks, replay.take_lines()) == (1, first)
    replay.seek(replay.frames.end)
    assert replay.take_lines()[: len(first) + len(more)] == first + more


def test_every_move_is_a_new_revision_wherever_it_goes(replay: Replay) -> None:
    seen = []
    for t in (5.0, 4.9, 5.0, 0.0, 9.0, 8.0):
        replay.seek(t)
        seen.append(replay.rev)
    assert seen == sorted(set(seen))


def test_a_position_never_leaves_the_recording(replay: Replay) -> None:
    replay.seek(-5.0)
    assert replay.position == 0.0
    replay.seek(1e9)
    assert replay.position == replay.frames.end


def test_the_marks_are_the_changes_of_verdict_and_phase(replay: Replay) -> None:
    phases = [mark.says for mark in replay.marks]
    assert phases[0].startswith("starting") or phases[0] == "waiting"
    assert phases[-1] == "ready: serving"
    assert len(set(phases)) == len(phases)
    assert [mark.t for mark in replay.marks] == sorted(mark.t for mark in replay.marks)


def test_stepping_goes_from_change_to_change_and_stops(replay: Replay) -> None:
    visited = []
    while not replay.step(1):
        visited.append(replay.position)
        assert not replay.is_playing
    assert visited == [mark.t for mark in replay.marks if mark.t > 0]
    assert replay.step(1) == "Nothing changes after this."
    back = []
    while not replay.step(-1):
        back.append(replay.position)
    assert back == [mark.t for mark in reversed(replay.marks)][1:]
    assert replay.step(-1) == "Nothing changes before this."


def test_stepping_back_while_it_plays_gets_past_the_change_that_just_was(replay: Replay, clock: Clock) -> None:
    second, third = replay.marks[2].t, replay.marks[3].t
    replay.seek(third)
    clock.at += 0.5
    replay.step(-1)
    assert replay.position == second


def test_what_is_not_looked_through_yet_is_told(replay: Replay) -> None:
    replay.marks, replay.looked_until = [], 1.0
    assert "still being looked through" in replay.step(1)


async def test_the_marks_are_found_beside_everything_else(frames: Frames) -> None:
    replay = Replay(frames)
    replay.look_through()
    await eventually(lambda: replay.looked_until == frames.end, 60.0)
    assert [mark.t for mark in replay.marks] == [mark.t for mark in frames.marks() if isinstance(mark, Mark)]
    await replay.close()


async def test_nothing_can_be_done_to_what_was(replay: Replay) -> None:
    assert replay.read_only
    for refused in (replay.plan(), replay.diagnose(), replay.record()):
        with pytest.raises(BringupError, match="recording"):
            await asyncio.wait_for(refused, 1)
    assert await replay.orphans() == ()
    assert await replay.unfinished() is None


def test_the_first_format_is_played_the_same_way(tmp_path: Path, knowledge: Knowledge) -> None:
    rows = [
        {"recording": 1, "engine": "sglang", "version": "0.5.15", "hardware": "none", "what": "a test"},
        {
            "t": 0.0,
            "event": {"ev": "start", "pid": 10, "wall": BEGAN, "cmd": ["python3", "-m", "sglang.launch_server"]},
        },
        {"t": 1.0, "log": "one\n"},
        {"t": 2.0, "log": "two\n"},
    ]
    (tmp_path / "a").write_text("".join(json.dumps(row) + "\n" for row in rows))
    replay = Replay(Frames(load_recording(tmp_path / "a"), knowledge), at=1.5, monotonic=lambda: 0.0)
    assert replay.take_lines() == [b"one"]
    assert replay.now() == BEGAN + 1.5
    assert replay.state.link.status == "up"


def test_an_empty_recording_has_one_moment(tmp_path: Path, knowledge: Knowledge) -> None:
    (tmp_path / "a").write_text(json.dumps({"recording": 2, "began": BEGAN}) + "\n")
    replay = Replay(Frames(load_recording(tmp_path / "a"), knowledge), monotonic=lambda: 0.0)
    assert (replay.position, replay.is_playing, replay.verdict().state) == (0.0, False, "waiting")
    replay.seek(10)
    assert replay.step(1) != ""
