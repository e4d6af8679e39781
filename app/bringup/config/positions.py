"""On which line of a TOML text each key stands: `tomllib` gives the values only.

The text has been read by `tomllib` before, so that it is known to be TOML; here it is only walked through.
"""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]
"""The keys that lead to a value from the top; a number is a place in an array."""
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.DOTALL
)
_BARE = re.compile(r"[^,\]}#\n]*")


def lines_of(text: str) -> dict[Path, int]:
    """Return the line (from 1) of every key and table of a valid TOML text; the top is on line 1."""
    return _Walk(text).lines


class _Walk:
    """A walk through the text, once from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {(): 1}
        self._text = text
        self._at = 0
        self._tables: dict[Path, int] = {}
        """Arrays of tables, with how many there are so far."""
        self._document()

    def _document(self) -> None:
        table: Path = ()
        while self._blank() < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _blank(self) -> int:
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise ValueError(f"this is no TOML at character {self._at}")
        self._at = found.end()
        return found[0]

    def _note(self, path: Path, start: int) -> None:
        self.lines.setdefault(path, self._text.count("\n", 0, start) + 1)

    def _header(self) -> Path:
        start = self._at
        many = self._text.startswith("[[", start)
        self._at += 2 if many else 1
        path: Path = ()
        keys = self._keys()
        for index, key in enumerate(keys):
            path = (*path, key)
            self._note(path, start)
            if many and index == len(keys) - 1:
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                path = (*path, self._tables[path])
                self._note(path, start)
        self._at += 2 if many else 1
        return path

    def _keys(self) -> list[str]:
        """Read a dotted key."""
        keys = []
        while True:
            self._take(_SPACE)
            word = self._take(_KEY)
            keys.append(str(tomllib.loads(f"key = {word}")["key"]) if word[0] in "\"'" else word)
            self._take(_SPACE)
            if not self._text.startswith(".", self._at):
                return keys
            self._at += 1

    def _pair(self, table: Path) -> None:
        start = self._at
        path = table
        for key in self._keys():
            path = (*path, key)
            self._note(path, start)
        self._at += 1
        self._value(path)

    def _value(self, path: Path) -> None:
        self._blank()
        match self._text[self._at]:
            case "[":
                self._array(path)
            case "{":
                self._inline(path)
            case '"' | "'":
                self._take(_STRING)
            case _:
                self._take(_BARE)

    def _array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._text[self._blank()] != "]":
            self._note((*path, index), self._at)
            self._value((*path, index))
            index += 1
            self._comma()
        self._at += 1

    def _inline(self, path: Path) -> None:
        self._at += 1
        while self._text[self._blank()] != "}":
            self._pair(path)
            self._comma()
        self._at += 1

    def _comma(self) -> None:
        if self._text[self._blank()] == ",":
            self._at += 1
