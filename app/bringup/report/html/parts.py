"""The sections of the page below its head: each an element, or None where there is nothing to tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bringup.core.ranks import name_of
from bringup.core.verdict import PhaseView, RankView
from bringup.core.words import CAUSES, duration
from bringup.report.account import Account
from bringup.report.drawing.axis import Axis, clock
from bringup.report.drawing.chart import Chart, inline
from bringup.report.drawing.timeline import name_of as phase_name
from bringup.report.environment import environment
from bringup.report.excerpts import Quoted
from bringup.report.markup import Content, Node, element
from bringup.report.story import advised, earlier, ranked, took

_MOST_DETAILS = 5


def section(name: str, title: str, *content: Content | None, kind: str | None = None) -> Node:
    """Return a section with its heading."""
    return element("section", element("h2", title, id=name), *content, aria_labelledby=name, class_=kind)


def cause(account: Account) -> Node | None:
    """Return why it failed: the line among those around it, and what to do."""
    found = account.verdict.cause
    if found is None:
        return None
    facts = [found.kind, *([found.node] if account.nodes and found.node else [])]
    if found.rank is not None:
        facts.append(name_of(account.state.attempt, found.rank))
    if found.line_number is not None:
        facts.append(f"line {found.line_number:,}")
    if found.channel != "log":
        facts.append(
            {"kernel": "from the kernel log", "processes": "no line of its own"}.get(found.channel, found.channel)
        )
    what = CAUSES.get(found.kind, found.kind)
    secondary = "This is a consequence: the cause itself lies elsewhere." if found.secondary else None
    return section(
        "cause",
        f"Cause: {what}",
        element("p", " · ".join(facts), class_="soft small"),
        element("p", secondary) if secondary else None,
        quoted(account.excerpt, found.line_number, found.line) if account.excerpt else _only(found.line),
        element("p", element("b", "What to do: "), found.advice, class_="do") if found.advice else None,
    )


def _only(line: str) -> Node | None:
    return element("pre", element("span", line, class_="bare hit")) if line else None


def quoted(lines: Sequence[Quoted], hit: int | None = None, text: str = "") -> Node:
    """Return lines of the log with their numbers, one of them marked."""
    rows = []
    for line in lines:
        is_hit = line.number == hit if hit and line.number else bool(text) and text.strip() in line.text
        kinds = " ".join(filter(None, ("hit" if is_hit else "", "" if line.number else "bare")))
        number = element("i", f"{line.number}") if line.number else None
        rows.append(element("span", number, line.text or " ", class_=kinds or None))
    return element("pre", *rows)


def drawing(chart: Chart) -> Node:
    """Return a chart that can be moved sideways where there is little room."""
    return element("div", inline(chart), class_="draw", tabindex="0", role="group", aria_label=chart.title)


def phases(account: Account, axis: Axis | None, chart: Chart | None) -> Node | None:
    """Return the timeline, and the same as numbers."""
    views = account.verdict.phases
    if not views:
        return None
    rows = [_phase(account, view, axis) for view in views]
    head = ("Phase", "Model", "Began at", "Took", "Ranks done")
    untimed = (
        element("p", "Its lines carry no time, so no duration can be told.", class_="soft") if axis is None else None
    )
    drawn = drawing(chart) if chart is not None else None
    return section("phases", "Timeline", drawn, untimed, table(head, rows, numbers=(2, 3, 4)))


def _phase(account: Account, view: PhaseView, axis: Axis | None) -> list[Content]:
    key = element("span", class_=f"key k-{view.phase}", aria_hidden="true")
    began = clock(view.started - axis.begin) if axis is not None and view.started > 0 else ""
    done = f"{view.ranks_done} of {account.verdict.ranks_expected or '?'}" if view.ranks_done else ""
    return [element("span", key, phase_name(view)), view.role or "", began, took(account.verdict, view), done]


def ranks(account: Account, chart: Chart | None) -> Node | None:
    """Return the ranks over time, and how each is at the end."""
    views = account.verdict.ranks
    if not views:
        return None
    told = element("p", ranked(account), class_="small soft") if ranked(account) else None
    how = "Each lane is one rank: solid blocks are phases by its own log lines; what rises within one is its progress."
    body = table(
        ("Rank", "Node", "GPU", "PID", "Phase", "Progress", "From", "Quiet for", "Remark"),
        [_rank(account, view) for view in views],
        numbers=(2, 3, 5, 7),
    )
    more = element("details", element("summary", "As a table"), body)
    drawn = [drawing(chart), element("p", how, class_="small soft")] if chart is not None else []
    return section("ranks", "Ranks", told, *drawn, more, kind="long")


def _rank(account: Account, view: RankView) -> list[Content]:
    what = " ".join(filter(None, (view.phase or "", f"({view.role})" if view.role else "")))
    remark = ", ".join(filter(None, (view.trouble, "far behind" if view.straggler else "", view.note)))
    return [
        name_of(account.state.attempt, view.rank),
        view.node if account.nodes else "",
        "" if view.gpu is None else f"{view.gpu}",
        "" if view.pid is None else f"{view.pid}",
        what,
        f"{view.progress:.0%}" if view.progress is not None else "",
        "" if view.source == "none" else view.source,
        duration(view.quiet_s) if view.quiet_s is not None else "",
        remark,
    ]


def memory(account: Account, chart: Chart | None) -> Node | None:
    """Return the memory of the GPUs, or why it could not be seen."""
    if chart is not None:
        return section(f"gpus{account.mark}", f"GPU memory{account.of}", drawing(chart))
    why = dict(account.state.closed).get("gpus")
    told = element("p", why, class_="soft") if why else None
    return section(f"gpus{account.mark}", f"GPU memory{account.of}", told) if why else None


def warnings(account: Account) -> Node | None:
    """Return what to look at beside the verdict, one item a kind."""
    items = []
    for kind, details, advice in advised(account.verdict):
        more = f" and {len(details) - _MOST_DETAILS} more" if len(details) > _MOST_DETAILS else ""
        told = "; ".join(details[:_MOST_DETAILS]) + more
        say = element("p", advice, class_="small") if advice else None
        items.append(element("li", element("p", element("b", kind), f"  {told}"), say))
    return section("warnings", "Warnings", element("ul", *items, class_="warn")) if items else None


def evidence(account: Account) -> Node | None:
    """Return what the verdict rests on, and every channel with its age."""
    verdict = account.verdict
    if not verdict.evidence and not verdict.channels:
        return None
    lines = element("ul", *(element("li", line) for line in verdict.evidence)) if verdict.evidence else None
    rows: list[list[Content]] = []
    if account.kind != "log":
        for view in verdict.channels:
            heard = _ago(view.heard_s) if view.open else "closed"
            rows.append([view.channel, view.says, heard, _ago(view.moved_s)])
    channels = table(("Channel", "Says", "Answered", "Showed work"), rows) if rows else None
    more = element("details", element("summary", "Every channel with its age"), channels) if channels else None
    return section("evidence", "What the verdict rests on", lines, more)


def _ago(seconds: float | None) -> str:
    return "" if seconds is None else f"{duration(seconds)} before"


def surroundings(account: Account) -> Node | None:
    """Return what it ran on and as."""
    facts = environment(account)
    if not facts:
        return None
    pairs: list[Node] = []
    for label, text in facts:
        coded = label.partition(" of ")[0] in ("Command", "Directory", "Model", "Draft model")
        pairs += [element("dt", label), element("dd", element("code", text) if coded else text)]
    return section("environment", "Environment", element("dl", *pairs, class_="facts"))


def before(account: Account) -> Node | None:
    """Return how earlier launches in the same log ended."""
    told = earlier(account.state)
    if not told:
        return None
    return section("earlier", "Earlier launches in this log", element("ul", *(element("li", line) for line in told)))


def log_end(account: Account) -> Node | None:
    """Return the last lines of the log."""
    if not account.tail:
        return None
    lines = f"{len(account.tail)} lines" if len(account.tail) > 1 else "line"
    return section(f"log{account.mark}", f"The last {lines} of the log{account.of}", quoted(account.tail), kind="long")


def table(head: Sequence[str], rows: Iterable[Sequence[Content]], numbers: Sequence[int] = ()) -> Node:
    """Return a table; the first cell of each row is its heading, and columns without content are left out."""
    body = [list(row) for row in rows]
    shown = [n for n in range(len(head)) if n == 0 or any(row[n] for row in body)]

    def kind(column: int) -> str | None:
        return "r" if column in numbers else None

    heads = [element("th", head[n], scope="col", class_=kind(n)) for n in shown]
    lines = [
        element(
            "tr",
            *(element("td", row[n], class_=kind(n)) if n else element("th", row[n], scope="row") for n in shown),
        )
        for row in body
    ]
    whole = element("table", element("thead", element("tr", *heads)), element("tbody", *lines))
    return element("div", whole, class_="wide")
