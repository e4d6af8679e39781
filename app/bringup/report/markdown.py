"""A report as Markdown for a ticket or a chat: GitHub's dialect, with drawings made of letters.

What a host sent stands in code spans and code blocks, or has every sign escaped that could become markup, a link or the
mention of somebody (GitHub Flavored Markdown 0.29).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bringup.core.ranks import name_of
from bringup.core.words import CAUSES, without_state
from bringup.report.account import Account
from bringup.report.environment import environment
from bringup.report.excerpts import Quoted
from bringup.report.harmless import harmless
from bringup.report.signs import SIGNS
from bringup.report.story import MASKED, advised, earlier, figures, identity, ranked, time_left, when
from bringup.report.timeline import timeline

_WIDTH = 92
_SPARKS = "▁▂▃▄▅▆▇█"
_COLUMNS = 60
_MOST_DETAILS = 5
_MIB = 1024
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&])")
_LINKS = re.compile(r"(?i)(@|https?:(?=//)|www\.|(?:gh|[a-z]+/[a-z]+)-(?=\d))")


def markdown(account: Account) -> str:
    """Return the report as Markdown."""
    lines: list[str] = []
    for part in (_head, _cause, _phases, _ranks, _memory, _warnings, _environment, _evidence, _earlier, _log):
        told = list(part(account))
        if told:
            lines += [*told, ""]
    lines.append(f"*Made by {plain(account.maker)}. {MASKED}*")
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Return text that Markdown shows as it is: no markup, no link, nobody is mentioned."""
    return _LINKS.sub(r"\1<!-- -->", _MARKUP.sub(r"\\\1", harmless(text)))


def code(text: str, *, cell: bool = False) -> str:
    """Return text as a code span, whatever backticks are in it; `cell`: within a table, where a bar ends the cell."""
    safe = harmless(text).replace("|", "\\|") if cell else harmless(text)
    if not safe.strip():
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", safe)), default=0))
    return f"{fence} {safe} {fence}" if "`" in safe else f"{fence}{safe}{fence}"


def block(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as a code block that none of them can end."""
    held = [harmless(line) for line in lines]
    fence = "`" * max(3, 1 + max((len(run) for line in held for run in re.findall("`+", line)), default=0))
    yield f"{fence}text"
    yield from held
    yield fence


def _head(account: Account) -> Iterator[str]:
    verdict = account.verdict
    told = plain(without_state(verdict.summary, verdict.state))
    yield f"## {SIGNS[verdict.state][0]} {verdict.state.upper()}: {told}"
    yield ""
    yield " · ".join(filter(None, (code(account.title), when(account), *(code(text) for text in identity(account)))))
    for remark in (time_left(verdict), account.trouble):
        if remark:
            yield ""
            yield plain(remark)
    numbers = [
        f"{what}: **{plain(much)}**{f' ({plain(remark)})' if remark else ''}" for what, much, remark in figures(account)
    ]
    if numbers:
        yield ""
        yield " · ".join(numbers)


def _cause(account: Account) -> Iterator[str]:
    cause = account.verdict.cause
    if cause is None:
        return
    yield f"### Cause: {CAUSES.get(cause.kind, plain(cause.kind))}"
    facts = [cause.kind, *([cause.node] if account.nodes and cause.node else [])]
    facts += [name_of(account.state.attempt, cause.rank)] if cause.rank is not None else []
    facts += [f"line {cause.line_number:,}"] if cause.line_number is not None else []
    facts += ["a consequence: the cause itself lies elsewhere"] if cause.secondary else []
    yield plain(" · ".join(facts))
    yield ""
    yield from block(_quoted(account.excerpt, cause.line_number, cause.line) or [cause.line])
    if cause.advice:
        yield ""
        yield f"**What to do:** {plain(cause.advice)}"


def _quoted(lines: Sequence[Quoted], hit: int | None = None, text: str = "") -> list[str]:
    width = max((len(str(line.number)) for line in lines if line.number), default=0)
    told = []
    for line in lines:
        is_hit = line.number == hit if hit and line.number else bool(text) and text.strip() in line.text
        number = f"{line.number:>{width}} " if line.number else ""
        told.append(f"{'>' if is_hit else ' '} {number}{line.text}" if hit or text else f"{number}{line.text}")
    return told


def _phases(account: Account) -> Iterator[str]:
    rows = timeline(account.explanation, _WIDTH)
    if rows:
        yield "### Timeline"
        yield from block(row.plain for row in rows)


def _ranks(account: Account) -> Iterator[str]:
    verdict = account.verdict
    if not verdict.ranks:
        return
    yield "### Ranks"
    if ranked(account):
        yield plain(ranked(account))
        yield ""
    yield "| rank | GPU | phase | progress | from | remark |"
    yield "|---|---:|---|---:|---|---|"
    for view in verdict.ranks[:64]:
        what = " ".join(filter(None, (view.phase or "", f"({view.role})" if view.role else "")))
        node = view.node if account.nodes else ""
        remark = ", ".join(filter(None, (node, view.trouble, "far behind" if view.straggler else "", view.note)))
        cells = (
            name_of(account.state.attempt, view.rank),
            "" if view.gpu is None else f"{view.gpu}",
            what,
            f"{view.progress:.0%}" if view.progress is not None else "",
            "" if view.source == "none" else view.source,
            remark,
        )
        yield f"| {' | '.join(plain(cell) for cell in cells)} |"


def _memory(account: Account) -> Iterator[str]:
    for node in account.each:
        yield from _memory_of(node)


def _memory_of(account: Account) -> Iterator[str]:
    gpus = [gpu for gpu in account.state.gpu.gpus if gpu.used is not None]
    why = dict(account.state.closed).get("gpus", "")
    if gpus or why:
        yield f"### GPU memory{plain(account.of)}"
    if not gpus:
        yield from [plain(why)] if why else ()
        return
    rows = []
    for gpu in gpus:
        used = [mib for point in account.points for index, mib in point.gpus if index == gpu.index]
        top = max([gpu.total or 1, *used])
        line = f"GPU {gpu.index:<3} {spark(used, top)}" if len(used) > 1 else f"GPU {gpu.index:<3}"
        of = f" of {gpu.total / _MIB:.0f}" if gpu.total else ""
        rows.append(
            f"{line} {(gpu.used or 0) / _MIB:.1f}{of} GiB at the end, at most {max([*used, gpu.used or 0]) / _MIB:.1f}"
        )
    yield from block(rows)


def spark(values: Sequence[int], top: int) -> str:
    """Return values over time as a row of blocks, of at most 60 columns; each shows the most of its time."""
    size = max(1, -(-len(values) // _COLUMNS))
    peaks = [max(values[at : at + size]) for at in range(0, len(values), size)]
    return "".join(_SPARKS[min(len(_SPARKS) - 1, peak * len(_SPARKS) // max(1, top))] for peak in peaks)


def _warnings(account: Account) -> Iterator[str]:
    told = advised(account.verdict)
    if told:
        yield "### Warnings"
    for kind, details, advice in told:
        more = f" and {len(details) - _MOST_DETAILS} more" if len(details) > _MOST_DETAILS else ""
        yield f"* **{plain(kind)}** {'; '.join(plain(detail) for detail in details[:_MOST_DETAILS])}{more}"
        if advice:
            yield f"  {plain(advice)}"


def _environment(account: Account) -> Iterator[str]:
    facts = environment(account)
    if facts:
        yield "### Environment"
        yield "| | |"
        yield "|---|---|"
        yield from (f"| {label} | {code(text, cell=True)} |" for label, text in facts)


def _evidence(account: Account) -> Iterator[str]:
    if account.verdict.evidence:
        yield "### What the verdict rests on"
        yield from (f"* {plain(line)}" for line in account.verdict.evidence)


def _earlier(account: Account) -> Iterator[str]:
    told = earlier(account.state)
    if told:
        yield "### Earlier launches in this log"
        yield from (f"* {plain(line)}" for line in told)


def _log(account: Account) -> Iterator[str]:
    for node in account.each:
        if node.tail:
            yield f"<details><summary>The end of the log{plain(node.of)}</summary>"
            yield ""
            yield from block(_quoted(node.tail))
            yield ""
            yield "</details>"
