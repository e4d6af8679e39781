"""What a session keeps of the starts that it watches, and what it knows of those before."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest
from timeline import START, Timeline, loading, serving

from bringup.core.assess import assess
from bringup.core.events import HostSeen, LinkChanged
from bringup.core.policy import Policy
from bringup.core.verdict import Verdict
from bringup.engines.patience import load_policy
from bringup.history.place import FILE
from bringup.history.store import Store
from bringup.session import starts as module
from bringup.session.clock import HostClock
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.starts import Starts, key_of
from bringup.session.target import Target
from bringup.session.waiting import impatient

TARGET = Target(name="box")


class LevelLogs:
    """Logs of which all was read, or not yet."""

    is_level = True


class Watched:
    """A session's history, fed with timelines."""

    def __init__(self, folder: Path, store: Store | None = None, policy: Policy | None = None) -> None:
        self.store = store or Store(folder)
        self.picture = Picture(TARGET.name)
        self.moment = START
        self.logs = LevelLogs()
        clock = HostClock(monotonic=lambda: self.moment, wall=lambda: self.moment)
        self.starts = Starts(self.store, TARGET, self.picture, clock, cast(Logs, self.logs), policy or load_policy())

    async def see(self, line: Timeline, after: float = 0.0) -> Watched:
        """Look at the state that a timeline has reached."""
        if not line.state.system:
            line.add(HostSeen(at=line.now, node="gpu-a", system="Linux"), LinkChanged(at=line.now, status="up"))
        self.picture.state, self.moment = line.state, line.now + after
        await self.starts.look()
        return self

    @property
    def said(self) -> str:
        return dict(self.picture.state.closed).get("history", "")


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def begin(pid: int = 100) -> Timeline:
    return Timeline().found(pid=pid, model="/models/target", tp=2)


def ready(line: Timeline) -> Timeline:
    """Let a start of two ranks go all the way."""
    both = range(2)
    line.wait(1).launch(tp=2).wait(19).begin("distributed", both).wait(5).end("distributed", both, seconds=5.0)
    line.wait(1).begin("weights", both).wait(30).end("weights", both, model_class="LlamaForCausalLM")
    line.begin("graphs", both, role="target", part="decode").wait(10).end("graphs", both, role="target", part="decode")
    line.reached("scheduler-up", "http-up").wait(2)
    return line.reached("warmup-answered", "ready").spawn(2)


async def test_a_start_that_was_watched_is_kept_with_its_phases(watched: Watched) -> None:
    line = begin()
    await watched.see(line)
    assert watched.store.starts() == ()
    await watched.see(ready(line))
    (start,) = watched.store.starts()
    assert (start.outcome, start.whole, start.seconds) == ("ready", True, 68.0)
    assert (start.key.host, start.target, start.key.model, start.key.tp) == ("gpu-a", "box", "/models/target", 2)
    assert [(row.key, row.began, row.seconds) for row in start.phases] == [
        ("launch", 0.0, 20.0),
        ("distributed", 20.0, 5.0),
        ("weights", 26.0, 30.0),
        ("graphs/decode", 56.0, 10.0),
        ("warmup", 66.0, 2.0),
    ]
    await watched.see(line.wait(60).sample())
    assert len(watched.store.starts()) == 1


async def test_the_next_start_knows_it_and_its_keys_match(watched: Watched, tmp_path: Path) -> None:
    await watched.see(line := begin())
    await watched.see(ready(line))
    next_one = Watched(tmp_path)
    line = begin(pid=200)
    await next_one.see(line)
    verdict = verdict_of(next_one)
    assert [key for key, _ in verdict.ghosts] == ["launch", "distributed", "weights", "graphs/decode", "warmup"]
    assert verdict.eta_s is not None
    assert verdict.eta_s[0] < 68 < verdict.eta_s[1]
    await next_one.see(line := ready(line))
    assert {view.phase for view in verdict_of(next_one).phases} - {"serving"} == {
        key.partition("/")[0] for key, _ in verdict.ghosts
    }
    assert len(next_one.store.starts()) == 2


async def test_another_patience_and_the_earlier_starts_are_known_together(watched: Watched, tmp_path: Path) -> None:
    await watched.see(line := begin())
    await watched.see(ready(line))
    next_one = Watched(tmp_path, policy=impatient(load_policy(), 40.0))
    await next_one.see(line := begin(pid=200).spawn(2))
    policy = next_one.starts.policy
    assert {known.stalled for known in policy.patience.values()} == {40.0}
    assert [start.total for start in policy.earlier] == [68.0]
    line.wait(5).launch(tp=2).begin("weights", range(2)).sample().wait(30)
    await next_one.see(line.sample())
    assert verdict_of(next_one).eta_s is not None
    await next_one.see(line.wait(30).sample())
    assert verdict_of(next_one).state == "stalled"


async def test_a_start_is_not_its_own_past(watched: Watched, tmp_path: Path) -> None:
    await watched.see(line := begin())
    await watched.see(ready(line))
    again = Watched(tmp_path)
    await again.see(line)
    assert verdict_of(again).ghosts == ()
    assert len(again.store.starts()) == 1


async def test_another_command_knows_nothing_of_it(watched: Watched, tmp_path: Path) -> None:
    await watched.see(line := begin())
    await watched.see(ready(line))
    other = Watched(tmp_path)
    await other.see(Timeline().found(pid=300, model="/models/target", tp=4))
    assert verdict_of(other).ghosts == ()


async def test_a_failure_is_kept_with_its_cause(watched: Watched) -> None:
    await watched.see(line := begin())
    line.wait(1).launch(tp=2).wait(19).begin("weights", range(2)).wait(9).fault("oom", rank=1)
    await watched.see(line)
    (start,) = watched.store.starts()
    assert (start.outcome, start.cause, start.phases[-1].ended) == ("failed", "oom", False)
    assert watched.store.earlier(start.key) == ()


async def test_what_served_was_a_good_start_however_it_ended(watched: Watched) -> None:
    await watched.see(line := begin())
    ready(line).wait(100).ending("sigterm")
    await watched.see(line)
    assert [(start.outcome, start.seconds) for start in watched.store.starts()] == [("ready", 68.0)]


async def test_what_was_seen_from_the_middle_is_not_whole(watched: Watched) -> None:
    line = begin().wait(300).launch(tp=2).begin("weights", range(2))
    await watched.see(line)
    await watched.see(line.wait(30).end("weights", range(2)).reached("scheduler-up", "http-up", "ready"))
    (start,) = watched.store.starts()
    assert not start.whole


async def test_what_came_all_at_once_after_a_lost_connection_is_not_whole(watched: Watched) -> None:
    await watched.see(line := begin())
    await watched.see(line.wait(5).add(LinkChanged(at=line.now, status="lost", why="gone")))
    line.wait(100).add(LinkChanged(at=line.now, status="up"))
    await watched.see(ready(line))
    assert [start.whole for start in watched.store.starts()] == [False]


async def test_a_log_with_its_own_times_tells_all_of_a_start_that_is_long_over(watched: Watched) -> None:
    await watched.see(ready(begin()), after=5000)
    assert [start.whole for start in watched.store.starts()] == [True]


async def test_nothing_is_kept_while_the_log_is_still_being_read(watched: Watched) -> None:
    watched.logs.is_level = False
    await watched.see(line := begin())
    await watched.see(ready(line))
    assert watched.store.starts() == ()
    watched.logs.is_level = True
    await watched.see(line)
    assert len(watched.store.starts()) == 1


async def test_a_broken_history_is_told_once_and_nothing_else_changes(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    watched = Watched(tmp_path / "file" / "below")
    line = begin()
    await watched.see(ready(line))
    assert "cannot be used" in watched.said
    assert verdict_of(watched).state == "ready"
    rev = watched.picture.rev
    watched.picture.apply([])
    await watched.starts.look()
    assert watched.picture.rev == rev


async def test_a_damaged_history_is_set_aside_and_said(watched: Watched, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database" * 1000)
    await watched.see(begin())
    assert "set aside" in watched.said
    assert list(tmp_path.glob("*.damaged-*"))


async def test_a_defect_of_the_history_ends_nothing(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(watched.store, "earlier", broken)
    await watched.see(begin())
    assert "ZeroDivisionError" in watched.said


async def test_a_disk_that_hangs_holds_nobody_back(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(module, "LAST_WORD", 0.01)
    monkeypatch.setattr(watched.starts, "look", hang)
    await watched.starts.finish()


async def test_without_a_history_nothing_is_asked(tmp_path: Path) -> None:
    clock = HostClock(monotonic=lambda: START, wall=lambda: START)
    policy = load_policy()
    none = Starts(None, TARGET, Picture("box"), clock, cast(Logs, LevelLogs()), policy)
    await none.run()
    await none.finish()
    assert none.policy is policy


def test_only_a_known_command_has_a_key() -> None:
    assert key_of(Timeline().state, TARGET) is None
    assert key_of(loading(2).state, TARGET) is not None
    draft = key_of(serving(2, draft_model="/models/draft", algorithm="EAGLE3").state, TARGET)
    assert draft is not None
    assert draft.draft == "/models/draft"


def verdict_of(watched: Watched) -> Verdict:
    return assess(watched.picture.state, watched.moment, watched.starts.policy)
