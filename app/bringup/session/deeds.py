"""One action of the operator: told step by step, and written down on the operator's machine as it begins and ends."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from bringup.core.action import CLAIMED, REFUSED
from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost
from bringup.history.actions import ActionRow, Outcome
from bringup.hosts.control import Step

Kind = Literal["stop", "restart", "launch", "clear"]
LAST_WORD = 1.0
"""Seconds that the end of a session waits for what is still to be written down."""
Write = Callable[[ActionRow], None]
"""Appends a line to the action log; may block, and raises OSError."""


class Ledger:
    """Hands the lines of the action log to a thread, in their order; nothing that goes wrong there reaches an action.

    `complain` is told once why nothing is written down.
    """

    def __init__(self, write: Write | None, complain: Callable[[str], None]) -> None:
        self._write = write
        self._complain = complain
        self._rows: list[ActionRow] = []
        self._task: asyncio.Task[None] | None = None

    def note(self, row: ActionRow) -> None:
        """Write a line soon."""
        if self._write is None:
            return
        self._rows.append(row)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain(self._write), name="action log")

    async def finish(self) -> None:
        """Wait a moment for what is still to be written; a disk that hangs does not hold up whoever leaves."""
        if self._task is not None:
            await asyncio.wait((self._task,), timeout=LAST_WORD)

    async def _drain(self, write: Write) -> None:
        while self._rows:
            row = self._rows.pop(0)
            try:
                await asyncio.to_thread(write, row)
            except Exception as error:  # noqa: BLE001 - an action goes on whatever becomes of its log
                self._rows.clear()
                reason = error.strerror if isinstance(error, OSError) else type(error).__name__
                self._complain(f"What is done is not written down: {reason}.")


class Teller(Protocol):
    """What an action needs of those who do it."""

    def begin(self) -> None:
        """Let one action at a time through; raises Busy."""
        ...

    def finish(self, cut: ActionRow | None = None) -> None:
        """Let the next action through; `cut` is one that has ended with its connection."""
        ...

    def tell(self, kind: Kind, step: Step, *, ended: bool = False, failed: bool = False) -> None:
        """Say how far an action is."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Where it is written down."""
        ...


@dataclass(frozen=True, slots=True)
class About:
    """What an action is about, for the log."""

    who: str
    action: str
    what: str = ""
    """A command line, or which server; secrets masked."""
    pids: tuple[int, ...] = ()
    way: str = ""


class Deed:
    """Lets no second action through, tells its steps, and that it failed where it raises."""

    def __init__(
        self, teller: Teller, kind: Kind, about: About, where: tuple[str, str], *, quiet: bool = False
    ) -> None:
        """`where` is the host as the operator named it, and as it names itself."""
        self._teller = teller
        self._kind = kind
        self._quiet = quiet
        """Neither keeps others out nor is told on the screen: it only is written down."""
        self._row = ActionRow(
            id=secrets.token_hex(6),
            at=time.time(),
            who=about.who,
            action=about.action,
            target=where[0],
            node=where[1],
            what=about.what,
            way=about.way,
            pids=about.pids,
        )
        self._said = ""
        self._new_pid = 0
        self._touched = False
        """Something was done to the server."""

    def step(self, step: Step) -> None:
        """Tell the next step."""
        self._touched = self._touched or step.name != CLAIMED
        self._teller.tell(self._kind, step)

    def end(self, text: str, new_pid: int = 0) -> None:
        """Tell that it is done, in a sentence; `new_pid` is the launcher that it has started."""
        self._said, self._new_pid = text, new_pid
        if not self._quiet:
            self._teller.tell(self._kind, Step(text), ended=True)

    def __enter__(self) -> Deed:
        if not self._quiet:
            self._teller.begin()
        self._teller.ledger.note(self._row)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        outcome, text = _outcome(error)
        took = round(max(0.0, time.time() - self._row.at), 3)
        said = text or self._said
        row = replace(self._row, outcome=outcome, said=said, new_pid=self._new_pid, seconds=took)
        self._teller.ledger.note(row)
        if self._quiet:
            return
        self._teller.finish(row if outcome == "cut off" else None)
        if error is not None:
            name = "" if self._touched or not _is_refusal(error) else REFUSED
            self._teller.tell(self._kind, Step(text, name=name), ended=True, failed=True)


def _is_refusal(error: BaseException) -> bool:
    """Say whether what raises before a step was told has done nothing: of what was not answered nobody knows that."""
    is_known = isinstance(error, BringupError) and not isinstance(error, ConnectionLost)
    return is_known and not (isinstance(error, ChannelRefused) and error.reason == "timeout")


def _outcome(error: BaseException | None) -> tuple[Outcome, str]:
    """Return how an action ended, and the sentence about it where it raised."""
    if error is None:
        return "done", ""
    if isinstance(error, ConnectionLost):
        return "cut off", f"The connection was lost in the middle: {error.what} What happened is said when it is back."
    if isinstance(error, BringupError):
        return "failed", str(error)
    if isinstance(error, asyncio.CancelledError):
        return "broken off", "It was broken off here; what had been begun by then was not gone on with."
    return "broken off", f"It was broken off ({type(error).__name__})."
