"""The lines between BEGIN and END of a private key: nothing in them says that they are secret but where they stand."""

from __future__ import annotations

import re

_HIDDEN = b"***"
_MARK = b"PRIVATE KEY"
_BEGIN = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(rb"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}(?=[^A-Za-z0-9+/=]{0,8}$)")
"""A whole line of a key, behind whatever a wrapper puts before it."""
_REST = re.compile(rb"[A-Za-z0-9+/]+={0,2}(?=[^A-Za-z0-9+/=]{0,8}$)")
"""Its last line."""
_WRAPPED = re.compile(
    rb"(?<![^\s\"'|:-])(?!/)(?=\S*[0-9+/])(?=\S*[A-Z])(?=\S*[a-z])[A-Za-z0-9+/]{60,76}={0,2}(?=[\s\"',]*$)"
)
"""A line of a key as programs wrap it (RFC 7468: 64, ssh-keygen: 70, MIME: 76 letters), by its own looks."""
_MOST = 200
"""Lines that a key may have, with other ranks' lines among them."""


class KeyBlock:
    """Follows a log line by line, and hides what stands between BEGIN and END of a private key."""

    def __init__(self) -> None:
        self._left = 0
        self._within = False

    @property
    def is_open(self) -> bool:
        """A key has begun, and its end was not seen."""
        return self._left > 0

    def hide(self, line: bytes) -> bytes:
        """Return the next line, the key's part of it replaced."""
        if not self._left:
            begun = _BEGIN.search(line) if _MARK in line else None
            if begun is not None and not _END.search(line, begun.end()):
                self._left, self._within = _MOST, False
            return line
        if not line:
            return line
        self._left -= 1
        if _END.search(line):
            self._left = 0
            return line
        hidden = _BODY.sub(_HIDDEN, line)
        if hidden != line:
            self._within = True
        elif self._within:
            # The last line of a key is shorter; another process's line among them does no harm.
            hidden, self._within = _REST.sub(_HIDDEN, line), False
        return hidden

    def peek(self, line: bytes) -> bytes:
        """Return an unfinished line with the key's part of it replaced."""
        return _REST.sub(_HIDDEN, line) if self._left else line


def hide_keys(lines: list[bytes]) -> list[bytes]:
    """Hide private keys in an excerpt that may begin within one."""
    block = KeyBlock()
    shown = [block.hide(line) for line in lines]
    return [_WRAPPED.sub(_HIDDEN, line) if len(line) >= 60 else line for line in shown]
