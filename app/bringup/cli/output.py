"""The answer of a command, on standard output, and what is said beside it, on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import UnsupportedOperation
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from bringup.core.errors import OutputRefused

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPE_WIDTH = 100
"""Columns where nobody says how many there are."""
_NARROWEST, _WIDEST = 40, 120


@contextmanager
def answering() -> Iterator[None]:
    """Write to standard output within; a reader that has gone (`| head`) is no error.

    Raises OutputRefused where it cannot be written, such as to a full disk.
    """
    try:
        yield
    except OSError as error:
        leave_unwritten(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return
        what = f"The answer cannot be written to standard output: {error.strerror or error}."
        raise OutputRefused(what, "This exit code says nothing of a server.") from error


def emit(text: str) -> None:
    """Write text and flush it; what standard output cannot show becomes `?`. Raises OutputRefused."""
    if sys.stdout is None:
        # It was closed before we were started: nobody wants to know.
        return
    with answering():
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "utf-8", "replace"))
        sys.stdout.buffer.flush()


@contextmanager
def aside() -> Iterator[None]:
    """Write to standard error within; where that cannot be, nobody hears it, and the command goes on."""
    try:
        yield
    except OSError:
        leave_unwritten(sys.stderr)


def tell(text: str) -> None:
    """Write text to standard error at once, or nowhere."""
    if sys.stderr is not None:
        with aside():
            sys.stderr.write(text)
            sys.stderr.flush()


def leave_unwritten(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere: it would be tried once more when the interpreter ends."""
    with suppress(UnsupportedOperation), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def emit_page(page: Callable[[int], RenderableType]) -> None:
    """Write a page, made for a width in columns: colours as NO_COLOR, FORCE_COLOR and the terminal ask for.

    A terminal has its own width, COLUMNS says another. Raises OutputRefused.
    """
    # Where the output is not buffered, the end of a capture writes nothing to it, which a full disk refuses, too.
    with answering():
        text = _drawn(page, sys.stdout)
    emit(text)


def tell_page(page: Callable[[int], RenderableType]) -> None:
    """Write a page as `emit_page` does, to standard error, or nowhere."""
    text = ""
    with aside():
        text = _drawn(page, sys.stderr)
    tell(text)


def _drawn(page: Callable[[int], RenderableType], stream: TextIO | None) -> str:
    """Return a page as it is written to a stream, without the blanks that fill its lines."""
    from rich.console import Console

    console = Console(stderr=stream is sys.stderr, highlight=False, markup=False, emoji=False, soft_wrap=False)
    known = (stream is not None and stream.isatty()) or os.environ.get("COLUMNS", "").isdigit()
    console.width = min(max(console.width if known else PIPE_WIDTH, _NARROWEST), _WIDEST)
    with console.capture() as captured:
        console.print(page(console.width))
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
