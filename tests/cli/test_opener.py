"""What makes and ends the session under the screen: what it tells, what it keeps for the end, its exit codes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import cast

import pytest
from troubled import TroubledHost
from waiting import eventually

from bringup.cli.console import Opener
from bringup.core.errors import BringupError, Defect, HostKeyChanged, Unreachable, UsageError
from bringup.hosts.base import Completed, Host
from bringup.session.retries import HasRetries
from bringup.session.target import Target
from bringup.ui.app import BringupApp
from bringup.ui.operator import Operator


class Listener:
    """An operator who only reads."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.failures: list[BringupError] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def fail(self, error: BringupError) -> None:
        self.failures.append(error)


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[TroubledHost | BringupError]:
    """What the next attempts to connect give."""
    ahead: list[TroubledHost | BringupError] = []

    def way_to(*_: object) -> Callable[[], Awaitable[Host]]:
        async def connect() -> Host:
            found = ahead.pop(0)
            if isinstance(found, BringupError):
                raise found
            return found

        return connect

    monkeypatch.setattr("bringup.cli.connect.way_to", way_to)
    return ahead


def opener() -> Opener:
    # No process of this machine is below this one.
    return Opener("box", Target(name="box", within=2**22 + 1), None)


def left(code: int | None = None, failure: BringupError | None = None) -> BringupApp:
    """A screen that was left."""
    return cast(BringupApp, SimpleNamespace(return_code=code, failure=failure))


async def opened(given: Opener, operator: Listener) -> None:
    await given.open(cast(Operator, operator))


async def test_a_session_that_worked_is_left_with_0(hosts: list[TroubledHost | BringupError]) -> None:
    hosts.append(TroubledHost())
    given, operator = opener(), Listener()
    await opened(given, operator)
    await given.close()
    assert operator.said == ["Connecting to box."]
    assert given.end(left(0)) == 0
    assert given.end(left(143)) == 143


async def test_the_last_failure_is_told_at_the_end(hosts: list[TroubledHost | BringupError]) -> None:
    hosts += [Unreachable("box is down."), UsageError("box has a wrong line."), TroubledHost()]
    given = opener()
    for kind, code in ((Unreachable, 4), (UsageError, 2)):
        with pytest.raises(kind):
            await opened(given, Listener())
        with pytest.raises(kind) as told:
            given.end(left(0))
        assert told.value.exit_code == code
    assert given.end(left(143)) == 143, "a signal is no answer to why"
    await opened(given, Listener())
    await given.close()
    assert given.end(left(0)) == 0


def test_left_before_the_first_answer() -> None:
    with pytest.raises(Unreachable, match="left before there was a connection to box"):
        opener().end(left(0))


async def test_a_defect_while_it_connects(
    hosts: list[TroubledHost | BringupError], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> object:
        raise ValueError("sglang.toml line 3")

    monkeypatch.setattr("bringup.report.own_rules.load_rules", broken)
    given = opener()
    with pytest.raises(Defect, match=r"cli/console\.py, line \d+: ValueError: sglang\.toml line 3"):
        await opened(given, Listener())
    with pytest.raises(Defect) as told:
        given.end(left(0))
    assert told.value.exit_code == 1


async def test_a_defect_of_a_session_that_runs_is_told_and_ends_the_connection(
    hosts: list[TroubledHost | BringupError],
) -> None:
    def broken(what: str) -> Completed | None:
        if what == "search":
            raise KeyError("pid")
        return None

    host = TroubledHost(broken)
    hosts.append(host)
    given, operator = opener(), Listener()
    await opened(given, operator)
    await eventually(lambda: bool(operator.failures) and host.is_closed)
    assert [type(failure) for failure in operator.failures] == [Defect]
    await given.close()
    with pytest.raises(Defect, match="KeyError"):
        given.end(left(0))


async def test_what_the_operator_has_to_mend_is_told_at_the_end(hosts: list[TroubledHost | BringupError]) -> None:
    host, again = TroubledHost(), TroubledHost()
    hosts += [host, HostKeyChanged("box shows another host key."), again]
    given, operator = opener(), Listener()
    session = await given.open(cast(Operator, operator))
    assert isinstance(session, HasRetries)
    host.lose()
    await eventually(lambda: session.retries.refused is not None)
    with pytest.raises(HostKeyChanged):
        given.end(left(0))
    session.retries.again()
    await eventually(lambda: session.state.link.status == "up")
    assert operator.failures == []
    await given.close()
    assert given.end(left(0)) == 0


async def test_a_defect_of_the_screen_is_a_sentence_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise ZeroDivisionError

    app = BringupApp(title="box", connect=opener().open)

    async def play() -> None:
        async with app.run_test() as pilot:
            monkeypatch.setattr(app, "say", broken)
            app.call_later(app.open_session)
            for _ in range(100):
                await pilot.pause()

    with pytest.raises(ZeroDivisionError):
        await play()
    assert app.return_code == 1
    with pytest.raises(Defect, match=r"bringup itself failed in ui/app\.py"):
        opener().end(app)
