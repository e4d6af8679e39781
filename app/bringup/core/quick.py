"""The way of the many: almost every line begins with a header whose halves were read before, and means nothing.

Such a line costs a few look-ups here; what is not so, and what means something, goes the long way through `reading`.
"""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.headers import Heading
from bringup.core.literals import HEAD
from bringup.core.matching import NOTHING
from bringup.core.reading import Reader
from bringup.core.tracebacks import Voice

_NEWLINE = 10
_LONGEST_HEADER = 96
_LONGEST_NAME = 64
_BAR = b"%|"
"""In every bar of tqdm's own format; other ranks' lines can be glued to its end."""


@dataclass(slots=True)
class _Newest:
    """What the lines since the long way was last taken leave behind; they all are of one writer."""

    voice: Voice
    heading: Heading | None = None
    stamp: bytes = b""
    outer: bytes = b""
    """The transport's time of the newest line with a header."""
    later: bytes = b""
    """The transport's time of a line without one that came after it."""


class QuickReader(Reader):
    """Reads many records at once."""

    def run(self, pieces: list[bytes], index: int) -> int:
        """Read the records from `index` on, all of them, in one piece because speed is made here."""
        dialect, leads = self.dialects[0], self._leads
        headers, main, ranks = dialect.headers, dialect.matcher.buckets, dialect.matcher.labelled
        stamps, tails, close, width = headers.stamps, headers.tails, headers.close, len(headers.close)
        limit, first, newline = _LONGEST_HEADER, HEAD, _NEWLINE
        line, reach, aside, heard = self.line, headers.reach, bool(self.origin), None
        newest = _Newest(self.voice)
        for piece in pieces[index:] if index else pieces:
            text, outer = piece.rstrip(), b""
            if leads:
                text, outer = self._led(text, line, newest, may=not aside)
            stamp = stamps.get(text[:reach]) or headers.stamp(text[:reach])
            end = text.find(close, reach, limit) + width
            heading = tails.get(text[reach:end])
            if heading is None or not stamp or aside:
                self._go_to(line, newest)
                if aside or not self._passes(text, newest, outer):
                    self.origin = self.origin if aside else ""
                    self.record(piece.rstrip(b"\r\n"))
                    reach, aside = headers.reach, True
            else:
                newest.heading, newest.stamp, newest.outer, newest.later, found = heading, stamp, outer, b"", None
                shared, by_byte, anywhere = (ranks if heading.labels else main).get(text[end : end + first], NOTHING)
                for call, rule in by_byte.get(text[end + shared : end + shared + 1], anywhere):
                    if (match := call(text, end)) is not None:
                        found = rule, match
                        break
                if heading is not heard:
                    self.heard.add(heading.labels)
                    heard = heading
                if found is None or (rule.speaks and rule.name not in self.spent):
                    self._go_to(line, newest)
                    self.message(text, end, found, newest.voice, dialect)
            aside = aside or bool(self.origin)
            if piece[-1] == newline:
                line, aside, self.origin = line + 1, False, ""
        self._go_to(line, newest)
        return len(pieces)

    def _led(self, record: bytes, line: int, newest: _Newest, *, may: bool) -> tuple[bytes, bytes]:
        """Take a known beginning off a record, and make its writer the newest; returns text and transport's time."""
        led = self._leads.find(record) if may and record and not self._peeler.waits and self._other is None else None
        voice = self.voice
        if led is not None:
            voice = self._voices.of(led[2], b"", named=led[3])
            if voice.labels:
                led, voice = None, self.voice
        if voice is not newest.voice:
            self._go_to(line, newest)
            newest.voice = voice
        if led is None:
            return record, b""
        text, outer, self.origin, self._one_process = led
        return text, outer

    def _go_to(self, line: int, newest: _Newest) -> None:
        """Take note of what lines before `line` left behind, before one that needs it is read."""
        self.line = line
        if newest.outer:
            self.time.wrap(newest.outer, newest.stamp)
        elif newest.stamp:
            self.time.show(newest.stamp)
        if newest.later:
            self.time.wrap(newest.later, b"")
        if newest.heading is not None:
            voice = newest.voice
            self.heard.add(newest.heading.labels)
            voice.heading = newest.heading
            voice.trace = voice.announced = None
        newest.heading, newest.stamp, newest.outer, newest.later = None, b"", b"", b""

    def _passes(self, text: bytes, newest: _Newest, outer: bytes) -> bool:
        """Tell of a line without a record's header whether a rule knows that it means nothing: the short way of many.

        Such are the lines of the HTTP server, bare or after the name of a process that has spoken before.
        """
        voice, start = newest.voice, 0
        if text[:1] == b"(":
            start = text.find(b") ", 0, _LONGEST_NAME) + 2
            known = self._voices.by_name.get(text[:start]) if voice is self.voice else None
            if known is None:
                return False
            voice = known
        if voice.trace is not None or _BAR in text or (self.origin and voice is self.voice):
            return False
        found = self.dialects[0].matcher.find_headed(text, start, start > 0 and voice.labels != ())
        if found is None or found[0].speaks:
            return False
        if start:
            self.heard.add(voice.labels)
        newest.later = outer
        self._leave(voice)
        return True
