"""The beginning of a log line as an engine prints it: time, ranks, level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.events import Labels
from bringup.core.stamps import ALIKE, read_stamp

LONGEST_NUMBER = 9
"""Digits of the number of a rank or a process; with more it is none."""
_LONGEST = 256
"""No header is longer; a line without one is not searched further."""
_MOST_KNOWN = 4096


@dataclass(frozen=True, slots=True)
class Header:
    """One grammar of a line's beginning, with the groups `stamp` and `labels`."""

    pattern: re.Pattern[bytes]
    close: bytes
    """What ends every such header: the text up to it is looked up before the pattern is tried."""
    record: bool
    """It begins a record; else it is put before every line of one (a process name before each line of a traceback)."""
    glued: bool
    """Such lines are found at the end of unterminated text too, where a bar was open."""
    label: re.Pattern[bytes]
    """One label of the group `labels`: name and number."""
    samples: tuple[str, ...]
    repeats: bool = False
    """A record of several lines has the header before each of them (vLLM's NewLineFormatter)."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What the header of one line says; `size` is where the message begins."""

    labels: Labels
    stamp: bytes
    size: int
    record: bool
    key: bytes
    """Names the process that wrote the line, b"" where the header does not."""
    repeats: bool = False


class Headers:
    """The headers of an engine; the same beginning (same second, same rank) is read once.

    A header that was read once teaches two halves: the shape of the text up to the end of its time, and `tails`, the
    text from there to its end. A line that begins with such a time and goes on with a known tail needs no pattern.
    """

    def __init__(self, headers: Iterable[Header]) -> None:
        self._headers = tuple(headers)
        self._glue = glue_pattern(self._headers)
        self._known: dict[bytes, Heading] = {}
        self.close = next((header.close for header in self._headers if header.record), b"] ")
        self.reach = 0
        """Where the stamp of the first header ended; the halves are of headers that end theirs there."""
        self._shape = b""
        self._lead = 0
        self.stamps: dict[bytes, bytes] = {}
        """Text up to the end of the time → the time, of the newest times."""
        self.tails: dict[bytes, Heading] = {}

    def read(self, record: bytes) -> Heading | None:
        """Return what the header says, or None where the line has none."""
        for header in self._headers:
            end = record.find(header.close, 0, _LONGEST)
            if end < 0:
                continue
            stop = end + len(header.close)
            if header.close[-1:] != b" " and record[stop : stop + 1] == b" ":
                stop += 1
            text = record[:stop]
            heading = self._known.get(text)
            if heading is None:
                heading = self._learn(header, text)
            if heading is not None:
                return heading
        return None

    def stamp(self, start: bytes) -> bytes:
        """Return the time at the end of a line's first `reach` bytes, b"" where they do not look like those learnt."""
        if not self.reach or start.translate(ALIKE) != self._shape:
            return b""
        if len(self.stamps) >= _MOST_KNOWN:
            self.stamps.clear()
        stamp = start[self._lead :]
        if not _is_time(stamp):
            return b""
        self.stamps[start] = stamp
        return stamp

    def _learn(self, header: Header, text: bytes) -> Heading | None:
        """Match one grammar against the text up to its end, and remember it."""
        found = header.pattern.fullmatch(text)
        if found is None:
            return None
        groups = found.groupdict()
        stamp = groups.get("stamp") or b""
        if not _is_time(stamp):
            # 09:14:92 is no time: the line has the time of the one before it, whether or not that was asked for.
            stamp = b""
        labels = read_labels(header.label, groups.get("labels") or b"")
        key = b"" if header.record else groups.get("pid") or text
        heading = Heading(labels, stamp, len(text), header.record, key, header.repeats)
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
            self.tails.clear()
        self._known[text] = heading
        if stamp and header.record and header.close == self.close and not header.repeats:
            if not self.reach:
                self._lead, self.reach = found.span("stamp")
                self._shape = text[: self.reach].translate(ALIKE)
            if self.stamp(text[: self.reach]) == stamp:
                self.tails[text[self.reach :]] = heading
        return heading

    def parts(self, text: bytes) -> list[bytes]:
        """Cut text without a header of its own before every header that was glued to it."""
        if self._glue is None:
            return [text]
        cuts = [0, *glued_at(self._glue, text), len(text)]
        return [text[begin:end] for begin, end in pairwise(cuts) if end > begin]


def _is_time(stamp: bytes) -> bool:
    return read_stamp(stamp, 0.0) is not None


def read_labels(label: re.Pattern[bytes], text: bytes) -> Labels:
    """Return the parallel coordinates in a text such as ` DP0 TP3`, sorted by name."""
    found = (pair for pair in label.findall(text) if len(pair[1]) <= LONGEST_NUMBER)
    return tuple(sorted((name.decode().lower(), int(number)) for name, number in found))


def parse_headers(tables: Iterable[Mapping[str, Any]], label: str, source: str) -> tuple[Header, ...]:
    """Make the headers of an engine's file; raises UsageError where one does not match its own sample."""
    found = []
    for table in tables:
        match = str(table.get("match", ""))
        try:
            pattern = re.compile(match.encode())
            labels = re.compile(label.encode())
        except re.error as error:
            raise UsageError(f"{source}: the header '{match}' is not valid: {error}.") from error
        header = Header(
            pattern=pattern,
            close=str(table.get("close", "] ")).encode(),
            record=bool(table.get("record", True)),
            glued=bool(table.get("glued", False)),
            label=labels,
            samples=tuple(table.get("samples", ())),
            repeats=bool(table.get("repeats", False)),
        )
        if not header.samples or not all(Headers([header]).read(s.encode()) for s in header.samples):
            raise UsageError(f"{source}: the header '{match}' has no sample, or does not match it.")
        found.append(header)
    return tuple(found)


def glue_pattern(headers: Iterable[Header]) -> re.Pattern[bytes] | None:
    """Return a pattern that finds the headers which can be glued to unterminated text, None where there are none."""
    patterns = dict.fromkeys(header.pattern.pattern for header in headers if header.glued)
    return re.compile(without_names(b"|".join(patterns))) if patterns else None


def glued_at(glue: re.Pattern[bytes], text: bytes) -> list[int]:
    """Return where headers begin in text; of several that follow each other directly only the first."""
    found: list[int] = []
    end = 0
    for match in glue.finditer(text):
        if match.start() != end:
            found.append(match.start())
        end = match.end()
    return found


def without_names(pattern: bytes) -> bytes:
    """Return a pattern whose groups have no names, so that it can stand in an alternative beside others."""
    return re.sub(rb"\(\?P<\w+>", b"(?:", pattern)
