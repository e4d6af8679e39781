"""What a command that acts says: the question, each step on standard error, the end on standard output."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bringup.session.session import Session


async def follow(order: Coroutine[None, None, None], session: Session, name: str = "") -> None:
    """Do it, and tell every step at once, however short it is; raises BringupError.

    `name` tells several hosts apart.
    """
    from bringup.cli.output import emit
    from bringup.report.harmless import harmless

    where = f"{name}: " if name else ""
    session.hear(lambda step: say(harmless(f"{where}{step}")))
    await order
    action = session.state.action
    emit(f"{harmless(where + (action.step if action is not None else 'Done.'))}\n")


def confirmed(question: str) -> bool:
    """Ask; only a whole yes is one."""
    from bringup.report.harmless import harmless

    sys.stderr.write(f"{harmless(question)} (yes/no) ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() == "yes"


def is_terminal() -> bool:
    """Say whether there is somebody to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def say(text: str) -> None:
    """Say something on standard error."""
    from bringup.cli.output import tell

    tell(f"{text}\n")
