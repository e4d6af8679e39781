"""Finds the rule for a line: by the first bytes of the message, then by literals of patterns that match anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bringup.core.literals import HEAD
from bringup.core.rule import Rule

Found = tuple[Rule, re.Match[bytes]]
Attempt = tuple[Callable[..., "re.Match[bytes] | None"], Rule]
"""What to call with a record and a position, and the rule it is of."""


Bucket = tuple[int, dict[bytes, tuple[Attempt, ...]], tuple[Attempt, ...]]
"""How many bytes the rules of one beginning share, what to try by the byte after them, and what for any other byte."""

NOTHING: Bucket = (0, {}, ())
"""For a beginning that no rule has."""


class Matcher:
    """The rules of one file, ready to be asked. Those with a literal beginning are tried before the others."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        heads: dict[bytes, list[Rule]] = {}
        loose: list[Rule] = []
        exceptions: list[Rule] = []
        for rule in rules:
            if rule.head:
                heads.setdefault(rule.head.encode()[:HEAD], []).append(rule)
            else:
                (exceptions if rule.scope == "exception" else loose).append(rule)
        self.buckets = {head: _bucket(found) for head, found in heads.items()}
        """By the first bytes of a message without rank labels."""
        self.labelled = {
            head: _bucket(ranks) for head, found in heads.items() if (ranks := [r for r in found if r.scope != "main"])
        }
        """The same for a message with them: the main process never has any."""
        self._loose = tuple((rule.pattern.search, rule) for rule in loose)
        self._exceptions = tuple((rule.pattern.search, rule) for rule in exceptions)
        needles = [re.escape(needle) for rule in loose for needle in rule.needles]
        self._needle = re.compile("|".join(needles).encode()) if needles else None

    def find(self, record: bytes, start: int = 0, *, labelled: bool = False) -> Found | None:
        """Return the first rule that knows the message beginning at `start`, with its match."""
        return self.find_headed(record, start, labelled) or self.find_loose(record, start, labelled)

    def find_headed(self, record: bytes, start: int, labelled: bool) -> Found | None:
        """Return the first rule with a literal beginning that knows the message."""
        shared, by_byte, anywhere = (self.labelled if labelled else self.buckets).get(
            record[start : start + HEAD], NOTHING
        )
        at = start + shared
        for call, rule in by_byte.get(record[at : at + 1], anywhere):
            found = call(record, start)
            if found is not None:
                return rule, found
        return None

    def find_loose(self, record: bytes, start: int, labelled: bool) -> Found | None:
        """Return the first rule without a literal beginning that knows the message."""
        if self._needle is None or self._needle.search(record, start) is None:
            return None
        text = record[start:]
        for call, rule in self._loose:
            found = None if labelled and rule.scope == "main" else call(text)
            if found is not None:
                return rule, found
        return None

    def find_exception(self, text: bytes) -> Found | None:
        """Return the rule that knows the last line of a traceback."""
        for call, rule in self._exceptions:
            found = call(text)
            if found is not None:
                return rule, found
        return self.find(text)


def _bucket(rules: list[Rule]) -> Bucket:
    """Part rules with the same beginning once more, by the byte after all that they share; their order is kept."""
    heads = [rule.head.encode() for rule in rules]
    shared = _shared_length(heads)
    attempts: list[tuple[bytes, Attempt]] = [
        (head[shared : shared + 1], (rule.pattern.match, rule)) for head, rule in zip(heads, rules, strict=True)
    ]
    by_byte = {byte: tuple(attempt for own, attempt in attempts if own in (byte, b"")) for byte, _ in attempts if byte}
    return shared, by_byte, tuple(attempt for byte, attempt in attempts if not byte)


def _shared_length(texts: list[bytes]) -> int:
    """Return how many bytes all texts have in common at their beginning."""
    first, last = min(texts), max(texts)
    for index, byte in enumerate(first):
        if byte != last[index]:
            return index
    return len(first)
