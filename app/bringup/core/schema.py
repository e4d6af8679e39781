"""The events' dataclass fields as a schema: what a rule may set, and how the text of a named group becomes a value."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from bringup.core.events import (
    Bar,
    Compiling,
    Decoded,
    Ending,
    Fact,
    Fault,
    Launch,
    LogEvent,
    PhaseBegan,
    PhaseEnded,
    Reached,
    Warned,
)

EMITTED: tuple[type[LogEvent], ...] = (
    Bar, Compiling, Decoded, Ending, Fact, Fault, Launch, PhaseBegan, PhaseEnded, Reached, Warned,
)  # fmt: skip
"""Events that a rule may emit."""
PLACE = frozenset({"at", "line", "stamp", "labels", "origin", "pid"})
"""Fields that say where and when: the decoder fills them, never a rule."""
WHOLE_LINE: Mapping[type[LogEvent], str] = {Fault: "text", Warned: "detail", Ending: "text"}
"""Fields that hold the line itself where no group gives them."""
WORDS: Mapping[tuple[type[LogEvent], str], frozenset[str]] = {
    (Fault, "kind"): frozenset({
        "oom", "kv-too-small", "nccl", "peer-lost", "port-in-use", "bad-path", "bad-checkpoint", "config", "import",
        "gpu-memory-taken", "gpu-fault", "driver", "download", "auth", "disk-full", "kernel", "watchdog", "warmup",
        "killed", "timeout", "wrapper", "draft-mismatch", "comm-init", "unknown",
    }),
    (Warned, "kind"): frozenset({
        "draft-mismatch", "unmatched-weights", "missing-shards", "graphs-disabled", "memory-tight", "gpu-memory-taken",
        "port-conflict", "slow-storage", "clock-skew", "watchdog", "channel-missing", "log-gap",
    }),
    (Ending, "how"): frozenset({"sigterm", "sigint", "child-failed", "draining", "tree-killed", "shutdown"}),
    (Reached, "milestone"): frozenset({
        "scheduler-up", "http-up", "warmup-sent", "warmup-answered", "ready", "node-up",
    }),
}  # fmt: skip
"""Vocabularies of fields that are plain strings to Python."""

Convert = Callable[[str], Any]
_DIGITS = 18
"""Of a whole number in 64 bits."""
_LARGEST = 1e18
_TRUE = frozenset({"true", "yes", "1"})


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event: how text becomes its value, and what it accepts."""

    name: str
    convert: Convert
    """Makes a value of text; raises ValueError where it is none."""
    read: Callable[[bytes], Any]
    """The same for the bytes of a log."""
    types: tuple[type, ...]
    choices: frozenset[Any]
    required: bool

    def accepts(self, value: object) -> bool:
        """Tell whether a fixed value fits; a bool is no int here."""
        if self.choices and value is not None:
            return value in self.choices
        return type(value) in self.types or (float in self.types and type(value) is int)


def _schema(event: type[LogEvent]) -> Mapping[str, Field]:
    hints = get_type_hints(event)
    return {
        known.name: _field(event, known.name, hints[known.name], known.default is MISSING)
        for known in fields(event)
        if known.name not in PLACE
    }


def _field(event: type[LogEvent], name: str, hint: Any, required: bool) -> Field:
    """Describe one field from its annotation."""
    parts = get_args(hint) if get_origin(hint) in (types.UnionType, Union) else (hint,)
    choices: set[Any] = set(WORDS.get((event, name), ()))
    kinds: list[type] = []
    for part in parts:
        if get_origin(part) is Literal:
            choices.update(get_args(part))
            kinds.append(str)
        else:
            kinds.append(part)
    convert = _converter(kinds)
    read = convert if convert in (_whole, _number) else _reader(convert)
    return Field(name, convert, read, tuple(kinds), frozenset(choices), required)


def _converter(kinds: list[type]) -> Convert:
    """Return what makes a value of a type out of text."""
    if bool in kinds:
        return _truth
    if int in kinds:
        return _whole
    return _number if float in kinds else str


def _whole(text: str | bytes) -> int:
    """Read a whole number that a counter can show; raises ValueError."""
    if len(text) > _DIGITS:
        raise ValueError("it has too many digits")
    return int(text)


def _number(text: str | bytes) -> float:
    """Read a number; raises ValueError where it is none, or beyond all that is measured."""
    value = float(text)
    if not -_LARGEST < value < _LARGEST:
        raise ValueError("it is too large")
    return value


def _reader(convert: Convert) -> Callable[[bytes], Any]:
    """Return the same for bytes (numbers need no decoding)."""
    return lambda text: convert(text.decode("utf-8", "replace"))


def _truth(text: str) -> bool:
    """Read a printed truth value."""
    return text.lower() in _TRUE


_SCHEMAS: Mapping[type[LogEvent], Mapping[str, Field]] = {event: _schema(event) for event in EMITTED}


def schema_of(event: type[LogEvent]) -> Mapping[str, Field]:
    """Return the fields of an event that a rule may set."""
    return _SCHEMAS[event]
