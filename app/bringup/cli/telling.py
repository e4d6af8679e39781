"""What a command that acts says: the question, each step on standard error, the end on standard output."""

from __future__ import annotations

import asyncio
import shutil
import sys
import textwrap
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bringup.cli.asking import interruptible
from bringup.core.errors import ConnectionLost

if TYPE_CHECKING:
    from bringup.session.session import Session


NOT_DONE = "Nothing was done."


@dataclass(frozen=True, slots=True)
class Doing:
    """What is done, and to which server, as the operator names them."""

    deed: Literal["stop", "restart", "launch"]
    name: str
    """The host."""
    port: int | None = None


async def follow(order: Coroutine[None, None, None], session: Session, doing: Doing, *, among: bool = False) -> None:
    """Do it, and tell every step at once, however short it is; raises BringupError.

    With `among` other hosts the name of this one stands before all that is said.
    """
    from bringup.cli.output import emit
    from bringup.report.harmless import harmless

    where = f"{doing.name}: " if among else ""
    last = ""

    def hear(step: str) -> None:
        nonlocal last
        last = step
        say(harmless(f"{where}{step}"))

    session.hear(hear)
    try:
        await order
    except asyncio.CancelledError:
        say(_flowing(harmless(f"bringup: {where}{broken_off(last, doing)}")))
        raise
    except ConnectionLost as lost:
        raise cut_off(lost, last, doing) from lost
    finally:
        # The operator's own action log: a full disk or a folder of somebody else's.
        unwritten = dict(session.state.closed).get("actions")
        if unwritten is not None:
            say(harmless(f"{where}{unwritten}"))
    action = session.state.action
    emit(f"{harmless(where + (action.step if action is not None else 'Done.'))}\n")


def broken_off(last: str, doing: Doing) -> str:
    """Return that an action was left from here: after which step, and what can be done."""
    return f"The {doing.deed} was broken off. {_after(last)} Nothing more is done from here. {_then(doing)}"


def cut_off(lost: ConnectionLost, last: str, doing: Doing) -> ConnectionLost:
    """Return the loss of a connection in the middle of an action: after which step, and what can be done."""
    return ConnectionLost(f"{lost.what.rstrip('.')}, in the middle of the {doing.deed}. {_after(last)}", _then(doing))


def _after(last: str) -> str:
    return f"The last step was: {last}" if last else "Nothing had begun."


def _then(doing: Doing) -> str:
    from bringup.report.commands import command_line

    hint = f"`{command_line('status', doing.name, port=doing.port)}` tells what became of it"
    if doing.deed == "restart":
        hint += f", `{command_line('restart', doing.name, port=doing.port)}` goes on with it"
    return f"{hint}."


def confirmed(question: str, without: str = NOT_DONE) -> bool:
    """Ask; only a whole yes is one, and Ctrl+C ends the command at once and says what that means.

    The event loop stands still meanwhile, on purpose: nothing else is to be done.
    """
    from bringup.report.harmless import harmless

    asked = f"{harmless(question)} (yes/no) "
    try:
        with interruptible():
            while True:
                sys.stderr.write(asked)
                sys.stderr.flush()
                answer = sys.stdin.readline().strip().lower()
                if answer in ("yes", "no", "n", ""):
                    return answer == "yes"
                asked = "The whole word: yes or no? "
    except KeyboardInterrupt:
        say(f"\n{without}")
        raise


def say(text: str) -> None:
    """Say something on standard error."""
    from bringup.cli.output import tell

    tell(f"{text}\n")


def _flowing(text: str) -> str:
    """Break a long text between words where a terminal would break it anywhere, below the ^C that it shows."""
    if sys.stderr is None or not sys.stderr.isatty():
        return text
    columns, indent = shutil.get_terminal_size().columns, " " * 9
    told = textwrap.fill(text, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{told}"
