"""A command line as text to edit, and back; and what an edit changed. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from bringup.core.errors import UsageError
from bringup.core.redact import STAND_IN

Group = tuple[str, ...]
"""A flag with its values, or the words before the first flag."""
_PLAIN = re.compile(r"[\w@%+=:,./*-]+", re.ASCII)
"""Words that an operator needs no quotes for; a shell would, for the asterisks that hide a secret."""
_FLAG = re.compile(r"--?[A-Za-z]")
_MODULE = "-m"


@dataclass(frozen=True, slots=True)
class Change:
    """One flag that was taken away ("-"), put in ("+"), or stayed (" ")."""

    sign: Literal["-", "+", " "]
    group: Group


def to_text(argv: Sequence[str]) -> str:
    """Return a command line as text: the program on the first line, then each flag with its values on a line."""
    return "\n".join(quoted(group) for group in groups(argv))


def to_argv(text: str) -> tuple[str, ...]:
    """Return the words of edited text, read as a shell reads them; raises UsageError where a quote is left open."""
    try:
        argv = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError("A quote is opened and never closed.", "Close it, or put a backslash before it.") from error
    if not argv or not argv[0]:
        raise UsageError("The command is empty.", "Its first word is the program.")
    return argv


def difference(before: Sequence[str], after: Sequence[str]) -> tuple[Change, ...]:
    """Return both command lines as one list of flags, with what was taken away before what was put in."""
    old, new = groups(before), groups(after)
    changes: list[Change] = []
    for kind, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            changes += [Change(" ", group) for group in old[first:last]]
        else:
            changes += [Change("-", group) for group in old[first:last]]
            changes += [Change("+", group) for group in new[begin:end]]
    return tuple(changes)


def groups(argv: Sequence[str]) -> tuple[Group, ...]:
    """Return a command line flag by flag."""
    found: list[list[str]] = []
    for word in argv:
        if not found or (_FLAG.match(word) and not (word == _MODULE and len(found) == 1)):
            found.append([word])
        else:
            found[-1].append(word)
    return tuple(tuple(group) for group in found)


def quoted(group: Sequence[str]) -> str:
    """Return words on one line, quoted where that is needed; what hides a secret stays as it is."""
    return " ".join(word if _PLAIN.fullmatch(word) or word == STAND_IN else shlex.quote(word) for word in group)
