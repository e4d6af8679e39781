"""What a waiting command says meanwhile on standard error: a line rewritten on a terminal, one a change in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from bringup.cli.output import leave_unwritten
from bringup.report.progress import Change, change, line, rewritten

if TYPE_CHECKING:
    from bringup.session.headless import Look

_ERASE = "\r\x1b[K"
_COLUMNS = 80


class Progress:
    """Tells looks; `end` leaves the stream at the beginning of a line."""

    def __init__(self, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self._stream: TextIO | None = stream if stream is not None else sys.stderr
        is_terminal = self._stream is not None and self._stream.isatty()
        self._rewrites = is_terminal and environ.get("TERM", "dumb") != "dumb"
        self._last: Change | None = None
        self._shown = ""

    def tell(self, look: Look) -> None:
        """Tell a look, where there is something new in it."""
        if self._rewrites:
            text = rewritten(look.verdict, look.state, self.columns)
            if text != self._shown:
                self._write(f"{_ERASE}{text}")
                self._shown = text
            return
        now = change(look.verdict, look.state)
        if now != self._last and (look.settled or look.state.link.status == "lost"):
            self._last = now
            self._write(f"{line(look.verdict, look.state)}\n")

    def end(self) -> None:
        """Take back the line that was rewritten: the verdict follows."""
        if self._shown:
            self._write(_ERASE)
            self._shown = ""

    @property
    def columns(self) -> int:
        """How wide the terminal is; 80 where nobody knows."""
        try:
            # A terminal whose size nobody has set has 0 columns (expect, some containers, serial lines).
            known = os.get_terminal_size(self._stream.fileno()).columns if self._stream is not None else 0
            return known or _COLUMNS
        except OSError:
            return _COLUMNS

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            # Whoever read it has gone, or its disk is full; the verdict is what counts.
            leave_unwritten(self._stream)
            self._stream = None
