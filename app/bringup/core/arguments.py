"""The printed arguments of a server: `ServerArgs(a='x', b=1)`, `Namespace(…)`, `{'a': 'x'}`; read, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[(\[{]|[)\]}]|,""", re.DOTALL)
_ITEM = re.compile(
    r"""\s*(?:'(?P<single>[^']+)'|"(?P<double>[^"]+)"|(?P<plain>[A-Za-z_]\w*))\s*[:=]\s*(?P<value>.*)""", re.S
)
_OPENING = re.compile(r"[({]")
_WHOLE = re.compile(r"^\s*(?:[\w.]+\s*=\s*)?[\w.]*\s*[({]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
NOTHING = "None"


def parse_arguments(text: str) -> dict[str, str]:
    """Return names and values of a printed call or mapping, values as strings without their quotes.

    Nested values stay as they were printed. A line that lost its beginning or its end gives what can be read of it.
    """
    start = 0
    if _WHOLE.match(text):
        opening = _OPENING.search(text)
        start = opening.end() if opening else 0
    found: dict[str, str] = {}
    for item in _items(text, start):
        parts = _ITEM.fullmatch(item)
        if parts:
            found[parts["single"] or parts["double"] or parts["plain"]] = _unquote(parts["value"].strip())
    return found


def pick(arguments: Mapping[str, str], names: Sequence[str]) -> str | None:
    """Return the first of `names` that has a value; `a.b` looks for b within the printed mapping a."""
    for name in names:
        outer, _, inner = name.partition(".")
        value = arguments.get(outer)
        if value is not None and inner:
            value = pick(parse_arguments(value), [inner])
        if value is not None and value not in (NOTHING, "null", ""):
            return value
    return None


def _items(text: str, start: int) -> Iterator[str]:
    """Yield the comma-separated parts at the top level, from `start` to the bracket that closes it or the end."""
    depth = 0
    begin = start
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth < 0:
                yield text[begin : token.start()]
                return
        elif mark == "," and depth == 0:
            yield text[begin : token.start()]
            begin = token.end()
    yield text[begin:]


def _unquote(value: str) -> str:
    """Return a quoted value without quotes and escapes, any other as it is."""
    if value[:1] in ("'", '"') and len(value) > 1:
        inner = value[1:-1] if value.endswith(value[0]) else value[1:]
        return _ESCAPE.sub(r"\1", inner) if "\\" in inner else inner
    return value
