"""An exception that nobody expected, as a sentence that an operator can report."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.errors import BringupError, Defect
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text

HINT = "This is a defect of bringup; the host and its server are not to blame. Please report this sentence."
_LONGEST = 200
_PACKAGE = "/bringup/"


def failure_of(error: BaseException) -> BringupError:
    """Return what an operator is told of an exception: itself where it is a sentence already, else a Defect.

    Of a group of exceptions the first counts: the others came while the first one ended their tasks.
    """
    first = next(leaves(error))
    if isinstance(first, BringupError):
        return first
    said = mask(clean_text(str(first)))[:_LONGEST].strip().rstrip(".")
    told = f"{type(first).__name__}: {said}" if said else type(first).__name__
    defect = Defect(f"bringup itself failed{_place(first)}: {told}.", HINT)
    defect.__cause__ = first
    return defect


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions of a group, and of the groups in it, in the order in which they were raised."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves(part)
    else:
        yield error


def _place(error: BaseException) -> str:
    """Say where in our own code it was raised, or passed on from a library."""
    place, trace = "", error.__traceback__
    while trace is not None:
        _, package, file = trace.tb_frame.f_code.co_filename.rpartition(_PACKAGE)
        if package:
            place = f" in {file}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
