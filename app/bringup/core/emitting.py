"""What a rule found becomes an event: where and when it stands, how often it may speak, and which engine it proves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bringup.core.dialect import Dialect
from bringup.core.events import Event, Fact, Labels, Launch
from bringup.core.matching import Found
from bringup.core.rule import ARGUMENTS, Rule
from bringup.core.timekeeper import Timekeeper


class Emitter:
    """Collects the events of one log."""

    def __init__(self, dialects: Sequence[Dialect], time: Timekeeper, *, decided: bool) -> None:
        self.dialects = tuple(sorted(dialects, key=lambda known: known.engine.yields))
        """Engines that the log can still be of; one as soon as that is known."""
        self.decided = decided
        self.engine = self.dialects[0].engine.name if decided else None
        """Name of the engine, None until there is a sign of one."""
        self.time = time
        self.line = 1
        self.origin = ""
        self.pid: int | None = None
        """The process that wrote the current line, where the line itself says so."""
        self.events: list[Event] = []
        self._counts: dict[str, int] = {}
        self.spent: set[str] = set()
        """Rules that have spoken as often in this launch as they may."""

    def emit(self, found: Found, labels: Labels, dialect: Dialect | None, more: dict[str, Any] | None = None) -> None:
        """Append the event of a rule, unless the rule has none or has spoken often enough in this launch."""
        rule, match = found
        if rule.event is None or (rule.limit and self._is_over(rule)):
            return
        if not self.decided and dialect is not None and dialect.decides(rule):
            self.decide(dialect)
        values = rule.values(match)
        if values is None:
            return
        if rule.event is Launch and dialect is not None:
            values |= self._launch(match, dialect)
        if more:
            values |= more
        if rule.names_rank:
            labels = rule.labels(match, labels)
        at, stamp = self.time.place()
        event = rule.event(
            at=at, stamp=stamp, line=self.line, labels=labels, origin=self.origin, pid=self.pid, **values
        )
        self.events.append(event)

    def place(self, labels: Labels) -> dict[str, Any]:
        """Return where and when the current line stands."""
        at, stamp = self.time.place()
        here = {"line": self.line, "origin": self.origin, "pid": self.pid}
        return {"at": at, "stamp": stamp, "labels": labels, **here}

    def decide(self, dialect: Dialect | None) -> None:
        """Settle which engine's log this is."""
        if dialect is None or dialect.engine.name == self.engine:
            return
        self.engine = dialect.engine.name
        self.decided = not dialect.engine.yields
        others = () if self.decided else (known for known in self.dialects if known is not dialect)
        self.dialects = (dialect, *others)
        self.events.append(Fact(name="engine", value=self.engine, **self.place(())))

    def _launch(self, match: re.Match[bytes], dialect: Dialect) -> dict[str, Any]:
        """Begin a launch: read its arguments, and let every rule speak again."""
        self._counts.clear()
        self.spent.clear()
        text = match[ARGUMENTS] if ARGUMENTS in match.re.groupindex else b""
        return dialect.engine.read_arguments(text.decode("utf-8", "replace"))

    def _is_over(self, rule: Rule) -> bool:
        """Count an event of a rule with a limit; tells whether the limit is passed."""
        count = self._counts[rule.name] = self._counts.get(rule.name, 0) + 1
        if count >= rule.limit:
            self.spent.add(rule.name)
        return count > rule.limit
