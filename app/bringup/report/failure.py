"""Why it failed: the line with a few around it, what to do, and how earlier launches in the same log failed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import set_cell_size
from rich.console import Group, RenderableType
from rich.text import Text

from bringup.core.ranks import name_of
from bringup.core.state import State
from bringup.core.verdict import Cause
from bringup.core.words import CAUSES
from bringup.report.explanation import Explanation
from bringup.report.harmless import harmless

_ROWS_A_LINE = 4
"""Rows that the line of the cause may take; those around it take one."""
_MOST_EARLIER = 5


def cause_rows(explanation: Explanation, width: int) -> Iterator[tuple[str, RenderableType]]:
    """Yield the rows about the cause, `width` columns wide; none where nothing went wrong."""
    cause = explanation.verdict.cause
    if cause is None:
        return
    yield "cause", _head(explanation, cause)
    if explanation.excerpt:
        yield "", _quoted(explanation, cause, width)
    elif cause.line:
        yield "", Text(harmless(cause.line), "bold red")
    if cause.advice:
        yield "", Text()
        yield "what to do", Text(harmless(cause.advice))


def earlier_rows(state: State) -> Iterator[tuple[str, RenderableType]]:
    """Yield the first failure of each earlier launch in the log, newest last."""
    hidden = len(state.earlier) - _MOST_EARLIER
    for index, past in enumerate(state.earlier[-_MOST_EARLIER:]):
        what = CAUSES.get(past.kind or "", past.kind) if past.kind is not None else "ended without an error line"
        row = Text.assemble((f"launch {past.number}: {what}", "bold"))
        if past.line:
            row.append(f", line {past.line:,}: ", "bold").append(harmless(past.text))
        yield ("" if index else "earlier"), row
    if hidden > 0:
        yield "", Text(f"and {hidden} before them", "dim")


def _head(explanation: Explanation, cause: Cause) -> Text:
    head = Text(cause.kind, "bold")
    if cause.rank is not None:
        head.append(f" · {name_of(explanation.state.attempt, cause.rank)}")
    if cause.line_number is not None:
        head.append(f" · line {cause.line_number:,}")
    if cause.secondary:
        head.append(" · a consequence: the cause itself lies elsewhere", "yellow")
    return head


def _quoted(explanation: Explanation, cause: Cause, width: int) -> RenderableType:
    """The lines with their numbers, the cause marked."""
    numbers = len(f"{explanation.excerpt[-1].number:,}")
    marked = "bold yellow" if cause.secondary else "bold red"
    rows = []
    for quoted in explanation.excerpt:
        is_cause = quoted.number == cause.line_number
        lead = f"{'›' if is_cause else ' '} {quoted.number:>{numbers},} │ "
        room = max(10, width - len(lead))
        lines = _wrapped(quoted.text, room, _ROWS_A_LINE if is_cause else 1)
        for index, line in enumerate(lines):
            before = lead if index == 0 else f"{' ' * (len(lead) - 2)}│ "
            styles = ("bold", marked) if is_cause else ("dim", "dim")
            rows.append(Text.assemble((before, styles[0]), (line, styles[1]), no_wrap=True))
    return Group(*rows)


def _wrapped(text: str, width: int, most: int) -> list[str]:
    """Break text at blanks into at most `most` rows of `width` columns; one that had to be cut ends in an ellipsis."""
    rest = Text(text)
    lines: list[str] = []
    while rest.cell_len > width and len(lines) < most - 1:
        head, rest = rest.divide([_break(rest.plain, width)])
        lines.append(head.plain.rstrip())
    rest.truncate(width, overflow="ellipsis")
    return [*lines, rest.plain]


def _break(text: str, width: int) -> int:
    """Return where a row ends: after the last blank that fits, unless that would leave half of the row empty."""
    fitting = len(set_cell_size(text, width).rstrip()) or 1
    blank = text.rfind(" ", 0, fitting + 1)
    return blank + 1 if blank > fitting // 2 else fitting
