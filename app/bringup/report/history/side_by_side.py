"""Two starts side by side, phase by phase, as a page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bringup.core.words import duration
from bringup.history.records import StartRow
from bringup.report.harmless import harmless
from bringup.report.history.chart import bar
from bringup.report.history.comparison import SECONDS, Comparison
from bringup.report.history.listing import command, outcome, remarked, when
from bringup.report.page import flow

_NONE = "–"
_SAME = 1.1
"""Factors below this are no difference."""


def page(found: Comparison, width: int, zone: tzinfo | None = None) -> RenderableType:
    """Return the comparison; times are shown in `zone`, that of this machine where it is None."""
    lines: list[RenderableType] = []
    for start in (found.first, found.second):
        lines += [*_start(start, width, zone)]
    if not found.alike:
        lines.append(Text("They are starts of different commands: their durations are not comparable.", "yellow"))
    until = max(found.first.seconds, found.second.seconds)
    for start in (found.first, found.second):
        lines.append(Text(f"{start.number:>4} ").append_text(bar(start, until, max(10, width - 5))))
    lines += [Text(), _table(found)]
    lines.append(Text())
    lines += [row for remark in found.remarks for row in remarked(remark, width)]
    if not found.remarks:
        lines.append(Text(_nothing(found), "dim"))
    return Group(*lines)


def _nothing(found: Comparison) -> str:
    if any(phase.is_great for phase in found.phases):
        return f"What took more than twice as long, or less than half, differs by less than {SECONDS:g} s."
    return "No phase took more than twice as long, or less than half."


def _start(start: StartRow, width: int, zone: tzinfo | None) -> Iterator[Text]:
    told, style = outcome(start)
    row = Text(f"{start.number:>4} ", "bold").append(f"{when(start, zone)}  ").append(told, style)
    row.append(f" after {duration(start.seconds)}").append(f"  {harmless(start.cause)}" if start.cause else "", "red")
    yield row
    yield from (Text(f"     {line}", "dim") for line in flow(command(start.key), width - 5))


def _table(found: Comparison) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("phase")
    usual = ["usual" if found.alike else f"usual of {found.second.number}"]
    if all(phase.usual is None for phase in found.phases):
        usual = []
    for name in (f"start {found.first.number}", f"start {found.second.number}", "difference", *usual):
        table.add_column(name, justify="right")
    for phase in found.phases:
        told, style = _difference(phase.factor)
        last = [_took(phase.usual)] if usual else []
        name = phase.key.replace("/", " ")
        table.add_row(name, _took(phase.first), _took(phase.second), Text(told, style), *last)
    table.add_section()
    table.add_row("in all", duration(found.first.seconds), duration(found.second.seconds), *[""] * (1 + len(usual)))
    return table


def _took(seconds: float | None) -> str:
    return _NONE if seconds is None else duration(seconds)


def _difference(factor: float | None) -> tuple[str, str]:
    if factor is None:
        return _NONE, "dim"
    if 1 / _SAME < factor < _SAME:
        return "the same", "dim"
    return (f"{factor:.1f}x slower", "yellow") if factor > 1 else (f"{1 / factor:.1f}x faster", "green")
