"""Events as rows of JSON, and back: every event that is not made of log bytes, which are kept as they came.

A row is `{"t": seconds since the recording began, "e": name of the event, "d": its fields}`; log bytes are
`{"t": …, "log": text of code points 0 to 255, "path": …, "at": when they arrived, null where they were there before}`.
A LogMoved has the path of its log too.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from bringup.core import events
from bringup.core.events import Event, LinesRead, LogEvent
from bringup.core.redact import mask, mask_argv

Record = TypeVar("Record")
_ARGV = "argv"
KINDS: Mapping[str, type[Event]] = {
    name: kind
    for name in events.__all__
    if isinstance(kind := getattr(events, name), type)
    and issubclass(kind, Event)
    and not issubclass(kind, LogEvent | LinesRead)
    and kind is not Event
}
"""The events that a recording holds, by name; those of the log are read from its bytes again."""


def is_kept(event: Event) -> bool:
    """Say whether an event has a row of its own."""
    return type(event).__name__ in KINDS


def to_row(t: float, event: Event, path: str | None = None) -> bytes:
    """Return an event as a row without a line end, secrets masked; `path` names the log that it is about."""
    row = {"t": round(t, 3), "e": type(event).__name__, "d": msgspec.to_builtins(masked(event))}
    return _encoded(row if path is None else {**row, "path": path})


def log_row(t: float, path: str, data: bytes, at: float | None) -> bytes:
    """Return log bytes as a row without a line end; they must have been masked."""
    return _encoded({"t": round(t, 3), "log": data.decode("latin-1"), "path": path, "at": at})


def _encoded(row: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(row)
    except UnicodeEncodeError:
        # An argument or a path whose bytes are no UTF-8 is kept by lone surrogates, which only this encoder writes.
        return json.dumps(row).encode()


def to_event(row: Mapping[str, Any]) -> Event | None:
    """Return the event of a row, None where a newer version knows events that this one does not.

    Raises ValueError where its fields are not those of the event.
    """
    kind = KINDS.get(str(row.get("e")))
    return None if kind is None else msgspec.convert(row.get("d"), kind)


def masked(record: Record) -> Record:
    """Return a record with the secrets in all of its texts masked; the same object where there are none."""
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        return record
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        clean = mask_argv(value) if field.name == _ARGV and isinstance(value, tuple) else _clean(value)
        if clean is not value:
            changed[field.name] = clean
    return dataclasses.replace(record, **changed) if changed else record


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, tuple):
        clean = tuple(_clean(item) for item in value)
        return value if all(a is b for a, b in zip(clean, value, strict=True)) else clean
    if isinstance(value, dict):
        return {name: _clean(item) for name, item in value.items()}
    return masked(value)
