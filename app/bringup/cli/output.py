"""The answer of a command, on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPE_WIDTH = 100
"""Columns where nobody says how many there are."""
_NARROWEST, _WIDEST = 40, 120


def emit(text: str) -> None:
    """Write text and flush it. A reader that has gone (`| head`) is no error; what it cannot show becomes `?`."""
    if sys.stdout is None:
        # It was closed before we were started: nobody wants to know.
        return
    sys.stdout.flush()
    try:
        sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "utf-8", "replace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # What is still buffered would be written once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit_page(page: Callable[[int], RenderableType]) -> None:
    """Write a page, made for a width in columns: colours as NO_COLOR, FORCE_COLOR and the terminal ask for.

    A terminal has its own width, COLUMNS says another.
    """
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
    known = (sys.stdout is not None and sys.stdout.isatty()) or os.environ.get("COLUMNS", "").isdigit()
    console.width = min(max(console.width if known else PIPE_WIDTH, _NARROWEST), _WIDEST)
    with console.capture() as captured:
        console.print(page(console.width))
    emit("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
