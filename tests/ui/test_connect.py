"""From the first frame to a session: progress, questions, failures, another try, and the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.widgets import Input
from ui.scenes import SCENES
from ui.screen import MIDDLE, NARROW, text_of, until

from bringup.core.errors import ConnectionLost, Unreachable
from bringup.session.console import Console, Question
from bringup.ui.app import BringupApp
from bringup.ui.operator import Operator
from bringup.ui.screens.question import HostKeyDialog, SecretDialog

KEY = Question("host-key", "The host gpu-a shows a key that is not known.", "ssh-ed25519 SHA256:9Zt0hXyq")


def answering(question: Question, answers: list[str | None]) -> Callable[[Operator], Awaitable[Console]]:
    async def connect(operator: Operator) -> Console:
        answers.append(await operator(question))
        return SCENES["weights"]()

    return connect


async def test_the_first_frame_does_not_wait_for_the_connection() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def connect(operator: Operator) -> Console:
        operator.say("Logging in to gpu-a as root.")
        begun.set()
        await go_on.wait()
        return SCENES["weights"]()

    app = BringupApp(title="root@gpu-a", connect=connect)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, begun.is_set)
        await until(pilot, lambda: "Logging in to gpu-a as root." in text_of(app))
        await until(pilot, lambda: "root@gpu-a" in text_of(app))
        await until(pilot, lambda: "CONNECTING" in text_of(app))
        go_on.set()
        await until(pilot, lambda: "SLOW" in text_of(app))


async def test_a_failure_is_a_calm_sentence_and_r_tries_again() -> None:
    tries = []

    async def connect(operator: Operator) -> Console:
        tries.append(1)
        if len(tries) == 1:
            raise Unreachable("gpu-a did not answer within 10 s.", "Is the name right? Try `ssh gpu-a`.")
        return SCENES["ready"]()

    app = BringupApp(title="gpu-a", connect=connect)
    async with app.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: "NOT CONNECTED" in text_of(app))
        shown = text_of(app)
        assert "gpu-a did not answer within 10 s." in shown
        assert "Try `ssh gpu-a`." in shown
        assert "connect again" in shown.splitlines()[-1]
        await pilot.press("r")
        await until(pilot, lambda: "READY" in text_of(app))
        await pilot.press("r")
        assert len(tries) == 2, "there is nothing to try again once it is connected"


async def test_a_watch_that_ends_later_says_why() -> None:
    kept: list[Operator] = []

    async def connect(operator: Operator) -> Console:
        kept.append(operator)
        return SCENES["ready"]()

    app = BringupApp(title="gpu-a", connect=connect)
    async with app.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: "READY" in text_of(app))
        kept[0].fail(ConnectionLost("The host key of gpu-a has changed.", "Compare it with the host's owner."))
        await until(pilot, lambda: "The host key of gpu-a has changed." in text_of(app))
        assert "ranks" not in text_of(app)


@pytest.mark.parametrize(("keys", "answer"), [(["y"], "yes"), (["enter"], None), (["escape"], None), (["n"], None)])
async def test_a_host_key_is_refused_unless_accepted(keys: list[str], answer: str | None) -> None:
    answers: list[str | None] = []
    app = BringupApp(title="gpu-a", connect=answering(KEY, answers))
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HostKeyDialog) and app.screen.listens_from is not None)
        await until(pilot, lambda: "SHA256:9Zt0hXyq" in text_of(app))
        await pilot.press("y")
        assert answers == [], "a key typed ahead accepts nothing"
        app.screen.listens_from = 0.0  # type: ignore[attr-defined]
        await pilot.press(*keys)
        await until(pilot, lambda: answers == [answer])


@pytest.mark.parametrize(("kind", "hidden"), [("password", True), ("passphrase", True), ("code", False)])
async def test_secrets_are_typed_unseen(kind: str, hidden: bool) -> None:
    answers: list[str | None] = []
    app = BringupApp(title="gpu-a", connect=answering(Question(kind, "Password of root@gpu-a?"), answers))
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SecretDialog) and app.screen.listens_from is not None)
        await pilot.press(*"nyq1")
        assert app.screen.query_one(Input).value == "nyq1", "letters that are keys elsewhere are letters here"
        assert ("nyq1" in text_of(app)) is not hidden
        await pilot.press("enter")
        await until(pilot, lambda: answers == ["nyq1"])


async def test_a_question_that_nobody_waits_for_any_more_goes_away() -> None:
    async def connect(operator: Operator) -> Console:
        try:
            await asyncio.wait_for(operator(KEY), 0.05)
        except TimeoutError:
            raise Unreachable("The host closed the connection while it waited for an answer.") from None
        raise AssertionError("nobody answered")

    app = BringupApp(title="gpu-a", connect=connect)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: "closed the connection" in text_of(app))
        assert app.screen is app.watch_screen


async def test_the_connection_is_ended_when_the_console_is_left() -> None:
    ended = []

    async def disconnect() -> None:
        ended.append(True)

    app = BringupApp(SCENES["ready"](), title="gpu-a", disconnect=disconnect)
    async with app.run_test(size=NARROW) as pilot:
        await pilot.press("q")
    assert ended == [True]
