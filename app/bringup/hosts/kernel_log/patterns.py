"""The lines of a kernel log that matter, as data with samples."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, get_args

from bringup.core.errors import UsageError

DATA = "kernel_log.toml"
Kind = Literal["oom", "gpu-fault", "fault"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of line: how the host finds it, and how it is read here."""

    kind: Kind
    find: str
    match: re.Pattern[str]
    alone: bool = False
    """It matters without one of the server's processes in it, too."""


def load_patterns() -> tuple[Pattern, ...]:
    """Return the patterns that ship with bringup."""
    return parse_patterns(tomllib.loads(resources.files(__package__).joinpath(DATA).read_text("utf-8")), DATA)


def parse_patterns(table: Mapping[str, Any], source: str) -> tuple[Pattern, ...]:
    """Return the patterns of a file; raises UsageError where one is wrong or does not read its samples."""
    return tuple(_pattern(row, source) for row in table.get("patterns", ()))


def pid_of(found: re.Match[str]) -> int | None:
    """Return the process that a line names, or None."""
    return int(found["pid"]) if "pid" in found.re.groupindex and found["pid"] else None


def _pattern(row: Mapping[str, Any], source: str) -> Pattern:
    kind: Any = row.get("kind")
    if kind not in get_args(Kind):
        raise UsageError(f"{source}: a kind is one of {', '.join(get_args(Kind))}, not '{kind}'.")
    try:
        find = re.compile(row["find"])
        pattern = Pattern(kind, row["find"], re.compile(row["match"]), bool(row.get("alone", False)))
    except (KeyError, re.error) as error:
        raise UsageError(f"{source}: a pattern of {kind} is not complete: {error}.") from error
    if not row.get("samples"):
        raise UsageError(f"{source}: a pattern of {kind} has no sample.")
    for text, pid in row["samples"]:
        found = pattern.match.search(text)
        if found is None or not find.search(text) or (pid_of(found) or 0) != pid:
            raise UsageError(f"{source}: this sample of {kind} is not read as it should be: {text}.")
    for text in row.get("others", ()):
        if pattern.match.search(text):
            raise UsageError(f"{source}: {kind} must not match: {text}.")
    return pattern
