"""A runtime's log as one stream, whatever happens to the connection: begun again by time, without a double or a loss.

docker, kubectl and journalctl begin at a moment that may be up to a second too early, so each line that was handed out
is remembered for a while with its stamp, and the same line is passed over once when it comes again.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b

REMEMBERED = 20_000
"""Lines that are known again; more than a server prints between the moment asked for and the newest line."""
OVERLAP = 2
"""Whole seconds before the newest line from which the log is asked for again: two streams are merged in it."""
LONGEST_STAMP = 40
_COMPLAINT = 4096
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)? ?")


class Splice:
    """Takes the bytes of the command, each time it runs; returns what is new, without the runtime's own stamps.

    `keep_stamps` leaves them where they stand: journalctl's are followed by the unit, which the wrappers know.
    """

    def __init__(self, *, keep_stamps: bool = False) -> None:
        self._keep = keep_stamps
        self._known: deque[tuple[int, bytes]] = deque()
        self._floor = -1
        """Stamp of the newest line that was forgotten: what is not newer was handed out."""
        self._doubles: Counter[bytes] = Counter()
        self._newest = -1
        self._rest = b""
        self._told = 0
        """Bytes of the line in `_rest` that were handed out before its end came."""
        self._cut = b""
        """What was handed out of a line that broke off with the last run."""
        self._resumed = -1
        """Newest stamp of the last run: what is not newer may be known."""
        self._stamped = False
        self.complaint = b""
        """What the command printed before any line with a stamp, bounded: its own words, not the server's."""

    @property
    def since(self) -> tuple[str, int]:
        """From when the log must be asked for to go on, as RFC 3339 and in epoch seconds; ("", 0): its beginning."""
        if self._newest < 0:
            return "", 0
        seconds = max(0, self._newest // 1_000_000_000 - OVERLAP)
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), seconds

    @property
    def newest(self) -> float | None:
        """Stamp of the newest line in epoch seconds; None before the first one."""
        return self._newest / 1e9 if self._newest >= 0 else None

    def begin(self) -> None:
        """The command is run anew: what follows may begin with lines that are known."""
        self._cut = self._rest[: self._told] or self._cut
        self._resumed = max(self._newest, self._read(self._cut)[0] if self._cut else -1)
        self._rest, self._told, self._stamped, self.complaint = b"", 0, False, b""
        start = self.since[1] * 1_000_000_000
        self._doubles = Counter(line for at, line in self._known if at >= start)

    def feed(self, data: bytes) -> bytes:
        """Return what is new in the next bytes; a line without its end is handed out as far as it is certainly new."""
        return b"".join(self.pieces(data))

    def pieces(self, data: bytes, apart: float = 0.0) -> Iterator[bytes]:
        """Yield the same in two where lines from before a moment (epoch seconds) are followed by younger ones."""
        self._rest += data
        out: list[bytes] = []
        moment = int(apart * 1e9)
        while (end := self._rest.find(b"\n")) >= 0:
            line, self._rest = self._rest[: end + 1], self._rest[end + 1 :]
            if 0 <= self._newest < moment <= self._read(line)[0]:
                yield b"".join(out)
                out = []
            out.append(self._whole(line))
            self._told = 0
        out.append(self._part())
        yield b"".join(out)

    def _whole(self, line: bytes) -> bytes:
        if not self._stamped and _STAMP.match(line) is None:
            self.complaint = (self.complaint + line)[-_COMPLAINT:]
            return b""
        self._stamped = True
        at, body = self._read(line)
        key = blake2b(line, digest_size=12).digest()
        if self._told:
            # Its beginning was handed out already, so it is new.
            self._remember(at, key)
            return line[self._told :]
        if self._doubles[key] > 0:
            self._doubles[key] -= 1
            return b""
        if at <= self._floor:
            return b""
        self._remember(at, key)
        if self._cut and line.startswith(self._cut):
            rest, self._cut = line[len(self._cut) :], b""
            return rest
        return line if self._keep else body

    def _part(self) -> bytes:
        """The open line, where it can be none that is known."""
        if len(self._rest) <= max(self._told, LONGEST_STAMP) or _STAMP.match(self._rest) is None:
            return b""
        at, body = self._read(self._rest)
        if at <= self._resumed and not self._told:
            return b""
        first = 0 if self._keep or self._told else len(self._rest) - len(body)
        part, self._told = self._rest[max(first, self._told) :], len(self._rest)
        self._stamped = True
        return part

    def _read(self, line: bytes) -> tuple[int, bytes]:
        """The line's stamp in nanoseconds since the epoch, and the line without it."""
        found = _STAMP.match(line)
        if found is None:
            return self._newest, line
        zone = (found[3] or b"Z").decode().replace("Z", "+00:00")
        try:
            moment = datetime.fromisoformat(f"{found[1].decode()}{zone}")
        except ValueError:
            return self._newest, line
        fraction = int((found[2] or b"0").ljust(9, b"0"))
        return int(moment.timestamp()) * 1_000_000_000 + fraction, line[found.end() :]

    def _remember(self, at: int, key: bytes) -> None:
        self._newest = max(self._newest, at)
        self._known.append((at, key))
        while len(self._known) > REMEMBERED:
            self._floor = max(self._floor, self._known.popleft()[0])
