"""The scenarios of the demo: one TOML file each, over the values of defaults.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

from bringup.core.errors import UsageError
from bringup.demo.plan import FAULTS, Durations, Fault, Memory, Plan

DEFAULT = "healthy"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario as an operator chooses it; `plan` has no files and speed 1 yet."""

    name: str
    title: str
    description: str
    plan: Plan


def names() -> tuple[str, ...]:
    """Return the names of the scenarios that come with the demo, the default one first."""
    entries = [entry.name for entry in resources.files(__name__).iterdir()]
    found = {name.removesuffix(".toml") for name in entries if name.endswith(".toml")}
    return (DEFAULT, *sorted(found - {DEFAULT}))


def load(name: str = DEFAULT) -> Scenario:
    """Return the scenario of that name; raises UsageError when there is none."""
    known = names()
    if name not in known:
        raise UsageError(f"There is no demo scenario '{name}'.", f"Choose one of: {', '.join(known)}.")
    return parse(name, _read(__name__, f"{name}.toml"))


def parse(name: str, given: Mapping[str, Any]) -> Scenario:
    """Lay what a scenario says over the defaults; raises UsageError for what it cannot mean."""
    text = {key: str(given.get(key, "")).strip() for key in ("title", "description")}
    merged = _read("bringup.demo", "defaults.toml")
    for key, value in given.items():
        if key in text:
            continue
        if key not in merged:
            raise _wrong(name, f"'{key}' is no setting")
        merged[key] = {**merged[key], **value} if isinstance(value, dict) else value
    parts = {"durations": Durations, "memory": Memory, "fault": Fault}
    for key, kind in parts.items():
        unknown = set(merged[key]) - {field.name for field in fields(kind)}
        if unknown:
            raise _wrong(name, f"{sorted(unknown)} in [{key}] is no setting")
        merged[key] = kind(**merged[key])
    plan = Plan(name=name, speed=1.0, **merged | {"args": tuple(merged["args"])})
    _check(plan)
    return Scenario(name, text["title"], text["description"], plan)


def _read(package: str, name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8"))


def _check(plan: Plan) -> None:
    """Raise UsageError for a plan that cannot be played."""
    spans = {field.name: getattr(plan.durations, field.name) for field in fields(Durations)}
    held = plan.memory.context + plan.memory.target + plan.memory.draft + plan.memory.graphs
    if not 1 <= plan.ranks <= 16:
        raise _wrong(plan.name, "ranks must be 1 to 16")
    if not 1 <= plan.shards <= 500:
        raise _wrong(plan.name, "shards must be 1 to 500")
    if min(spans.values()) <= 0:
        raise _wrong(plan.name, f"{min(spans, key=lambda key: spans[key])} must be more than 0 s")
    if held > plan.memory.total:
        raise _wrong(plan.name, f"{held:.1f} GB do not fit into {plan.memory.total:.1f} GB")
    if plan.fault.kind not in FAULTS:
        raise _wrong(plan.name, f"'{plan.fault.kind}' is no fault")
    if not (0 <= plan.fault.rank < plan.ranks and plan.slow_rank < plan.ranks):
        raise _wrong(plan.name, "a rank is named that does not exist")
    if not 0 <= plan.fault.shard <= plan.shards:
        raise _wrong(plan.name, "a shard is named that does not exist")


def _wrong(name: str, what: str) -> UsageError:
    return UsageError(f"The demo scenario '{name}' cannot be played: {what}.")
