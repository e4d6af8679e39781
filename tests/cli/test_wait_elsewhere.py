"""A wait beside a restart by somebody else: the host is asked before it ends, and the new server is waited for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from playedsession import Played
from timeline import START, Timeline

from bringup.cli.progress import Progress
from bringup.cli.targets import Chosen
from bringup.cli.wait import Waiter
from bringup.core.events import ActionStep, LinkChanged, LogOpened, Searching
from bringup.session.headless import Headless, Look
from bringup.session.waiting import LATE, Terms

NEVER = Terms()


class Restarted(Played):
    """A server that ends in second 25; what the host says of a restart by somebody else is heard only by asking."""

    def __init__(self, says: Callable[[float], dict[str, Any] | None], new: float = 0.0) -> None:
        self.line = Timeline().found().launch(tp=2).spawn(2).begin("weights", (0, 1), role="target")
        super().__init__(self.line, self.play)
        self.says = says
        self.new = new
        self.asked: list[float] = []
        self.told: dict[str, Any] | None = None

    def play(self, number: int) -> None:
        assert number < 200, "it ends before"
        if number == 25:
            self.line.kill(None).kill(0).kill(1)
        if self.new and number == self.new:
            self.line.found(pid=200, start=9, started_at=self.line.now)
        if self.new and number == self.new + 5:
            self.line.launch(tp=2).spawn(2).reached("http-up", "ready")
        self.line.sample()

    async def unfinished(self) -> None:
        self.asked.append(self.clock)
        told, self.told = self.told, self.says(self.clock)
        if self.told is not None and self.told != told:
            values = {"action": "restart", "who": "ada@laptop", "since": START + 20, **self.told}
            self.line.add(ActionStep(at=self.line.now, **values))


class Begun(Restarted):
    """A wait that is begun between the stop and the launch: there is no server, and a log of the one before."""

    def play(self, number: int) -> None:
        assert number < 200, "it ends before"
        if number == self.new:
            self.line.found(pid=200, start=9, started_at=self.line.now)
        if self.new and number == self.new + 5:
            self.line.launch(tp=2).spawn(2).reached("http-up", "ready")
        if self.new and number > self.new + 5:
            self.line.sample()


def begun(says: Callable[[float], dict[str, Any] | None], new: float = 0.0, ends: str = "sigterm") -> Begun:
    session = Begun(says, new)
    line = session.line = session.timeline = Timeline()
    line.add(LogOpened(at=line.now, path="/var/log/kimi.log", kind="file"))
    line.launch(tp=2).begin("weights", (0, 1), role="target")
    if ends == "sigterm":
        line.ending("sigterm")
    else:
        line.fault(ends, "CUDA out of memory", rank=1)
    line.wait(30).add(LinkChanged(at=line.now, status="up"))
    line.add(Searching(at=line.now, seeks="Looking for a launcher."))
    return session


async def waited(session: Restarted, monkeypatch: pytest.MonkeyPatch, terms: Terms = NEVER) -> Look:
    @asynccontextmanager
    async def watched(*_: object, **__: object) -> AsyncIterator[Headless]:
        yield session.headless()

    monkeypatch.setattr("bringup.cli.headless.watched", watched)
    return await Waiter(cast(Chosen, None), terms, Progress()).run()


def until_60(second: float) -> dict[str, Any]:
    """A restart that is over in second 60."""
    return {"step": "It is over.", "ended": True} if second >= 60 else {"step": "It is launched again."}


async def test_the_new_server_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Restarted(until_60, new=65)
    look = await waited(session, monkeypatch)
    assert look.verdict.state == "ready"
    assert look.state.server is not None
    assert look.state.server.pid == 200
    assert 25 <= session.asked[0] < 26, "it is asked at once"
    pauses = [after - before for before, after in zip(session.asked, session.asked[1:], strict=False)]
    assert all(pause > 0.9 for pause in pauses), "and once a second"


async def test_one_that_brings_up_nothing_ends_it_as_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    look = await waited(Restarted(until_60), monkeypatch)
    assert look.verdict.state == "stopped"
    assert look.elapsed == pytest.approx(60 + LATE, abs=3)


async def test_one_that_has_failed_ends_it_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def says(second: float) -> dict[str, Any]:
        failed = {"step": "Nothing was launched: no server runs.", "ended": True, "failed": True}
        return failed if second >= 60 else {"step": "It is launched again."}

    look = await waited(Restarted(says), monkeypatch)
    assert look.verdict.state == "stopped"
    assert look.elapsed == pytest.approx(60, abs=3)


async def test_a_stop_by_somebody_else_ends_it_at_once_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    look = await waited(Restarted(lambda _: {"action": "stop", "step": "It is over.", "ended": True}), monkeypatch)
    assert look.verdict.state == "stopped"
    assert "stopped by ada@laptop" in look.verdict.summary
    assert look.elapsed == pytest.approx(25, abs=2)


async def test_where_nobody_has_done_anything_it_ends_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Restarted(lambda _: None)
    look = await waited(session, monkeypatch)
    assert look.verdict.state == "stopped"
    assert "the launcher ended without an error line" in look.verdict.summary
    assert look.elapsed == pytest.approx(25, abs=2)
    assert len(session.asked) == 1


async def test_a_timeout_ends_it_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    look = await waited(Restarted(until_60, new=65), monkeypatch, Terms(timeout=40))
    assert look.elapsed == pytest.approx(40, abs=1)


def until(second: float) -> Callable[[float], dict[str, Any] | None]:
    """A restart that is under way until then."""
    return lambda now: {"step": "It is over.", "ended": True} if now >= second else {"step": "It is asked to end."}


@pytest.mark.parametrize("ends", ["sigterm", "oom"])
async def test_one_that_was_begun_in_the_middle_of_it_waits_for_the_new_server(
    ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begun(until(40), new=45, ends=ends)
    look = await waited(session, monkeypatch)
    assert (look.verdict.state, look.state.server and look.state.server.pid) == ("ready", 200)
    assert session.asked[0] < LATE / 2, "early, for it may be over by the time that an old log counts"


async def test_so_does_one_that_was_begun_near_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    look = await waited(begun(until(6), new=15), monkeypatch)
    assert look.verdict.state == "ready"


async def test_where_a_launch_is_under_way_its_server_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def says(second: float) -> dict[str, Any]:
        return {**(until(40)(second) or {}), "action": "launch"}

    look = await waited(begun(says, new=45), monkeypatch)
    assert look.verdict.state == "ready"


async def test_without_a_server_it_ends_once_the_restart_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def says(second: float) -> dict[str, Any]:
        failed = {"step": "Nothing was launched: no server runs.", "ended": True, "failed": True}
        return failed if second >= 40 else {"step": "It is launched again."}

    look = await waited(begun(says), monkeypatch)
    assert look.verdict.state == "stopped"
    assert look.elapsed == pytest.approx(40, abs=3)


async def test_where_nobody_restarts_it_an_old_log_ends_it_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    session = begun(lambda _: None)
    look = await waited(session, monkeypatch)
    assert look.verdict.state == "stopped"
    assert look.elapsed == pytest.approx(LATE, abs=1)
    assert len(session.asked) == 2


async def test_a_timeout_ends_that_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    look = await waited(begun(until(60), new=65), monkeypatch, Terms(timeout=20))
    assert look.elapsed == pytest.approx(20, abs=1)
