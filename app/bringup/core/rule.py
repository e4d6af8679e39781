"""Rules as data: what a line looks like and which event it means. Read from an engine's file, checked when loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bringup.core.errors import UsageError
from bringup.core.events import Fault, Labels, LogEvent
from bringup.core.headers import LONGEST_NUMBER
from bringup.core.literals import HEAD, head_of, needles_of
from bringup.core.redact import mask
from bringup.core.sanitize import clean
from bringup.core.schema import EMITTED, WHOLE_LINE, WORDS, schema_of

Scope = Literal["rank", "main", "any", "exception"]
SCOPES: tuple[Scope, ...] = ("rank", "main", "any", "exception")
ARGUMENTS = "arguments"
"""Group whose text is a printed mapping of arguments (Launch)."""
RANK = "rank"
"""Group that names the rank a line speaks of, where that is not the one that wrote it."""
_LONGEST_TEXT = 1000
_EVENTS = {event.__name__: event for event in EMITTED}
_KEYS = frozenset({
    "name", "emit", "match", "set", "since", "until", "scope", "samples", "limit", "shared", "traceback", "kind",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of line. The pattern is searched in the message, which begins after the engine's header."""

    name: str
    match: str
    event: type[LogEvent] | None
    """What the line means; None for lines that are known and mean nothing."""
    fixed: Mapping[str, Any]
    since: str
    until: str
    """First and last version that prints it, as far as sources were read; "" where open. For readers only."""
    scope: Scope
    """Who prints it: a rank, the main process (never with rank labels), anybody, or the last line of a traceback."""
    samples: tuple[str, ...]
    limit: int
    """At most so many events per launch; 0 for no limit."""
    shared: bool
    """Other engines print the same line, so it does not tell the engine."""
    traceback: Literal["", "fatal", "quiet"]
    """The line announces a traceback: of an error that ends the server, or of one that does not."""
    kind: str
    """Kind of the fault that an announced traceback means where no rule knows its last line."""
    pattern: re.Pattern[bytes]
    """Compiled; without its ^ where `head` is told, since then it is matched in place."""
    groups: tuple[tuple[str, Callable[[bytes], Any]], ...]
    """Named groups of the pattern, and what makes the field's value of their text."""
    head: str
    """Literal text that the message begins with, at least HEAD bytes; "" where the rule is found by its needles."""
    needles: tuple[str, ...]

    whole: str
    """Field that holds the line itself unless a group gives it; "" where the event has none."""
    speaks: bool
    """The line means something: an event, or a traceback that follows."""

    names_rank: bool
    """A group names the rank that the line speaks of."""

    def values(self, found: re.Match[bytes]) -> dict[str, Any] | None:
        """Return the event's fields as the line gives them, without those that say where and when.

        None where a number in it is none (1..2), or larger than any that is counted: then the line says nothing.
        """
        values = {**self.fixed}
        for name, read in self.groups:
            text = found[name]
            if text is not None:
                try:
                    values[name] = read(text)
                except ValueError:
                    return None
        if self.whole and self.whole not in values:
            values[self.whole] = line_text(found.string, found.pos)
        return values

    def labels(self, found: re.Match[bytes], own: Labels) -> Labels:
        """Return whom the line speaks of: the rank it names, else the one that wrote it."""
        named = found[RANK]
        return own if named is None or len(named) > LONGEST_NUMBER else ((RANK, int(named)),)


def line_text(record: bytes, start: int = 0) -> str:
    """Return a line as an event quotes it: harmless, without secrets, not endless."""
    return mask(clean(record[start:][: 4 * _LONGEST_TEXT]))[:_LONGEST_TEXT].strip()


def parse_rule(table: Mapping[str, Any], source: str) -> Rule:
    """Make a rule of a table of an engine's file; raises UsageError with the file, the rule and what is wrong."""
    name = str(table.get("name", "?"))
    where = f"{source}: rule '{name}'"
    _check_table(table, where)
    match, scope = table["match"], table.get("scope", "rank")
    _compile(match, where)
    event = _event(table.get("emit", ""), where)
    head, needles = _keys(match, scope, where)
    pattern = _compile(match.removeprefix("^") if head else match, where)
    groups = _groups(event, pattern, where)
    fixed = dict(table.get("set", {}))
    _check_samples(pattern, table["samples"], bool(head), where)
    _check_fixed(event, fixed, {name for name, _ in groups}, pattern, where)
    return Rule(
        name=name,
        match=match,
        event=event,
        fixed=fixed,
        since=str(table.get("since", "")),
        until=str(table.get("until", "")),
        scope=scope,
        samples=tuple(table["samples"]),
        limit=int(table.get("limit", 0)),
        shared=bool(table.get("shared", False)),
        traceback=table.get("traceback", ""),
        kind=table.get("kind", "unknown"),
        pattern=pattern,
        groups=groups,
        head=head,
        needles=needles,
        whole=WHOLE_LINE.get(event, "") if event else "",
        speaks=event is not None or "traceback" in table,
        names_rank=RANK in pattern.groupindex,
    )


def _check_table(table: Mapping[str, Any], where: str) -> None:
    """Check that a rule has what every rule has, and nothing that none has."""
    if unknown := sorted(set(table) - _KEYS):
        raise UsageError(f"{where}: unknown key '{unknown[0]}'.", f"A rule has {', '.join(sorted(_KEYS))}.")
    if "name" not in table or not isinstance(table.get("match"), str):
        raise UsageError(f"{where}: a rule needs a name and a pattern in 'match'.")
    samples = table.get("samples", ())
    if not samples or not all(isinstance(sample, str) for sample in samples):
        raise UsageError(f"{where}: it has no sample.", "Give at least one line that it must match in 'samples'.")
    if table.get("scope", "rank") not in SCOPES or table.get("traceback", "quiet") not in ("fatal", "quiet"):
        raise UsageError(f"{where}: scope is one of {', '.join(SCOPES)}; traceback is fatal or quiet.")
    if table.get("kind", "unknown") not in WORDS[Fault, "kind"]:
        raise UsageError(f"{where}: '{table['kind']}' is no kind of fault.")


def _event(emit: str, where: str) -> type[LogEvent] | None:
    """Return the event of a name."""
    if not emit:
        return None
    if emit not in _EVENTS:
        raise UsageError(f"{where}: there is no event '{emit}'.", f"Known are {', '.join(sorted(_EVENTS))}.")
    return _EVENTS[emit]


def _keys(match: str, scope: Scope, where: str) -> tuple[str, tuple[str, ...]]:
    """Return how the rule is found: by the bytes its lines begin with, or by literals of which each line holds one."""
    if scope == "exception":
        return "", ()
    head = head_of(match)
    if len(head.encode()) >= HEAD:
        return head, ()
    needles = needles_of(match)
    if not needles:
        raise UsageError(f"{where}: the pattern has no literal text to look for.", "Spell out at least two letters.")
    return "", needles


def _compile(match: str, where: str) -> re.Pattern[bytes]:
    """Compile a pattern over bytes."""
    try:
        return re.compile(match.encode())
    except re.error as error:
        raise UsageError(f"{where}: the pattern is not valid: {error}.") from error


def _groups(
    event: type[LogEvent] | None, pattern: re.Pattern[bytes], where: str
) -> tuple[tuple[str, Callable[[bytes], Any]], ...]:
    """Pair the named groups with the event's fields."""
    fields = schema_of(event) if event else {}
    found = []
    for name in pattern.groupindex:
        if name in (ARGUMENTS, RANK):
            continue
        if event is None or name not in fields:
            owner = event.__name__ if event else "a rule without an event"
            raise UsageError(f"{where}: {owner} has no field '{name}'.", f"It has {', '.join(fields) or 'none'}.")
        found.append((name, fields[name].read))
    return tuple(found)


def _check_samples(pattern: re.Pattern[bytes], samples: Sequence[str], in_place: bool, where: str) -> None:
    """Check that the rule matches its own samples."""
    call = pattern.match if in_place else pattern.search
    for sample in samples:
        if call(sample.encode()) is None:
            raise UsageError(f"{where}: it does not match its sample '{sample}'.")


def _check_fixed(
    event: type[LogEvent] | None, fixed: dict[str, Any], given: set[str], pattern: re.Pattern[bytes], where: str
) -> None:
    """Check the fixed values, and that every field without a default gets one."""
    fields = schema_of(event) if event else {}
    for name, value in fixed.items():
        if event is None or name not in fields:
            raise UsageError(f"{where}: {event.__name__ if event else 'no event'} has no field '{name}'.")
        if not fields[name].accepts(value):
            allowed = ", ".join(sorted(fields[name].choices)) or " or ".join(t.__name__ for t in fields[name].types)
            raise UsageError(f"{where}: '{name}' cannot be {value!r}.", f"It is one of: {allowed}.")
    if event is None or ARGUMENTS in pattern.groupindex:
        return
    missing = [n for n, f in fields.items() if f.required and n not in fixed and n not in given]
    missing = [name for name in missing if name != WHOLE_LINE.get(event)]
    if missing:
        raise UsageError(f"{where}: {event.__name__} needs '{missing[0]}'.", "Set it, or name a group after it.")
