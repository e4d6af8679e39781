"""Other ways to find the rule for a line, to be measured beside ours on the same records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bringup.core.literals import needles_of
from bringup.core.rule import Rule

Method = Callable[[list[bytes]], int]
"""Reads records without terminators; returns how many a rule knew."""


def naive(rules: Iterable[Rule]) -> Method:
    """Search every pattern in every line."""
    searches = [re.compile(rule.match.removeprefix("^").encode()).search for rule in rules]
    return lambda records: sum(any(search(record) for search in searches) for record in records)


def keyword_first(rules: Iterable[Rule]) -> Method:
    """Look for a rule's own literal before its pattern is searched."""
    pairs = [(_longest(rule), re.compile(rule.match.removeprefix("^").encode()).search) for rule in rules]
    return lambda records: sum(any(word in record and search(record) for word, search in pairs) for record in records)


def literal_alternation(rules: Iterable[Rule]) -> Method:
    """Search one alternation of all literals, and the patterns only where it hits."""
    pairs = [(_longest(rule), re.compile(rule.match.removeprefix("^").encode()).search) for rule in rules]
    known = re.compile(b"|".join(sorted({re.escape(word) for word, _ in pairs if word}, key=len, reverse=True)))

    def read(records: list[bytes]) -> int:
        hits = 0
        for record in records:
            found = known.search(record)
            hits += found is not None and any(word == found[0] and search(record) for word, search in pairs)
        return hits

    return read


def _longest(rule: Rule) -> bytes:
    return max(needles_of(rule.match) or ("",), key=len).encode()
