"""A server that was launched in the place of another one: what was done to that one explains nothing of it."""

from __future__ import annotations

from bringup.core.assess import assess
from bringup.core.events import ActionStep, Fault, Launch, Server, ServerFound, ServerGone
from bringup.core.fold import fold
from bringup.core.state import State
from bringup.engines.patience import load_policy

OLD = Server(pid=100, start=1000, engine="sglang", argv=("python",), tp=2, port=30000, started_at=500.0)
# By the clock of a host without fractions of a second it may seem to be older than what launched it.
NEW = Server(pid=200, start=2000, engine="sglang", argv=("python",), tp=2, port=30000, started_at=999.5)


def restarted() -> State:
    return fold(
        State(),
        [
            ServerFound(at=990.0, server=OLD),
            Launch(at=991.0, engine="sglang", tp=2, port=30000),
            ActionStep(at=1000.0, action="restart", step="Asked.", name="stopping"),
            ServerGone(at=1001.0, pid=100),
            ActionStep(at=1002.0, action="restart", step="Launching.", name="launching"),
        ],
    )


def test_it_is_launched_until_the_action_is_over() -> None:
    state = restarted()
    assert state.action is not None
    assert state.action.launches
    assert assess(state, 1002.0, load_policy()).state == "stopped"
    over = fold(state, [ActionStep(at=1005.0, action="restart", step="Done.", ended=True)])
    assert over.action is not None
    assert not over.action.launches


def test_a_restart_of_the_old_one_has_not_stopped_the_new_one() -> None:
    state = fold(
        restarted(),
        [
            ActionStep(at=1005.0, action="restart", step="Done.", ended=True),
            ServerFound(at=1005.0, server=NEW),
        ],
    )
    assert assess(state, 1005.0, load_policy()).state == "starting"
    verdict = assess(fold(state, [ServerGone(at=1006.0, pid=200)]), 1006.0, load_policy())
    assert verdict.cause is not None
    assert verdict.cause.line == "the launcher ended without an error line"


def test_the_server_that_comes_of_a_command_is_of_the_same_launch() -> None:
    first = Server(pid=300, start=3000, engine="", argv=(), started_at=1003.0)
    state = fold(restarted(), [ServerFound(at=1005.0, server=first)])
    found = fold(state, [ServerFound(at=1006.0, server=NEW, instead=True)])
    assert found.attempt.number == state.attempt.number == 2
    assert (found.attempt.engine, found.attempt.port, found.attempt.began_at) == ("sglang", 30000, 1003.0)
    assert len(found.earlier) == 1
    assert len(fold(state, [ServerFound(at=1006.0, server=NEW)]).earlier) == 2


def test_nothing_comes_any_more_of_a_command_that_has_ended() -> None:
    first = Server(pid=300, start=3000, engine="sglang", argv=(), started_at=1003.0)
    failed = [
        ServerFound(at=1005.0, server=first),
        Launch(at=1005.0, engine="sglang", tp=2, port=30000),
        Fault(at=1005.5, kind="oom", text="CUDA out of memory"),
        ServerGone(at=1006.0, pid=300),
    ]
    state = fold(restarted(), failed)
    assert assess(state, 1006.0, load_policy()).state == "failed"
    later = Server(pid=400, start=9000, engine="sglang", argv=("python",), tp=2, port=30000, started_at=1063.0)
    found = fold(state, [ServerFound(at=1070.0, server=later, instead=True)])
    assert assess(found, 1070.0, load_policy()).state == "starting"
