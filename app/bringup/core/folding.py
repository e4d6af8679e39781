"""The raw log as lines for a screen: redraws of a bar become its newest state, glued lines get their own line."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from bringup.core.headers import glue_pattern, glued_at
from bringup.core.rules import Engine

LIMIT = 16 * 1024
"""Longest display line in bytes; SGLang's `server_args=` line of 13 kB is still whole."""


class LineFolder:
    """Turns bytes into display lines; what comes out does not depend on how the bytes were cut."""

    def __init__(self, engines: Iterable[Engine] = (), limit: int = LIMIT) -> None:
        self._glue = glue_pattern(header for engine in engines for header in engine.headers)
        self._limit = limit
        self._open = b""

    @property
    def tail(self) -> bytes:
        """The open line as it stands now: the bar that is being drawn, or the beginning of a line."""
        lines = self._fold(self._open)
        return lines[-1] if lines else b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the display lines that `data` completes."""
        whole = self._open + data if self._open else data
        lines = whole.split(b"\n")
        self._open = self._trim(lines.pop())
        if b"\r" not in whole and self._glue is None:
            return [line[: self._limit] for line in lines]
        shown: list[bytes] = []
        for line in lines:
            if line[:1] == b"[" and b"\r" not in line:
                shown.append(line[: self._limit])
            else:
                shown.extend(self._fold(line) or [b""])
        return shown

    def close(self) -> list[bytes]:
        """End the log: return the open line."""
        rest, self._open = self._fold(self._open), b""
        return rest

    def _fold(self, line: bytes) -> list[bytes]:
        """Return one line of the file as display lines: the states of a bar folded, glued lines apart."""
        shown: list[bytes] = []
        state = b""
        for text in line.split(b"\r"):
            parts = self._parts(text)
            if not parts:
                continue
            if len(parts) > 1:
                shown.extend(filter(None, (parts[0] or state, *parts[1:-1])))
            state = parts[-1]
        if state:
            shown.append(state)
        return [text[: self._limit] for text in shown]

    def _parts(self, text: bytes) -> list[bytes]:
        """Return text cut before every header that was glued to it, without what is blank."""
        text = text.rstrip()
        if not text:
            return []
        if self._glue is None or text[:1] == b"[":
            return [text]
        cuts = glued_at(self._glue, text)
        if not cuts:
            return [text]
        edges = [0, *cuts, len(text)]
        return [text[begin:end].rstrip() for begin, end in pairwise(edges)]

    def _trim(self, rest: bytes) -> bytes:
        """Bound the open line: states of a bar that were drawn over are not kept, nor what could not be shown."""
        if len(rest) <= self._limit:
            return rest
        last = rest.rstrip(b"\r").rfind(b"\r")
        if last > 0:
            rest = rest[last:]
        return rest[: 4 * self._limit]
