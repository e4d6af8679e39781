"""The engines as data: one TOML file an engine, the wrappers in another; a folder of the user's can add to them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.rules import Engine, parse_engine, parse_rules
from bringup.core.wrappers import Wrappers, parse_wrappers

WRAPPERS = "wrappers.toml"
LIBRARIES = "libraries.toml"
"""Rules for what torch, NCCL and other libraries print under every engine."""
_LISTS = ("headers", "rules", "titles")


def load_engines(folder: Path | None = None, problems: list[UsageError] | None = None) -> tuple[Engine, ...]:
    """Return the known engines, and those of a folder of the user's own files.

    A file of the user's with the name of a known engine is put before that engine's rules. A file that is wrong is left
    out and told in `problems`; without that list UsageError is raised.
    """
    tables = {table["name"]: (source, table) for source, table in _shipped() if _is_engine(table)}
    engines = {name: parse_engine(table, source) for name, (source, table) in tables.items()}
    for path in _own_files(folder):
        try:
            table = _read(path)
            if _is_engine(table):
                known = tables.get(table["name"])
                merged = _merge(known[1], table) if known else table
                engines[table["name"]] = parse_engine(merged, path.name)
        except UsageError as problem:
            if problems is None:
                raise
            problems.append(problem)
    return tuple(sorted(engines.values(), key=lambda engine: engine.yields))


def load_wrappers(folder: Path | None = None, problems: list[UsageError] | None = None) -> Wrappers:
    """Return the wrappers, before them those of the folder's own wrappers.toml; mistakes are told as for engines."""
    shipped = {source: table for source, table in _shipped() if source in (WRAPPERS, LIBRARIES)}
    wrappers = parse_wrappers(shipped[WRAPPERS], WRAPPERS)
    libraries = parse_rules(shipped[LIBRARIES].get("rules", ()), LIBRARIES)
    wrappers = Wrappers(wrappers.wrappers, wrappers.rules + libraries)
    for path in _own_files(folder):
        if path.name != WRAPPERS:
            continue
        try:
            own = parse_wrappers(_read(path), path.name)
            wrappers = Wrappers(own.wrappers + wrappers.wrappers, own.rules + wrappers.rules)
        except UsageError as problem:
            if problems is None:
                raise
            problems.append(problem)
    return wrappers


def _shipped() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the files of this package by name."""
    files = sorted(resources.files(__name__).iterdir(), key=lambda file: file.name)
    for file in files:
        if file.name.endswith(".toml"):
            yield file.name, tomllib.loads(file.read_text("utf-8"))


def _own_files(folder: Path | None) -> list[Path]:
    """Return the user's files in the order of their names."""
    return sorted(folder.glob("*.toml")) if folder is not None and folder.is_dir() else []


def _read(path: Path) -> dict[str, Any]:
    """Read one of the user's files; raises UsageError where it is no TOML."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read: {error}.", "It is left out.") from error


def _is_engine(table: Mapping[str, Any]) -> bool:
    """Tell an engine's file from others (wrappers, patience)."""
    return "rules" in table and "name" in table


def _merge(known: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Put the user's lists before the known ones; anything else of the user's replaces the known."""
    merged = {**known, **own}
    for key in _LISTS:
        merged[key] = [*own.get(key, ()), *known.get(key, ())]
    return merged
