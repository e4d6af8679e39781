"""Reads the rows of format 2: what cannot be understood is passed over and counted, what is impossible too."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Mapping
from typing import Any

from bringup.core import events
from bringup.core.events import LogMoved
from bringup.recordings.encoder import Item, LogPiece, LogTurn
from bringup.recordings.rows import to_event

LONGEST = 604_800.0
"""Seconds (a week) beyond which no row can be: each of them has to be played."""
_LATEST = 1e11
"""Epoch seconds that no clock shows: beyond the calendar that Python knows there is no time of day."""
_LARGEST = 1 << 62


def read_began(head: Mapping[str, Any]) -> float:
    """Return the moment (epoch seconds) from which a recording counts; 0 where its header does not tell."""
    began = head.get("began")
    return float(began) if _is_number(began) and 0 <= began < _LATEST else 0.0


def read_row(line: bytes) -> tuple[float, Item | None]:
    """Return a row's time and what it holds, None where a newer version knows events that this one does not.

    Raises ValueError where it is no row, or holds what cannot be.
    """
    try:
        row = json.loads(line)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(row, dict):
        raise ValueError("it is no row")
    t = row.get("t")
    if not _is_number(t) or not -LONGEST < t < LONGEST:
        raise ValueError("it has no time, or an impossible one")
    if "log" in row:
        return float(t), _piece(row)
    _check(row.get("d"), "d")
    event = to_event(row)
    if isinstance(event, LogMoved):
        return float(t), LogTurn(_text(row, "path"), event)
    return float(t), event


def _piece(row: Mapping[str, Any]) -> LogPiece:
    at = row.get("at")
    if at is not None:
        _check(at, "at")
        at = float(at)
    try:
        return LogPiece(_text(row, "path"), _text(row, "log").encode("latin-1"), at)
    except UnicodeEncodeError as error:
        raise ValueError("its log bytes are none") from error


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def _is_number(value: object) -> typing.TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _float_fields() -> frozenset[str]:
    """Return the names of the fields of events, and of what they hold, that are times, durations and rates.

    A name that means a count elsewhere, such as free bytes, is none of them: counts can be larger.
    """
    floats: set[str] = set()
    counts: set[str] = set()
    for name in events.__all__:
        kind = getattr(events, name)
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            for field in dataclasses.fields(kind):
                told = str(field.type)
                if "float" in told:
                    floats.add(field.name)
                elif "int" in told:
                    counts.add(field.name)
    return frozenset(floats - counts)


_FLOATS = _float_fields()


def _check(value: object, name: str) -> None:
    """Raise ValueError for numbers that no clock and no counter shows, wherever they are."""
    if isinstance(value, dict):
        for key, item in value.items():
            _check(item, key)
    elif isinstance(value, list):
        for item in value:
            _check(item, name)
    elif _is_number(value):
        limit = _LATEST if name in _FLOATS else _LARGEST
        if not -limit < value < limit:
            raise ValueError(f"{name} is {value:g}")
