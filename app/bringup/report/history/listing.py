"""The list of earlier starts, grouped by command, each with its outcome, its total, its phases and its chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from textwrap import wrap

from rich.console import Group, RenderableType
from rich.text import Text

from bringup.core.verdict import StateName
from bringup.core.words import duration
from bringup.history.records import StartKey, StartRow
from bringup.report.harmless import harmless
from bringup.report.history.chart import bar, words
from bringup.report.history.comparison import remarks
from bringup.report.page import flow, shorten
from bringup.report.signs import SIGNS

_INDENT = 5


def page(
    starts: Sequence[StartRow],
    kept: Mapping[StartKey, Sequence[StartRow]],
    width: int,
    zone: tzinfo | None = None,
    hidden: int = 0,
) -> RenderableType:
    """Return the list; `kept` are all starts of each command, `hidden` how many older ones are not listed.

    Times are shown in `zone`, that of this machine where it is None.
    """
    groups: dict[StartKey, list[StartRow]] = {}
    for start in starts:
        groups.setdefault(start.key, []).append(start)
    lines: list[Text] = []
    for key, members in groups.items():
        lines += [*_heading(key, members, width), *_group(members, kept.get(key, ()), width, zone), Text()]
    if hidden:
        more = f"{hidden} older start{'s are' if hidden > 1 else ' is'} not listed; --limit lists more."
        lines.append(Text(more, "dim"))
    elif lines:
        lines.pop()
    return Group(*lines)


def command(key: StartKey) -> Iterator[str]:
    """Yield what makes a command: host, engine, models, layout."""
    yield harmless(key.host)
    yield harmless(key.engine)
    yield shorten(harmless(key.model))
    if key.draft:
        yield f"draft {shorten(harmless(key.draft))}"
    yield layout(key)


def layout(key: StartKey) -> str:
    """Return the parallel layout: "tp 8", "tp 8 dp 2, 2 nodes"."""
    sizes = [f"{name} {size}" for name in ("tp", "pp", "dp", "ep") if (size := getattr(key, name)) > 1]
    nodes = f", {key.nnodes} nodes" if key.nnodes > 1 else ""
    return f"{' '.join(sizes) or 'one rank'}{nodes}"


def when(start: StartRow, zone: tzinfo | None) -> str:
    """Return when a start began: the day and the minute."""
    return datetime.fromtimestamp(start.began_at).astimezone(zone).strftime("%Y-%m-%d %H:%M")


def outcome(start: StartRow) -> tuple[str, str]:
    """Return how a start ended, with the sign of that state, and its style."""
    name: StateName = start.outcome if start.outcome in SIGNS else "unknown"
    sign, style = SIGNS[name]
    return f"{sign} {harmless(start.outcome)}", style


def remarked(remark: str, width: int, indent: int = 0) -> Iterator[Text]:
    """Yield a remark as rows of a width, with a sign before it."""
    lead = f"{' ' * indent}! "
    for index, line in enumerate(wrap(remark, max(20, width - len(lead)))):
        yield Text(f"{' ' * len(lead) if index else lead}{line}", "yellow")


def _heading(key: StartKey, members: Sequence[StartRow], width: int) -> list[Text]:
    names = {harmless(start.target) for start in members} - {harmless(key.host), ""}
    more = [f"known as {name}" for name in sorted(names)]
    return [Text(row, "bold") for row in flow([*command(key), *more], width)]


def _group(members: Sequence[StartRow], kept: Sequence[StartRow], width: int, zone: tzinfo | None) -> Iterator[Text]:
    until = max(start.seconds for start in members)
    for start in members:
        told, style = outcome(start)
        row = Text(f"{start.number:>4} ", "bold", no_wrap=True, overflow="ellipsis")
        row.append(f"{when(start, zone)}  ")
        row.append(told.ljust(10), style)
        row.append(f"  {duration(start.seconds)}", "bold")
        row.append(f"  {harmless(start.version)}" if start.version else "", "dim")
        row.append(f"  {harmless(start.cause)}" if start.cause else "", "red")
        row.append("" if start.whole else "  not seen from its begin", "dim")
        yield row
        yield Text(" " * _INDENT).append_text(bar(start, until, max(10, width - _INDENT)))
        yield from (Text(f"{' ' * _INDENT}{row}", "dim") for row in flow(words(start), width - _INDENT))
        yield from (row for remark in remarks(start, kept) for row in remarked(remark, width, _INDENT))
