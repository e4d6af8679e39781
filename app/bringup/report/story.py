"""What reports of every form say in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bringup.core.state import State
from bringup.core.verdict import PhaseView, Verdict
from bringup.core.words import CAUSES, count, duration, left
from bringup.report.account import Account
from bringup.report.crew import crew
from bringup.report.environment import clock_time
from bringup.report.harmless import harmless
from bringup.report.page import shorten

MASKED = "Secrets are masked. Names of hosts, users, paths and models are not: look before you give it away."
_MOST_EARLIER = 5
_GIB = 1024
_COLUMNS = re.compile(" {2,}")


def advised(verdict: Verdict) -> list[tuple[str, list[str], str]]:
    """Return the warnings as (kind, details, advice), in the order in which the kinds came."""
    kinds: dict[str, tuple[list[str], list[str]]] = {}
    for advisory in verdict.warnings:
        details, advice = kinds.setdefault(advisory.kind, ([], []))
        details.append(advisory.detail)
        if advisory.advice and advisory.advice not in advice:
            advice.append(advisory.advice)
    return [(kind, details, " ".join(advice)) for kind, (details, advice) in kinds.items()]


def ranked(account: Account) -> str:
    """Return the ranks in one line: "TP0 to TP5 done; TP7 failed"."""
    if account.verdict.state == "stopped":
        return ""  # What they were doing, they do no longer.
    rows = (row.plain.partition(" ")[2] for row in crew(account.verdict, account.state.attempt))
    return "; ".join(" ".join(_COLUMNS.sub(": ", row, count=1).split()) for row in rows)


def earlier(state: State) -> list[str]:
    """Return how earlier launches in the same log ended, newest last."""
    told = []
    for past in state.earlier[-_MOST_EARLIER:]:
        what = CAUSES.get(past.kind, past.kind) if past.kind is not None else "ended without an error line"
        line = f", line {past.line:,}: {past.text}" if past.line else ""
        told.append(f"Attempt {past.number}: {what}{line}")
    return told


def time_left(verdict: Verdict) -> str:
    """Return the range of the time left with its basis, "" where there is none."""
    if verdict.eta_s is None:
        return ""
    basis = verdict.eta_basis
    told = basis if basis.startswith(("from", "by", "last")) or not basis else f"from {basis}"
    return f"Time left: {left(*verdict.eta_s)}{f', {told}' if told else ''}."


def when(account: Account) -> str:
    """Return the moment that the verdict is about, as the host's or the log's clock has it."""
    return clock_time(account.verdict.now, account.zone)


def figures(account: Account) -> Iterator[tuple[str, str, str]]:
    """Yield the numbers that are read first: (what, how much, a remark)."""
    verdict = account.verdict
    timed = [view for view in verdict.phases if view.started > 0]
    serving = next((view for view in timed if view.phase == "serving"), None)
    began = verdict.since or min((view.started for view in timed), default=None)
    if began:
        last = max((view.started + view.seconds for view in timed if view.phase != "serving"), default=verdict.now)
        until = serving.started if serving is not None else last
        what = "Until it was ready" if serving is not None else "Time so far" if is_going(verdict) else "Lasted"
        up = f"then {duration(serving.seconds)} of serving" if serving is not None else ""
        yield what, duration(until - began), up
    if verdict.phase is not None:
        yield "Phase", verdict.phase, f"of the {verdict.role}" if verdict.role else ""
    if verdict.ranks_expected:
        done = dict(verdict.ranks_done).get("weights")
        yield "Ranks", f"{verdict.ranks_expected}", _loaded(len(done), verdict.ranks_expected) if done else ""
    most = max((sum(used for _, used in point.gpus) for point in account.points), default=0)
    if most:
        total = sum(gpu.total or 0 for gpu in account.state.gpu.gpus)
        of = f"of {total / _GIB:.0f} GiB on {count(len(account.state.gpu.gpus), 'GPU')}" if total else ""
        yield "GPU memory, at most", f"{most / _GIB:.0f} GiB", of
    if verdict.accept_len is not None:
        yield "Accept length", f"{verdict.accept_len:.2f}", ""


def _loaded(done: int, expected: int) -> str:
    if done >= expected > 1:
        return "all have loaded their weights"
    return "1 has loaded its weights" if done == 1 else f"{done} have loaded their weights"


def took(verdict: Verdict, view: PhaseView) -> str:
    """Return how long a phase took, and what is to be said of one that has not ended; "" where it has no time."""
    if view.started <= 0:
        return ""
    open_so_far = "until it failed" if verdict.state == "failed" else "so far" if verdict.state != "stopped" else ""
    return f"{duration(view.seconds)} {'' if view.ended else open_so_far}".strip()


def is_going(verdict: Verdict) -> bool:
    """Say whether the start is still under way."""
    return verdict.state in ("starting", "slow", "stalled", "waiting", "unknown")


def identity(account: Account) -> list[str]:
    """Return what was started, in a few words each."""
    verdict = account.verdict
    told = [f"{verdict.engine or ''} {verdict.version or ''}".strip(), shorten(harmless(verdict.model or ""))]
    if verdict.draft_model:
        told.append(f"draft {shorten(harmless(verdict.draft_model))}")
    return [text for text in told if text]
