"""The page that `explain` prints: the verdict first, then why, when, who, and what to do. One gutter, no boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bringup.core.verdict import Verdict
from bringup.core.words import duration, left, without_state
from bringup.report.contract import moment
from bringup.report.crew import crew
from bringup.report.explanation import Explanation, Reading, understood
from bringup.report.failure import cause_rows, earlier_rows
from bringup.report.harmless import harmless
from bringup.report.signs import SIGNS
from bringup.report.timeline import timeline

GUTTER = 12
"""Columns before the text: the longest state with its sign is `▲ DEGRADED`."""
_MOST_DETAILS = 3
_LONGEST_NAME = 160
_OWN_RULES = (
    "Check that it is a start-up log. Rules for another format can be added: `bringup explain --rules` says where."
)
_UNITS = ("B", "KiB", "MiB", "GiB")

Row = tuple[str | Text, RenderableType]


def page(explanation: Explanation, width: int) -> RenderableType:
    """Return the page for a terminal or a pipe of `width` columns."""
    room = width - GUTTER
    sections: list[list[Row]] = [
        [(headline(explanation.verdict), sentence(explanation.verdict, room))],
        [("log", _log(explanation, room))],
        [*cause_rows(explanation, room)],
        [*_unknown(explanation.verdict)],
        [*labelled("phases", timeline(explanation, room))],
        [*labelled("ranks", crew(explanation.verdict, explanation.state.attempt))],
        [*warning_rows(explanation.verdict)],
        [*_evidence(explanation)],
        [*earlier_rows(explanation.state)],
    ]
    shown = [section(rows) for rows in sections if rows]
    return Group(*[part for section in shown for part in (section, Text())][:-1])


def section(rows: list[Row]) -> RenderableType:
    """Return rows with their labels in the gutter."""
    grid = Table.grid(expand=True)
    grid.add_column(width=GUTTER, no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for label, content in rows:
        grid.add_row(Text(label, "dim") if isinstance(label, str) else label, content)
    return grid


def labelled(label: str, contents: list[Text]) -> Iterator[Row]:
    """Yield several rows, with a label before the first of them."""
    for index, content in enumerate(contents):
        yield ("" if index else label), content


def headline(verdict: Verdict) -> Text:
    """Return the state in a word, with its sign."""
    sign, style = SIGNS[verdict.state]
    return Text(f"{sign} {verdict.state.upper()}", style)


def sentence(verdict: Verdict, room: int) -> RenderableType:
    """Return the verdict in one sentence, and below it what is known of the server."""
    lines = [Text(harmless(without_state(verdict.summary, verdict.state)), "bold")]
    if verdict.eta_s is not None:
        basis = verdict.eta_basis
        told = basis if basis.startswith(("from", "by", "last")) else f"from {basis}"
        lines.append(Text(f"Time left: {left(*verdict.eta_s)}{f', {harmless(told)}' if basis else ''}."))
    return Group(*lines, *(Text(line, "dim") for line in flow(_identity(verdict), room)))


def _identity(verdict: Verdict) -> Iterator[str]:
    if verdict.engine is not None:
        yield harmless(f"{verdict.engine} {verdict.version or ''}".strip())
    if verdict.model:
        yield shorten(harmless(verdict.model))
    if verdict.draft_model:
        yield f"draft {shorten(harmless(verdict.draft_model))}"
    if verdict.ranks_expected:
        yield f"{verdict.ranks_expected} rank{'' if verdict.ranks_expected == 1 else 's'}"
    if verdict.port is not None:
        yield f"port {verdict.port}"
    if verdict.accept_len is not None:
        yield f"accept length {verdict.accept_len:.2f}"
    if verdict.attempt > 1:
        yield f"launch {verdict.attempt} in this log"


def _log(explanation: Explanation, room: int) -> RenderableType:
    """What was read, and how much of it was understood."""
    reading = explanation.reading
    lines = f"{reading.lines:,} line{'' if reading.lines == 1 else 's'}"
    rows = [Text(line) for line in flow((harmless(reading.name), lines, size(reading.size)), room)]
    if reading.began is not None and reading.ended is not None:
        rows.append(Text(span(reading, explanation.silent), "dim"))
    elif reading.size:
        rows.append(Text("Its lines carry no time, so no duration can be told.", "dim"))
    if reading.unknown and explanation.verdict.state != "unknown":
        style = "yellow" if reading.unknown > reading.lines / 2 else "dim"
        rows.append(Text(f"{_capital(understood(reading))}.", style))
    if reading.trouble:
        rows.append(Text(harmless(reading.trouble), "yellow"))
    return Group(*rows)


def shorten(name: str) -> str:
    """Return a name of a sane length: its end tells more than its beginning."""
    return name if len(name) <= _LONGEST_NAME else f"…{name[-_LONGEST_NAME + 1 :]}"


def flow(items: Iterable[str], width: int) -> list[str]:
    """Join items into rows of a width; an item is broken only where it is longer than a row."""
    rows: list[str] = []
    for item in items:
        longer = f"{rows[-1]} · {item}" if rows else item
        if rows and cell_len(longer) <= width:
            rows[-1] = longer
        else:
            rows.append(item)
    return rows


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def span(reading: Reading, silent: float) -> str:
    """Return from when to when the log goes, in its own time."""
    began, ended = moment(reading.began, None) or "", moment(reading.ended, None) or ""
    first = began.replace("T", " ").removeprefix("--")
    last = ended.replace("T", " ").removeprefix("--")
    if "T" in ended and began.partition("T")[0] == ended.partition("T")[0]:
        last = ended.partition("T")[2]
    took = duration((reading.ended or 0.0) - (reading.began or 0.0))
    after = f", then {duration(silent)} of silence" if silent else ""
    return f"{first} to {last} in its own time, {took}{after}."


def size(octets: int) -> str:
    """Return a number of bytes in a unit that suits it."""
    value = float(octets)
    for unit in _UNITS:
        if value < 1024 or unit == _UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError("the last unit has no end")


def _unknown(verdict: Verdict) -> Iterator[Row]:
    if verdict.state == "unknown":
        yield "what to do", Text(_OWN_RULES)


def warning_rows(verdict: Verdict) -> Iterator[Row]:
    """Yield one row a kind of warning, with the first few of what it is about."""
    kinds: dict[str, list[str]] = {}
    for advisory in verdict.warnings:
        kinds.setdefault(advisory.kind, []).append(harmless(advisory.detail))
    for index, (kind, details) in enumerate(kinds.items()):
        more = f" and {len(details) - _MOST_DETAILS} more" if len(details) > _MOST_DETAILS else ""
        told = "; ".join(details[:_MOST_DETAILS]) + more
        yield ("" if index else "warnings"), Text.assemble(("! ", "bold yellow"), (kind, "bold"), f"  {told}")


def _evidence(explanation: Explanation) -> Iterator[Row]:
    """What the verdict rests on, without what stands elsewhere on the page."""
    verdict, elsewhere = explanation.verdict, set(explanation.about)
    shown = [line for line in verdict.evidence if line not in elsewhere and not line.startswith("log line ")]
    for index, line in enumerate(shown):
        yield ("" if index else "evidence"), Text(harmless(line), "dim")
