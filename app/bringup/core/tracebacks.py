"""Tracebacks, which come as many lines without a header: whose they are, and which of their lines is the error."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bringup.core.events import Labels
from bringup.core.headers import Heading
from bringup.core.rule import Rule

TITLE = b"Traceback (most recent call last):"
UNKNOWN = "unknown"
"""Kind of an error that no rule knows."""
_CHAIN = (b"During handling of the above exception", b"The above exception was the direct cause")
_FRAME = b'  File "'
_DETAIL = (b"  Value error, ", b"  Assertion failed, ")
"""Below the last line of a pydantic error: what is wrong."""
_ERROR = re.compile(rb"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::(?: .*)?)?$")
"""`OSError: text`, `zmq.error.ZMQError: text`, `AssertionError`: the last line of a traceback."""
_MODULE = re.compile(rb'^  File "[^"<]+", line \d+, in <module>')
_ANNOUNCED_WITHIN = 8
"""Lines between the line that announces a traceback and the traceback: a message can have several lines."""
_MOST_EXTRAS = 64
_LONGEST_NAME = 96
_MOST_VOICES = 1024

Line = Literal["frame", "error", "inside", "outside"]


class Trace:
    """One open traceback, with those it is chained to."""

    __slots__ = ("_chained", "_extras", "_frames", "_told", "kind", "known", "labels", "modules", "quiet")

    def __init__(self, labels: Labels, *, kind: str = UNKNOWN, quiet: bool = False) -> None:
        self.labels = labels
        self.kind = kind
        self.quiet = quiet
        """The error ends a request or a message, not the server."""
        self.known = False
        """An earlier error of the chain is a known one: what follows is a consequence."""
        self.modules = 0
        """Modules that were being imported, outermost first, in the newest traceback of the chain."""
        self._frames = 0
        self._extras = 0
        self._told = False
        """Its error was read; what comes now is chained to it, or another one."""
        self._chained = False

    def take(self, text: bytes) -> Line:
        """Say what the next line without a header is to this traceback."""
        if text.startswith(_FRAME):
            self._frames += 1
            self.modules += _MODULE.match(text) is not None
            return "frame"
        if text[:1] in (b" ", b"\t"):
            return "error" if text.startswith(_DETAIL) else "inside"
        if text.startswith(TITLE):
            # One that says of itself that it follows is a consequence; the next process's own comes without a word.
            self.known = self.known and (self._chained or not self._told)
            self._told = self._chained = False
            self._frames = self.modules = self._extras = 0
            return "inside"
        if text.startswith(_CHAIN):
            self._chained = True
            return "inside"
        if self._frames and _ERROR.match(text):
            self._frames, self._told = 0, True
            return "error"
        self._extras += 1
        return "outside"

    @property
    def ended(self) -> bool:
        """It has not been continued for so long that what comes is something else."""
        return self._extras > _MOST_EXTRAS


def is_error(text: bytes) -> bool:
    """Say whether a line reads as the last one of a traceback."""
    return b"Error" in text[:_LONGEST_NAME] and _ERROR.match(text) is not None


@dataclass(slots=True)
class Voice:
    """One writer of the log, as far as its lines can be told apart: an origin, or a process named before each line."""

    heading: Heading | None = None
    """Header of its last line, None when that line had none."""
    trace: Trace | None = None
    announced: Rule | None = None
    announced_line: int = 0
    labels: Labels = ()
    """Which rank it is, where its name or a line of its own told."""
    named: bool = False
    """It is known to be one process."""

    @property
    def whose(self) -> Labels:
        """Whose the last line is: by its header, else by the process that wrote it."""
        return (self.heading.labels if self.heading else ()) or self.labels

    def announce(self, rule: Rule, line: int) -> None:
        """Take note of a line that says that a traceback follows."""
        self.announced, self.announced_line = rule, line

    def open(self, line: int, labels: Labels | None = None) -> Trace:
        """Begin a traceback in this line; `labels` are those of a header in the same line.

        A bare one belongs to the header directly above it; further down it is nobody's.
        """
        if labels is None:
            labels = self.whose
        rule = self.announced if line - self.announced_line <= _ANNOUNCED_WITHIN else None
        if rule is None:
            self.trace = Trace(labels)
        else:
            self.trace = Trace(labels, kind=rule.kind, quiet=rule.traceback == "quiet")
        return self.trace


class Voices:
    """The writers of one log, by the place and the process name that stand before their lines."""

    def __init__(self) -> None:
        self.nobody = Voice()
        """The writer of lines that nothing was put before."""
        self.by_name: dict[bytes, Voice] = {}
        """The beginning of a line with one process's name → that process."""
        self._known: dict[tuple[str, bytes], Voice] = {}

    def of(self, origin: str, key: bytes, *, named: bool) -> Voice:
        """Return the writer of a line; `named` says that the origin is one process."""
        if not key and not origin:
            return self.nobody
        voice = self._known.get((origin, key))
        if voice is None:
            if len(self._known) >= _MOST_VOICES:
                self._known.clear()
                self.by_name.clear()
            voice = self._known[origin, key] = Voice(named=key != b"" or named)
        return voice

    def name(self, beginning: bytes, voice: Voice) -> None:
        """Remember whose lines begin so."""
        if len(self.by_name) >= _MOST_VOICES:
            self.by_name.clear()
        self.by_name[beginning] = voice

    def forget(self) -> None:
        """Begin a new file: no traceback goes on in it."""
        self.nobody.trace = self.nobody.announced = self.nobody.heading = None
        self._known.clear()
        self.by_name.clear()
