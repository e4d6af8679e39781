"""A log on its way into a file: secrets are masked before they are written, however the bytes were cut."""

from __future__ import annotations

import re

from bringup.core.redact import LineMasker, has_sign_in_lines, mask, plain_until

LONGEST = 64 * 1024
"""Bytes of an unfinished line that are held back; one that is longer is written as far as it goes."""

_END = re.compile(rb"[\r\n]")
_ENDS = re.compile(rb"([\r\n]+)")


class Masking:
    """Masks a stream of bytes line by line, and holds back no more of an unfinished line than it must.

    A bar that is being drawn is an unfinished line and has to be kept with its time. So the end of the stream is
    written at once, up to where a secret could begin: from there on it waits for the end of its line.
    """

    def __init__(self) -> None:
        self._masker = LineMasker()
        self._line = b""
        self._written = 0
        """How much of the unfinished line was written already."""
        self._skips = False

    def feed(self, data: bytes) -> bytes:
        """Return what may be written now."""
        if self._skips:
            head = _END.search(data)
            if head is None:
                return b""
            data, self._skips = data[head.end() :], False
        whole = self._line + data
        end = max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1
        out = b""
        if end:
            out = self._rest_of(whole[:end])
            whole = whole[end:]
        self._line = whole
        if len(whole) > LONGEST:
            return out + self.close()
        # What stands in a private key is not known before its line has ended.
        plain = 0 if self._masker.is_within_key else plain_until(whole)
        if plain > self._written:
            out += whole[self._written : plain]
            self._written = plain
        return out

    def skip(self) -> None:
        """Forget the unfinished line: bytes are missing, and its rest could be the rest of a secret."""
        self._line, self._written, self._skips = b"", 0, True

    def close(self) -> bytes:
        """Return what was held back, at the end of the stream."""
        out = self._rest_of(self._line)
        self._line = b""
        return out

    def _rest_of(self, lines: bytes) -> bytes:
        """Return what is left to write of lines of which a beginning without any secret was written."""
        written, self._written = self._written, 0
        if not self._masker.is_within_key and not has_sign_in_lines(lines):
            return lines[written:]
        pieces = _ENDS.split(lines)
        pieces[::2] = self._masker.lines(pieces[::2])
        whole = b"".join(pieces)
        # Were a pattern to reach back into what was written, the rest is masked by itself.
        return whole[written:] if whole.startswith(lines[:written]) else mask(lines[written:])
