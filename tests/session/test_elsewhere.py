"""What others do to the watched server is told once, as theirs, with its changes and its end."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from timeline import Timeline

from bringup.core.assess import assess
from bringup.core.events import ActionStep, Server, ServerGone
from bringup.core.reduce import reduce
from bringup.core.state import State
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Claim, LastEnd, Unfinished
from bringup.session.elsewhere import told_afterwards, told_elsewhere

STOP = Unfinished(
    Claim("/tmp/a", "theirs"), "stop", "stopping", "the sglang server (PID 100)", (100, 1), who="root@vm", busy=True,
    age=2, began=9,
)  # fmt: skip


def watching() -> State:
    return Timeline().found().state


def news(found: list[Unfinished], state: State, now: float) -> ActionStep | None:
    told = told_elsewhere(found, state, now, token="ours")
    assert len(told) < 2
    return told[0] if told else None


def test_it_is_told_with_who_and_since_when_and_once() -> None:
    told = news([STOP], watching(), 500.0)
    assert told is not None
    assert (told.who, told.since, told.step) == ("root@vm", 491.0, "It is asked to end.")
    after = reduce(watching(), told)
    assert news([replace(STOP, age=5, began=12)], after, 503.0) is None
    cut = news([replace(STOP, busy=False, alive=((100, 1),))], after, 540.0)
    assert cut is not None
    assert (cut.ended, cut.failed) == (True, True)
    over = news([], after, 540.0)
    assert over is not None
    assert (over.ended, over.failed) == (True, False)
    assert news([], reduce(after, over), 541.0) is None


def test_of_another_server_nothing_is_told() -> None:
    assert news([replace(STOP, server=(101, 1))], watching(), 500.0) is None
    assert news([replace(STOP, action="launch")], watching(), 500.0) is None
    assert news([STOP], State(), 500.0) is None
    assert news([replace(STOP, claim=Claim("/tmp/a", "ours"))], watching(), 500.0) is None


RESTART = replace(STOP, action="restart", step="waiting", port=30000)


def searching() -> State:
    """No server runs, and the log of the one before is known."""
    return Timeline().launch(port=30000).ending("sigterm").state


def sought(found: list[Unfinished], state: State, now: float, **narrowed: int) -> ActionStep | None:
    only = (narrowed.get("port"), narrowed.get("pid"))
    told = told_elsewhere(found, state, now, token="ours", narrowed=only)
    assert len(told) < 2
    return told[0] if told else None


def test_while_there_is_no_server_what_may_bring_it_up_is_told() -> None:
    told = sought([STOP, RESTART], searching(), 500.0)
    assert told is not None
    assert (told.action, told.who, told.since, told.ended) == ("restart", "root@vm", 491.0, False)
    after = reduce(searching(), told)
    assert sought([replace(RESTART, age=5, began=12)], after, 503.0) is None
    failed = sought([replace(RESTART, busy=False, began=40)], after, 531.0)
    assert failed is not None
    assert (failed.ended, failed.failed) == (True, True)
    over = sought([], after, 531.0)
    assert over is not None
    assert (over.ended, over.failed) == (True, False)
    assert sought([], reduce(after, over), 540.0) is None
    launch = sought([replace(RESTART, action="launch", server=(0, 5))], searching(), 500.0)
    assert launch is not None
    assert launch.action == "launch"


def test_another_server_is_not_the_one_that_is_looked_for() -> None:
    other = replace(RESTART, port=8000)
    assert sought([other], searching(), 500.0) is None, "its log told of another port"
    assert sought([other], State(), 500.0) is not None
    assert sought([other], State(), 500.0, port=30000) is None
    assert sought([RESTART], searching(), 500.0, pid=7) is None
    assert sought([replace(RESTART, claim=Claim("/tmp/a", "ours"))], searching(), 500.0) is None


def test_what_was_cut_off_before_brings_up_nothing() -> None:
    cut = replace(RESTART, busy=False, age=4000, began=4100)
    assert sought([cut], searching(), 5000.0) is None
    told = sought([RESTART], searching(), 5000.0)
    assert told is not None
    over = sought([cut], reduce(searching(), told), 5040.0)
    assert over is not None
    assert (over.ended, over.failed) == (True, False), "that is another one"


async def afterwards(monkeypatch: pytest.MonkeyPatch, state: State, now: float) -> tuple[ActionStep, ...]:
    async def last_end(_: Host, server: Server) -> LastEnd | None:
        return LastEnd("stop", "root@vm", 4) if (server.pid, server.start) == (100, 1) else None

    monkeypatch.setattr(control, "last_end", last_end)
    return await told_afterwards(cast(Host, object()), state, now)


def ended() -> Timeline:
    line = Timeline().found().wait(100)
    return line.add(ServerGone(at=line.now, pid=100)).wait(2)


async def test_who_has_ended_it_is_told_although_all_of_that_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ended()
    (told,) = await afterwards(monkeypatch, line.state, line.now)
    assert (told.who, told.ended, told.failed, told.since) == ("root@vm", True, False, line.now - 4)
    after = reduce(line.state, told)
    verdict = assess(after, line.now, line.policy)
    assert verdict.state == "stopped"
    assert "stopped by root@vm" in verdict.summary
    assert await afterwards(monkeypatch, after, line.now) == ()


async def test_it_is_asked_of_the_server_that_is_gone_and_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await afterwards(monkeypatch, State(), 500.0) == ()
    assert await afterwards(monkeypatch, watching(), 500.0) == ()
    line = ended()
    assert await afterwards(monkeypatch, line.state, line.now + 600) == ()
    ours = reduce(line.state, ActionStep(at=line.now - 3, action="stop", step="It is asked to end."))
    assert await afterwards(monkeypatch, ours, line.now) == ()


async def test_what_somebody_gave_up_long_before_does_not_keep_it_from_being_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = Timeline().found().wait(100)
    line.add(
        ActionStep(at=line.now, action="restart", step="It is over.", ended=True, who="ann@laptop", since=line.now)
    )
    line.wait(3600)
    line.add(ServerGone(at=line.now, pid=100)).wait(2)
    (told,) = await afterwards(monkeypatch, line.state, line.now)
    assert told.who == "root@vm"
