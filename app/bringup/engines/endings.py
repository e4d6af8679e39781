"""How an engine ends when it is asked to, read from endings.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from bringup.core.errors import UsageError

DATA = "endings.toml"
DEFAULT = "default"
_TIMES = ("drain", "patient", "again")


@dataclass(frozen=True, slots=True)
class Ending:
    """The times of a stop, in seconds."""

    drain: float
    """Between SIGTERM and SIGKILL."""
    patient: float
    """The same for the gentle way, after which nothing is killed."""
    again: float
    """Until a second SIGTERM, where the first one is swallowed; 0 where there is none."""


def ending_of(engine: str) -> Ending:
    """Return the times for an engine; those that hold for all where it has none of its own."""
    text = resources.files(__package__).joinpath(DATA).read_text("utf-8")
    endings = parse_endings(tomllib.loads(text), DATA)
    return endings.get(engine, endings[DEFAULT])


def parse_endings(table: Mapping[str, Any], source: str) -> dict[str, Ending]:
    """Return the times by engine; raises UsageError where one is wrong, or an engine's has no reason or sample."""
    common = table.get(DEFAULT, {})
    found = {}
    for engine, entry in table.items():
        if engine != DEFAULT and not (entry.get("why") and entry.get("samples")):
            raise UsageError(f"{source}: [{engine}] has no reason or no sample.", "Give it 'why' and 'samples'.")
        found[engine] = Ending(*(_time({**common, **entry}, key, f"{source}: [{engine}]") for key in _TIMES))
    return found


def _time(entry: Mapping[str, Any], key: str, where: str) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise UsageError(f"{where}: {key} is {value!r}.", "Give a number of seconds that is not negative.")
    return float(value)
