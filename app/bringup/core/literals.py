"""What a regular expression cannot do without: the literal text a line must hold before the pattern is tried at all.

A log has a thousand lines for one that a rule knows. Lines are sorted by their first bytes, and by one search for the
literals of the patterns that may match anywhere; only then a pattern runs (sixty of them on each line are four times
slower, one alternation of all of them a hundred times).
"""

from __future__ import annotations

import re

HEAD = 6
"""Bytes of a message that choose the rules to try."""
_SPECIAL = frozenset("\\^$.|?*+()[]{}")
_QUANTIFIERS = frozenset("*?{")
_SHORTEST = 2
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")
_COUNT = re.compile(r"\{\d*,?\d*\}")
"""A brace that begins no such thing stands for itself."""
_PUNCTUATION = frozenset("\\^$.|?*+()[]{}-/ \"'#&~<>=:,!@%`;_")


def head_of(pattern: str) -> str:
    """Return the literal text that a pattern anchored with ^ begins with; "" where there is none."""
    if not pattern.startswith("^") or len(_branches(pattern)) > 1:
        return ""
    body = pattern[1:]
    text, rest = _run(body)
    return text[:-1] if rest[:1] and rest[0] in _QUANTIFIERS else text


def needles_of(pattern: str) -> tuple[str, ...]:
    """Return literals of which every match of the pattern holds at least one; () where that cannot be told."""
    needles: list[str] = []
    for branch in _branches(pattern):
        best = max(_choices(branch), key=_worth, default=())
        if _worth(best) < _SHORTEST:
            return ()
        needles.extend(best)
    return tuple(needles)


def _worth(choice: tuple[str, ...]) -> int:
    """Return how much a set of literals says: the length of its shortest."""
    return min((len(text) for text in choice), default=0)


def _choices(branch: str) -> list[tuple[str, ...]]:
    """Return sets of literals, one of each of which every match of a pattern without alternatives holds."""
    found: list[tuple[str, ...]] = []
    rest = branch
    while rest:
        text, rest = _run(rest)
        found.append((text[:-1] if rest[:1] and rest[0] in _QUANTIFIERS else text,))
        width = _width(rest)
        optional = rest[width : width + 1] != "" and rest[width] in _QUANTIFIERS
        if _GROUP.match(rest) and not optional:
            found.append(needles_of(_GROUP.sub("", rest[: width - 1], count=1)))
        rest = rest[width:]
    return found


def _run(pattern: str) -> tuple[str, str]:
    """Return the literal text at the beginning of a pattern and what follows it."""
    text = ""
    index = 0
    while index < len(pattern):
        letter = pattern[index]
        if letter == "\\" and pattern[index + 1 : index + 2] in _PUNCTUATION:
            text += pattern[index + 1]
            index += 2
        elif letter in _SPECIAL:
            break
        else:
            text += letter
            index += 1
    return text, pattern[index:]


def _width(rest: str) -> int:
    """Return how long the special element at the beginning is: a group, a class, an escape or one sign."""
    if not rest:
        return 0
    if rest[0] == "\\":
        return 2
    if rest[0] == "[":
        end = rest.find("]", 2 if rest[1:2] != "^" else 3)
        return end + 1 if end > 0 else len(rest)
    if rest[0] == "(":
        return _group_width(rest)
    if rest[0] == "{":
        counted = _COUNT.match(rest)
        return counted.end() if counted else 1
    return 1


def _group_width(rest: str) -> int:
    """Return the length of a parenthesised group."""
    depth = 0
    index = 0
    while index < len(rest):
        if rest[index] in "\\[":
            index += _width(rest[index:])
            continue
        depth += {"(": 1, ")": -1}.get(rest[index], 0)
        index += 1
        if depth == 0:
            return index
    return len(rest)


def _branches(pattern: str) -> list[str]:
    """Split a pattern at the alternatives of its top level."""
    found = [""]
    rest = pattern
    while rest:
        if rest[0] == "|":
            found.append("")
            rest = rest[1:]
            continue
        width = _width(rest) if rest[0] in "\\[(" else 1
        found[-1] += rest[:width]
        rest = rest[width:]
    return found
