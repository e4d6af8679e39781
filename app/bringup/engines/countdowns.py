"""The time limits of engines and libraries, read from countdowns.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from importlib import resources
from typing import Any, get_args

from bringup.core.countdowns import holds_for
from bringup.core.errors import UsageError
from bringup.core.events import PHASES
from bringup.core.policy import Limit, Trigger
from bringup.core.state import Attempt

DATA = "countdowns.toml"


def load_limits() -> tuple[Limit, ...]:
    """Return the time limits that ship with bringup."""
    text = resources.files(__package__).joinpath(DATA).read_text("utf-8")
    return parse_limits(tomllib.loads(text), DATA)


def parse_limits(table: Mapping[str, Any], source: str) -> tuple[Limit, ...]:
    """Return the limits of a file; raises UsageError where a field is wrong or a sample is not covered."""
    return tuple(_limit(row, source) for row in table.get("countdowns", ()))


def _limit(row: Mapping[str, Any], source: str) -> Limit:
    try:
        limit = Limit(**{**row, "samples": tuple(row.get("samples", ()))})
    except TypeError as error:
        raise UsageError(f"{source}: a countdown has a field missing or one too many: {error}.") from error
    where = f"{source}: {limit.name}"
    if limit.starts not in get_args(Trigger) or (limit.starts == "milestone") != bool(limit.milestone):
        raise UsageError(f"{where}: 'starts' is one of {', '.join(get_args(Trigger))}; a milestone needs its name.")
    if limit.phase is not None and limit.phase not in PHASES:
        raise UsageError(f"{where}: there is no phase '{limit.phase}'.")
    if limit.group not in ("tp", "world") or limit.needs not in ("", "gpus", "servers"):
        raise UsageError(f"{where}: 'group' is tp or world, 'needs' is gpus or servers.")
    if isinstance(limit.seconds, bool) or not isinstance(limit.seconds, int | float) or limit.seconds <= 0:
        raise UsageError(f"{where}: {limit.seconds!r} is no number of seconds.")
    if limit.set_by and limit.set_by not in {known.name for known in fields(Attempt)}:
        raise UsageError(f"{where}: no argument of a launch is called '{limit.set_by}'.")
    if not limit.samples:
        raise UsageError(f"{where}: there is no sample.", "Name versions for which it holds.")
    for version in limit.samples:
        if not holds_for(limit, version or None):
            raise UsageError(f"{where}: it does not hold for '{version}' as its sample says.")
    return limit
