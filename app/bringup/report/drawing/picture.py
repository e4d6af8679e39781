"""All charts of a start in one picture, with the verdict above them: an SVG file of its own."""

from __future__ import annotations

from bringup.core.verdict import StateName
from bringup.core.words import without_state
from bringup.report.account import Account
from bringup.report.drawing.axis import axis_of
from bringup.report.drawing.chart import WIDTH, Chart, fitting, rect, words
from bringup.report.drawing.memory import memory_chart
from bringup.report.drawing.palette import sheet
from bringup.report.drawing.ranks import ranks_chart
from bringup.report.drawing.timeline import timeline_chart
from bringup.report.markup import Node, element, render, style
from bringup.report.signs import SIGNS
from bringup.report.story import identity, when

_MARGIN = 20.0
_BAD: tuple[StateName, ...] = ("failed", "stalled")


def picture(account: Account) -> str:
    """Return the picture as an SVG document."""
    axis = axis_of(account)
    found = (
        timeline_chart(account, axis) if axis is not None else None,
        ranks_chart(account, axis) if axis is not None else None,
        *(memory_chart(node, axis) for node in account.each),
    )
    charts = [chart for chart in found if chart is not None]
    parts, y = _head(account)
    for chart in charts:
        parts.append(words(0, y + 10, chart.title, "strong"))
        parts.append(element("g", *chart.content, transform=f"translate(0 {y + 22:.0f})"))
        y += chart.height + 40
    height = y + _MARGIN
    told = _told(account, charts)
    document = element(
        "svg",
        element("title", f"{account.title}: {account.verdict.summary}"),
        element("desc", told),
        style(sheet()),
        rect(0, 0, WIDTH + 2 * _MARGIN, height, "paper"),
        element("g", *parts, transform=f"translate({_MARGIN:.0f} {_MARGIN:.0f})"),
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        viewBox=f"0 0 {WIDTH + 2 * _MARGIN:.0f} {height:.0f}",
        width=WIDTH + 2 * _MARGIN,
        height=height,
        role="img",
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{render(document)}\n'


def _head(account: Account) -> tuple[list[Node], float]:
    verdict = account.verdict
    sign, _ = SIGNS[verdict.state]
    kind = "strong bad" if verdict.state in _BAD else "strong"
    over = " · ".join(filter(None, (account.title, when(account))))
    told = without_state(verdict.summary, verdict.state)
    rows = [
        words(0, 12, f"{sign} {verdict.state.upper()}", kind),
        words(WIDTH, 12, fitting(over, WIDTH * 0.7), "soft", "end"),
        words(0, 32, fitting(told, WIDTH), "strong"),
        words(0, 50, fitting(" · ".join(identity(account)), WIDTH), "soft"),
    ]
    return rows, 72.0


def _told(account: Account, charts: list[Chart]) -> str:
    return " ".join([account.verdict.summary, *(f"{chart.title}: {chart.description}." for chart in charts)])
