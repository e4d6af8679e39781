"""Why a task that should run for ever has ended."""

from __future__ import annotations

from bringup.core.defects import failure_of
from bringup.core.errors import BringupError, ConnectionLost


def why_lost(error: BaseException | None) -> str:
    """Return why the connection was lost; anything else that ended a task is raised, as a sentence."""
    if error is None:
        raise BringupError("The search for servers ended by itself.", "This is a defect of bringup; please report it.")
    failure = failure_of(error)
    if isinstance(failure, ConnectionLost):
        return str(failure)
    raise failure from error
