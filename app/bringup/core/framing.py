"""Bytes to records, exact for every way the bytes were cut into chunks.

A record ends at LF, CR or CRLF. tqdm writes CR *first*, so one line of a file holds many records and the newest bar
always stands in the unterminated tail. Bytes are decoded much later, so no chunk can break a UTF-8 sequence.
"""

from __future__ import annotations

LIMIT = 64 * 1024
"""Longest record in bytes: SGLang's `server_args=` line is 13 kB, pickled blobs in a log have no end."""


class Framer:
    """Cuts a byte stream into records; memory is bounded by `limit` whatever the stream holds."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._rest = b""
        self.dropped = 0
        """Bytes of overlong records that were thrown away so far."""

    @property
    def tail(self) -> bytes:
        """The unterminated rest: provisional, its end may still be missing."""
        return self._rest.removesuffix(b"\r")

    def feed(self, data: bytes) -> list[bytes]:
        """Return the records that `data` completes, without their terminators; blank ones too."""
        return [piece.rstrip(b"\r\n") for piece in self.split(data)]

    def split(self, data: bytes) -> list[bytes]:
        """Return the records that `data` completes, each with its terminator: LF, CR or CRLF.

        A lone CR at the end of the data is held back, since it may be half of a CRLF.
        """
        whole = self._rest + data if self._rest else data
        pieces = whole.splitlines(keepends=True)
        self._rest = pieces.pop() if pieces and not pieces[-1].endswith(b"\n") else b""
        if len(whole) > self._limit:
            self._bound(pieces)
        return pieces

    def close(self) -> list[bytes]:
        """End the stream: return the rest as a last record, if there is one."""
        rest, self._rest = self.tail, b""
        return [rest] if rest else []

    def _bound(self, pieces: list[bytes]) -> None:
        """Cut overlong records and an overlong rest to the limit."""
        if max(map(len, pieces), default=0) > self._limit:
            self._cut(pieces)
        rest = self.tail
        if len(rest) > self._limit:
            self.dropped += len(rest) - self._limit
            self._rest = rest[: self._limit] + self._rest[len(rest) :]

    def _cut(self, pieces: list[bytes]) -> None:
        """Cut overlong records, leaving their terminators."""
        for index, piece in enumerate(pieces):
            text = piece.rstrip(b"\r\n")
            if len(text) > self._limit:
                self.dropped += len(text) - self._limit
                pieces[index] = text[: self._limit] + piece[len(text) :]
