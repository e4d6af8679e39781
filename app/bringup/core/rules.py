"""An engine as data: its headers, its rules, its processes and its flags. One file an engine; no code in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bringup.core.arguments import parse_arguments, pick
from bringup.core.errors import UsageError
from bringup.core.events import Bar, Launch
from bringup.core.headers import Header, parse_headers
from bringup.core.rule import Rule, parse_rule
from bringup.core.schema import schema_of
from bringup.core.titles import Command, Titles, parse_command, parse_titles, put_field

__all__ = ["Engine", "Header", "Rule", "parse_engine", "parse_rules"]

_LABEL = r"([A-Za-z_]+?)(\d+)"


@dataclass(frozen=True, slots=True)
class Engine:
    """Everything that is known of one engine's output."""

    name: str
    title: str
    package: str
    """Its Python package: a traceback through it tells the engine before a line of its own does; "" for none."""
    headers: tuple[Header, ...]
    rules: tuple[Rule, ...]
    """In the file's order: the first that matches wins, those with a literal beginning before the others."""
    titles: Titles
    command: Command
    yields: bool
    """Another engine that is found in the same log is the one that the log is about (a router beside an engine)."""
    launch: Mapping[str, tuple[str, ...]]
    """Field of Launch → names that the printed arguments use for it; `a.b` looks for b within a."""

    @property
    def bars(self) -> tuple[Rule, ...]:
        """The rules of progress bars."""
        return tuple(rule for rule in self.rules if rule.event is Bar)

    def read_command(self, argv: Sequence[str]) -> dict[str, Any]:
        """Return what a command line sets, under the names of Launch's fields; what it does not set is missing."""
        return self.command.read(argv)

    def read_arguments(self, text: str) -> dict[str, Any]:
        """Return what the printed arguments of a server set, under the names of Launch's fields."""
        arguments = parse_arguments(text)
        found: dict[str, Any] = {"engine": self.name}
        for field, names in self.launch.items():
            value = pick(arguments, names)
            if value is not None:
                put_field(found, field, value)
        return found


def parse_engine(mapping: Mapping[str, Any], source: str) -> Engine:
    """Make an engine of the contents of its file; raises UsageError with one sentence naming file and place."""
    for key in ("name", "title"):
        if not isinstance(mapping.get(key), str):
            raise UsageError(f"{source}: an engine needs a '{key}'.")
    label = str(mapping.get("label", _LABEL))
    try:
        re.compile(label)
    except re.error as error:
        raise UsageError(f"{source}: the label pattern is not valid: {error}.") from error
    launch = {field: tuple(names) for field, names in dict(mapping.get("launch", {})).items()}
    if unknown := sorted(set(launch) - set(schema_of(Launch))):
        raise UsageError(f"{source}: [launch]: Launch has no field '{unknown[0]}'.")
    return Engine(
        name=mapping["name"],
        title=mapping["title"],
        package=str(mapping.get("package", "")),
        headers=parse_headers(mapping.get("headers", ()), label, source),
        rules=parse_rules(mapping.get("rules", ()), source),
        titles=parse_titles(mapping.get("titles", ()), label, source),
        command=parse_command(mapping.get("command", {}), source),
        yields=bool(mapping.get("yields", False)),
        launch=launch,
    )


def parse_rules(tables: Sequence[Mapping[str, Any]], source: str) -> tuple[Rule, ...]:
    """Make the rules of a file; raises UsageError for a name that stands twice and whatever `parse_rule` rejects."""
    rules = tuple(parse_rule(table, source) for table in tables)
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            raise UsageError(f"{source}: rule '{rule.name}' stands there twice.", "Give one of them another name.")
        seen.add(rule.name)
    return rules
