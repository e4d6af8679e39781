"""A table held against its shape, key by key: msgspec names no key of a mapping, and stops at the first mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_args, get_origin

import msgspec
from msgspec import inspect

from bringup.config.positions import Path
from bringup.config.shapes import decode

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something in the file that is not as it should be."""

    path: Path
    """The keys that lead to it."""
    what: str
    expected: str


def mistakes(table: Mapping[str, Any], shape: type[msgspec.Struct], path: Path = ()) -> Iterator[Mistake]:
    """Yield all that does not fit, in the order of the file."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    for key, value in table.items():
        here = (*path, key)
        if key not in fields:
            yield Mistake(here, f"{_place(path)} has no key {key!r}.", suggestion(key, list(fields)))
        else:
            yield from _value(value, fields[key].type, here)


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return what may have been meant: the nearest name, else all of them."""
    near = get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]}?" if near else f"Expected one of: {', '.join(known)}."


def _value(value: object, kind: Any, path: Path) -> Iterator[Mistake]:
    inner = _struct(kind)
    if inner is not None:
        if isinstance(value, Mapping):
            yield from mistakes(value, inner, path)
        else:
            yield Mistake(path, f"{_name(path)} is {_shown(value)}.", f"Expected a table, [{_dotted(path)}].")
    elif (entries := _entries(kind)) is not None:
        if isinstance(value, Mapping):
            for key, entry in value.items():
                yield from _value(entry, entries, (*path, key))
        else:
            yield Mistake(path, f"{_name(path)} is {_shown(value)}.", f"Expected a table, [{_dotted(path)}].")
    else:
        yield from _leaf(value, kind, path)


def _leaf(value: object, kind: Any, path: Path) -> Iterator[Mistake]:
    try:
        msgspec.convert(value, kind, dec_hook=decode)
    except msgspec.ValidationError:
        yield Mistake(path, f"{_name(path)} is {_shown(value)}.", f"Expected {_described(kind)}.")


def _struct(kind: Any) -> type[msgspec.Struct] | None:
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def _entries(kind: Any) -> Any:
    """Return what a mapping holds whose keys are names of the operator's own; None for anything else."""
    return get_args(kind)[1] if get_origin(kind) is dict else None


def _described(kind: Any) -> str:
    """Return in words what is expected of a value."""
    info = inspect.type_info(kind)
    parts = info.types if isinstance(info, inspect.UnionType) else (info,)
    for part in parts:
        told = (part.extra_json_schema or {}).get("description") if isinstance(part, inspect.Metadata) else None
        if told:
            return str(told)
    return "another kind of value"


def _place(path: Path) -> str:
    return f"[{_dotted(path)}]" if path else "The file"


def _name(path: Path) -> str:
    return f"{path[-1]} in [{_dotted(path[:-1])}]" if len(path) > 1 else str(path[-1])


def _dotted(path: Path) -> str:
    return ".".join(str(key) for key in path)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
