"""A command whose connection is lost in the middle of an action says how far it was, and what can be done."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import cast

import pytest

from bringup.cli.telling import Doing, follow
from bringup.core.errors import ConnectionLost
from bringup.core.state import State
from bringup.report.commands import THIS_MACHINE
from bringup.session.session import Session


class Cut:
    """A session that tells some steps, and then has no connection any more."""

    def __init__(self, *steps: str) -> None:
        self._steps = steps
        self._heard: Callable[[str], None] = print
        self.state = State()

    def hear(self, heard: Callable[[str], None]) -> None:
        self._heard = heard

    async def act(self) -> None:
        for step in self._steps:
            self._heard(step)
        raise ConnectionLost("The connection to box was lost: the network is gone.")


async def lost(cut: Cut, doing: Doing) -> ConnectionLost:
    with pytest.raises(ConnectionLost) as error:
        await follow(cut.act(), cast(Session, cut), doing)
    return error.value


async def test_the_last_step_and_what_goes_on_with_it() -> None:
    steps = ("Keeping the command.", "SIGTERM was sent; 3 processes still run.")
    error = await lost(Cut(*steps), Doing("restart", "box", 30000))
    assert error.what == (
        "The connection to box was lost: the network is gone, in the middle of the restart."
        " The last step was: SIGTERM was sent; 3 processes still run."
    )
    assert error.hint == (
        "`bringup status box --port 30000` tells what became of it, `bringup restart box --port 30000` goes on with it."
    )
    assert error.exit_code == 4


async def test_before_the_first_step() -> None:
    error = await lost(Cut(), Doing("stop", THIS_MACHINE))
    assert error.what.endswith("in the middle of the stop. Nothing had begun.")
    assert error.hint == "`bringup status` tells what became of it."


async def test_an_action_that_is_not_written_down_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    cut = Cut("SIGTERM was sent.")
    cut.state = State(closed=(("actions", "What is done is not written down: No space left on device."),))
    await lost(cut, Doing("stop", THIS_MACHINE))
    assert "What is done is not written down: No space left on device." in capsys.readouterr().err


class Left(Cut):
    """One that is left by Ctrl-C after its steps."""

    async def act(self) -> None:
        with contextlib.suppress(ConnectionLost):
            await super().act()
        raise asyncio.CancelledError


async def test_what_is_broken_off_says_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    left = Left("SIGTERM was sent; 3 processes still run.")
    with pytest.raises(asyncio.CancelledError):
        await follow(left.act(), cast(Session, left), Doing("restart", "box", 30000))
    assert capsys.readouterr().err.splitlines()[-1] == (
        "bringup: The restart was broken off. The last step was: SIGTERM was sent; 3 processes still run. Nothing more"
        " is done from here. `bringup status box --port 30000` tells what became of it, `bringup restart box --port"
        " 30000` goes on with it."
    )
