"""What was done to servers, as a list for a person and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, tzinfo
from textwrap import wrap
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bringup.core.words import duration
from bringup.history.actions import ActionRow
from bringup.report.harmless import harmless
from bringup.report.history.files import told

_STYLES = {"done": "green", "failed": "bold red", "cut off": "bold red", "broken off": "yellow", "begun": "yellow"}
_SAID = {"begun": "its end was not seen"}
_FEW = 8
"""Processes that are named; the others are counted."""


def page(rows: Sequence[ActionRow], width: int, zone: tzinfo | None = None) -> RenderableType:
    """Return the list, oldest first; times are shown in `zone`, that of this machine where it is None."""
    return Group(*(line for row in rows for line in _entry(row, width, zone)))


def to_json(rows: Sequence[ActionRow]) -> str:
    """Return actions as JSON, oldest first; what nobody knows is null."""
    return told({"schema": 1, "actions": [_fields(row) for row in rows]})


def _fields(row: ActionRow) -> dict[str, Any]:
    fields = asdict(row.harmless())
    for name in ("node", "what", "way", "said", "new_pid"):
        fields[name] = fields[name] or None
    fields["at"] = datetime.fromtimestamp(row.at, UTC).isoformat(timespec="seconds")
    fields["seconds"] = None if row.outcome == "begun" else round(row.seconds, 1)
    return fields


def _entry(row: ActionRow, width: int, zone: tzinfo | None) -> Iterator[Text]:
    when = datetime.fromtimestamp(row.at).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")
    node = f" ({harmless(row.node)})" if row.node not in ("", row.target) else ""
    head = Text(f"{when}  ", no_wrap=True, overflow="ellipsis")
    head.append(f"{harmless(row.action):8}", "bold")
    head.append(f" {row.outcome}", _STYLES[row.outcome])
    head.append(f" after {duration(row.seconds)}" if row.outcome != "begun" else f": {_SAID['begun']}")
    head.append(f"  {harmless(row.target)}{node}", "bold").append(f"  by {harmless(row.who)}", "dim")
    yield head
    for text in (_about(row), harmless(row.said)):
        yield from (Text(f"    {line}", "dim") for line in wrap(text, max(20, width - 4)))


def _about(row: ActionRow) -> str:
    named = ", ".join(str(pid) for pid in row.pids[:_FEW])
    more = f" and {len(row.pids) - _FEW} more" if len(row.pids) > _FEW else ""
    parts = [
        f"PID {named}{more}" if row.pids else "",
        f"by {'the launcher' if row.way == 'OWN' else harmless(row.way)}" if row.way else "",
        harmless(row.what),
        f"new PID {row.new_pid}" if row.new_pid else "",
    ]
    return ", ".join(filter(None, parts))
