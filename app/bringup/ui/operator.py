"""The operator as a connection sees them: can be asked, can be told how far it is, can be told what went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from textual.app import App

from bringup.core.errors import BringupError
from bringup.session.console import Console, Question
from bringup.ui.screens.question import dialog_for


class Operator:
    """Asks through dialogs, one at a time."""

    def __init__(self, app: App[None], say: Callable[[str], None], fail: Callable[[BringupError], None]) -> None:
        self._app = app
        self._say = say
        self._fail = fail
        self._turn = asyncio.Lock()

    async def __call__(self, question: Question) -> str | None:
        """Put a question to the operator; None means that they declined."""
        async with self._turn:
            answered: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
            dialog = dialog_for(question)
            self._app.push_screen(dialog, lambda answer: None if answered.done() else answered.set_result(answer))
            try:
                return await answered
            finally:
                # The connection gave up while the question stood: there is nobody left to answer.
                if dialog.is_current:
                    dialog.dismiss(None)

    def say(self, text: str) -> None:
        """Tell what is being done, in a sentence."""
        self._say(text)

    def fail(self, error: BringupError) -> None:
        """Tell that the watch has ended by an error, and what can be done."""
        self._fail(error)


Connect = Callable[[Operator], Awaitable[Console]]
"""Make the connection and return the session; raises BringupError."""
