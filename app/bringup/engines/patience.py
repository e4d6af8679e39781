"""The thresholds of judgement, read from patience.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from importlib import resources
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.policy import Patience, Policy, Signs
from bringup.engines.countdowns import load_limits
from bringup.engines.drafts import load_drafts


def load_policy(overlay: Mapping[str, Any] | None = None) -> Policy:
    """Return the policy that ships with bringup, with the operator's own values over it.

    `overlay` has the shape of patience.toml; a phase that it names may give some of the values only. Raises UsageError
    where a value is not what it should be.
    """
    text = resources.files("bringup.engines").joinpath("patience.toml").read_text("utf-8")
    return replace(parse_policy(tomllib.loads(text), overlay or {}), limits=load_limits(), drafts=load_drafts())


def parse_policy(table: Mapping[str, Any], overlay: Mapping[str, Any]) -> Policy:
    """Return the policy of two tables, the second over the first."""
    values = {**table, **overlay}
    patience = _merged(table, overlay, "patience")
    advice = _merged(table, overlay, "advice")
    if "default" not in patience:
        raise UsageError("The patience with phases that are not named is missing.", "Add a table [patience.default].")
    return Policy(
        patience={phase: _patience(phase, {**_common(patience), **entry}) for phase, entry in patience.items()},
        accept_floor=_number(values, "accept_floor"),
        accept_lines=int(_number(values, "accept_lines")),
        stale_after=_number(values, "stale_after"),
        busy_factor=_number(values, "busy_factor"),
        compilers=_words(values.get("compilers", ())),
        advice={str(kind): str(text) for kind, text in advice.items()},
        signs=_signs(_merged(table, overlay, "signs")),
        waits={str(what): _words(names) for what, names in _merged(table, overlay, "waits").items()},
        stuck=_stuck(_merged(table, overlay, "stuck"), _merged(table, overlay, "waits")),
    )


def _merged(table: Mapping[str, Any], overlay: Mapping[str, Any], key: str) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for source in (table, overlay):
        for name, entry in source.get(key, {}).items():
            old = merged.get(name)
            merged[name] = {**old, **entry} if isinstance(old, dict) and isinstance(entry, dict) else entry
    return merged


def _patience(phase: str, entry: Mapping[str, Any]) -> Patience:
    return Patience(
        slow=_number(entry, "slow", phase),
        stalled=_number(entry, "stalled", phase),
        compiling=_number(entry, "compiling", phase),
        blind=_number(entry, "blind", phase, 0.0),
        stopped=_number(entry, "stopped", phase),
        stuck=_number(entry, "stuck", phase),
        cpu=bool(entry.get("cpu", False)),
    )


def _common(patience: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the default that hold for every phase which does not give its own."""
    return {key: value for key, value in patience["default"].items() if key in ("stopped", "stuck")}


def _stuck(entry: Mapping[str, Any], waits: Mapping[str, Any]) -> dict[str, float]:
    if unknown := sorted(set(entry) - set(waits)):
        raise UsageError(f"[stuck] names '{unknown[0]}', which is not in [waits].", f"[waits] has {', '.join(waits)}.")
    return {what: _number(entry, what) for what in entry}


def _signs(entry: Mapping[str, Any]) -> Signs:
    names = [known.name for known in fields(Signs)]
    if unknown := sorted(set(entry) - set(names)):
        raise UsageError(f"[signs] knows no '{unknown[0]}'.", f"It knows {', '.join(names)}.")
    return Signs(**{name: _number(entry, name) for name in names if name in entry})


def _words(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{names!r} is no list of names.", "Give names in quotes, in brackets.")
    return tuple(names)


def _number(entry: Mapping[str, Any], key: str, phase: str = "", default: float | None = None) -> float:
    value = entry.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        where = f"[patience.{phase}]" if phase else "the thresholds"
        raise UsageError(f"{key} in {where} is {value!r}.", "Give a number of seconds that is not negative.")
    return float(value)
