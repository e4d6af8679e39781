"""Versions of engines, compared as numbers: 0.5.9 comes before 0.5.20, and a pre-release before its release."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"\d{1,9}")
_PRE_RELEASE = re.compile(r"\d(?:a|b|rc|\.?dev)\d*")
_PARTS = 3


def reaches(version: str, since: str) -> bool:
    """Tell whether a version is at least another one; a pre-release comes before its release."""
    given, wanted = release(version), release(since)
    return given > wanted or (given == wanted and not _PRE_RELEASE.search(version))


def is_within(version: str, since: str, until: str) -> bool:
    """Tell whether a version lies between two, both included; "" is open."""
    return (not since or reaches(version, since)) and (not until or release(version) <= release(until))


def release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, three of them."""
    numbers = [int(number) for number in _NUMBERS.findall(version.partition("+")[0])[:_PARTS]]
    return tuple(numbers + [0] * (_PARTS - len(numbers)))
