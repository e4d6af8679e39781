"""The page: the verdict first, then why, when, who, how much memory, and on what it ran."""

from __future__ import annotations

from bringup.core.verdict import StateName
from bringup.core.words import without_state
from bringup.report.account import Account
from bringup.report.drawing.axis import axis_of
from bringup.report.drawing.memory import memory_chart
from bringup.report.drawing.palette import PHASES, sheet
from bringup.report.drawing.ranks import ranks_chart
from bringup.report.drawing.timeline import timeline_chart
from bringup.report.html import parts
from bringup.report.html.style import SHEET
from bringup.report.markup import Node, element, render, style
from bringup.report.signs import SIGNS
from bringup.report.story import MASKED, figures, identity, time_left, when

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser lets the page do: nothing but use its own style sheet (CSP level 3)."""
TONES: dict[StateName, str] = {
    "ready": "good",
    "standby": "good",
    "failed": "bad",
    "stalled": "bad",
    "degraded": "warn",
    "slow": "warn",
    "starting": "busy",
    "waiting": "plain",
    "stopped": "plain",
    "unknown": "plain",
}


def page(account: Account) -> str:
    """Return the whole page as HTML."""
    axis = axis_of(account)
    timeline = timeline_chart(account, axis) if axis is not None else None
    ranks = ranks_chart(account, axis) if axis is not None else None
    body = element(
        "main",
        _head(account),
        parts.cause(account),
        parts.phases(account, axis, timeline),
        parts.ranks(account, ranks),
        *(parts.memory(node, memory_chart(node, axis)) for node in account.each),
        parts.warnings(account),
        parts.surroundings(account),
        parts.evidence(account),
        parts.before(account),
        *(parts.log_end(node) for node in account.each),
        element("footer", element("p", f"Made by {account.maker} from {_source(account)}. {MASKED}")),
    )
    document = element("html", _meta(account), element("body", body), lang="en")
    return f"<!DOCTYPE html>\n{render(document)}\n"


def _meta(account: Account) -> Node:
    keys = "".join(f".k-{phase}{{background:{colour}}}" for phase, colour in PHASES.items())
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{account.title}: {account.verdict.state}"),
        style(SHEET + sheet() + keys),
    )


def _head(account: Account) -> Node:
    verdict = account.verdict
    tiles = []
    for what, how_much, remark in figures(account):
        small = element("small", remark) if remark else None
        tiles.append(element("div", element("dt", what), element("dd", how_much, small)))
    sign, _ = SIGNS[verdict.state]
    stale = f"No sign of the host for {verdict.stale_s:.0f} s." if verdict.stale_s is not None else ""
    remarks = [text for text in (time_left(verdict), stale, account.trouble) if text]
    return element(
        "header",
        element(
            "div",
            element("span", element("span", f"{sign} ", aria_hidden="true"), verdict.state, class_="state"),
            element("span", account.title),
            element("span", when(account)) if when(account) else None,
            class_="over",
        ),
        element("h1", without_state(verdict.summary, verdict.state)),
        element("p", " · ".join(identity(account)), class_="soft") if identity(account) else None,
        *(element("p", remark) for remark in remarks),
        element("dl", *tiles, class_="tiles") if tiles else None,
        class_=f"t-{TONES[verdict.state]}",
    )


def _source(account: Account) -> str:
    if account.nodes:
        return "the hosts as they were watched"
    return {
        "log": "a log alone: no process and no GPU was looked at",
        "recording": "a recorded start",
        "host": "the host as it was watched",
    }[account.kind]
