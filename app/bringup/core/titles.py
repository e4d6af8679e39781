"""Process titles and command lines of an engine: which process is what, and what it was started with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from bringup.core.arguments import parse_arguments, pick
from bringup.core.errors import UsageError
from bringup.core.events import Labels, Launch
from bringup.core.headers import read_labels
from bringup.core.schema import schema_of

Part = Literal["launcher", "scheduler", "detokenizer", "controller", "child", "tracker", "router"]
WORKERS: frozenset[Part] = frozenset({"scheduler", "detokenizer", "controller"})
"""Parts whose titles prove a process to be an engine's, whoever started it."""


@dataclass(frozen=True, slots=True)
class Title:
    """What the title of one kind of process looks like; the group `labels` names the rank."""

    part: Part
    pattern: re.Pattern[str]
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Titles:
    """The processes of an engine."""

    titles: tuple[Title, ...]
    label: re.Pattern[bytes]

    @property
    def launches(self) -> bool:
        """A launcher is among them, so that there is a server to be found (a router has none)."""
        return any(known.part == "launcher" for known in self.titles)

    def classify(self, title: str) -> tuple[Part, Labels] | None:
        """Return what a process with this title or command line is and whose rank it runs, or None for a stranger."""
        text = title.strip(" \0")
        for known in self.titles:
            found = known.pattern.search(text)
            if found is not None:
                labels = found.groupdict().get("labels") or ""
                return known.part, read_labels(self.label, labels.encode())
        return None


@dataclass(frozen=True, slots=True)
class Command:
    """The flags of a launcher, by the field of Launch that they set."""

    flags: Mapping[str, str]
    """Spelling → field."""
    switches: Mapping[str, str]
    """Spelling of a flag without a value → field."""
    model_after: tuple[str, ...]
    """Words after which the model may stand without a flag (`vllm serve MODEL`)."""
    nested: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Spelling of a flag whose value is a mapping → pairs of a field and its key in there."""

    def read(self, argv: Sequence[str]) -> dict[str, Any]:
        """Return what the command line sets, under the names of Launch's fields; the last of a repeated flag counts."""
        found: dict[str, Any] = {}
        words = iter(range(len(argv)))
        for index in words:
            name, equals, value = argv[index].partition("=")
            following = argv[index + 1] if index + 1 < len(argv) else ""
            if name in self.switches:
                found[self.switches[name]] = True
            elif name in self.nested and (equals or following):
                inner = parse_arguments(value if equals else following)
                for field_name, key in self.nested[name]:
                    if (text := pick(inner, [key])) is not None:
                        put_field(found, field_name, text)
                if not equals:
                    next(words, None)
            elif name in self.flags and (equals or following):
                put_field(found, self.flags[name], value if equals else following)
                if not equals:
                    next(words, None)
            elif name in self.model_after and following and not following.startswith("-"):
                put_field(found, "model", following)
        return found


def put_field(values: dict[str, Any], name: str, text: str) -> None:
    """Set a field of Launch from text; text that is no value of the field's type leaves it unset."""
    try:
        values[name] = schema_of(Launch)[name].convert(text)
    except ValueError:
        values.pop(name, None)


def parse_titles(tables: Iterable[Mapping[str, Any]], label: str, source: str) -> Titles:
    """Make the titles of an engine's file; raises UsageError where a sample is not classified as its own part."""
    found = []
    for table in tables:
        part = table.get("part", "")
        if part not in get_args(Part):
            raise UsageError(f"{source}: a title's part is one of {', '.join(get_args(Part))}, not '{part}'.")
        try:
            pattern = re.compile(str(table.get("match", "")))
        except re.error as error:
            raise UsageError(f"{source}: the title of a {part} is not valid: {error}.") from error
        found.append(Title(cast(Part, part), pattern, tuple(table.get("samples", ()))))
    titles = Titles(tuple(found), re.compile(label.encode()))
    for title in found:
        if not title.samples:
            raise UsageError(f"{source}: the title of a {title.part} has no sample.")
        for sample in title.samples:
            known = titles.classify(sample)
            if known is None or known[0] != title.part:
                raise UsageError(f"{source}: the title '{sample}' is not recognised as {title.part}.")
    return titles


def parse_command(table: Mapping[str, Any], source: str) -> Command:
    """Make the flags of an engine's file; raises UsageError for a field that Launch does not have."""
    fields = schema_of(Launch)
    flags: dict[str, str] = {}
    switches: dict[str, str] = {}
    for section, spellings in (("flags", flags), ("switches", switches)):
        for name, words in dict(table.get(section, {})).items():
            if name not in fields:
                raise UsageError(f"{source}: [command.{section}]: Launch has no field '{name}'.")
            spellings.update(dict.fromkeys(words, name))
    nested: dict[str, tuple[tuple[str, str], ...]] = {}
    for spelling in [spelling for spelling in flags if ":" in spelling]:
        flag, _, key = spelling.partition(":")
        nested[flag] = (*nested.get(flag, ()), (flags.pop(spelling), key))
    return Command(flags, switches, tuple(table.get("model_after", ())), nested)
