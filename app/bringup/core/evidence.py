"""What the verdict rests on: short lines with numbers, each naming the channel it came from."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.causes import lost_ranks
from bringup.core.eta import current_bar, slowed_down
from bringup.core.liveness import jit_seconds
from bringup.core.phases import time_of
from bringup.core.ranks import find, name_of
from bringup.core.summary import Judged
from bringup.core.words import duration, names

MOST = 12
_BARRIER_S = 480.0
"""Seconds for which loaded ranks wait for the last one before they give up (SGLang 0.5.6 and later; 300 before)."""
_FULL = 95
"""Percent of utilisation that counts as full."""
_LOW_POWER = 0.35
"""Share of the power limit below which a busy GPU does not compute."""
_MISSING = {
    "log": "the log",
    "processes": "the processes",
    "maps": "the maps of the ranks",
    "gpus": "the GPUs",
    "http": "HTTP",
    "search": "the search for servers",
}


def evidence(judged: Judged) -> tuple[str, ...]:
    """Return the lines, most telling first."""
    lines = [
        *_end(judged),
        *_step(judged),
        *_bar(judged),
        *_ranks(judged),
        *_work(judged),
        *_hanging_gpus(judged),
        *_service(judged),
        *_closed(judged),
    ]
    return tuple(lines)[:MOST]


def _end(judged: Judged) -> Iterator[str]:
    if judged.outcome is None:
        return
    cause = judged.outcome.cause
    if cause is not None and cause.line_number:
        yield f"log line {cause.line_number}: {cause.line[:200]}"
    lost = lost_ranks(judged.state)
    # All of them go when one failed with an error: who went first tells something only where nobody said why.
    if lost and cause is not None and (cause.kind == "killed" or cause.secondary):
        went = names([name_of(judged.state.attempt, rank) for rank in lost])
        yield f"processes: {went} went first, and printed no error of {'its' if len(lost) == 1 else 'their'} own"
    if judged.state.gone_at is not None:
        yield "processes: the launcher has ended"
    if judged.state.orphans:
        yield f"processes: {len(judged.state.orphans)} of its children live on and may hold GPU memory"


def _step(judged: Judged) -> Iterator[str]:
    step, attempt = judged.where.step, judged.state.attempt
    if step is None or step.complete or len(step.expected) < 2 or judged.where.phase in ("warmup", "serving"):
        return
    late = names([name_of(attempt, rank) for rank in sorted(step.expected - step.begun)])
    if late:
        yield f"log: {len(step.begun)} of {len(step.expected)} ranks began {step.phase}; not {late}"
    if step.done:
        missing = names([name_of(attempt, rank) for rank in step.missing])
        yield f"log: {len(step.done & step.expected)} of {len(step.expected)} ranks ended {step.phase}; not {missing}"
    elif not late:
        yield f"log: all {len(step.expected)} ranks began {step.phase}, none has ended it"
    ends = [edge.ended for _, edge in step.edges if edge.ended is not None]
    waited = judged.now - min(ends) if ends else 0.0
    if step.phase == "weights" and attempt.engine == "sglang" and waited >= 60 and judged.outcome is None:
        left = _BARRIER_S - waited
        when = f"in {duration(left)}" if left > 0 else "about now"
        yield f"the first loaded rank has waited {duration(waited)}; the load barrier gives up after 480 s, {when}"


def _bar(judged: Judged) -> Iterator[str]:
    bar = current_bar(judged.state, judged.where)
    if bar is None or judged.where.phase in ("warmup", "serving"):
        return
    age = judged.now - bar.moved_at
    yield f"bar of rank 0: {bar.done} of {bar.total}, last step {duration(age)} ago"
    slower = slowed_down(bar)
    if slower is not None:
        yield f"bar of rank 0: {slower[0]:.1f} s a step now, {slower[1]:.2f} s before"


def _ranks(judged: Judged) -> Iterator[str]:
    mapped = [view for view in judged.ranks if view.source == "maps"]
    for view in sorted(mapped, key=lambda view: view.progress or 0.0)[:2]:
        yield f"maps: {name_of(judged.state.attempt, view.rank)} {view.note}{_rate(judged, view.rank)}"
    for view in [view for view in judged.ranks if view.trouble in ("stopped", "zombie", "gone")][:3]:
        yield f"processes: {name_of(judged.state.attempt, view.rank)} is {view.trouble}"


def _rate(judged: Judged, rank: int) -> str:
    """What it reads from storage; nothing where the page cache serves it."""
    known = find(judged.state.attempt, rank)
    rate = known.read_rate if known is not None else None
    if not rate or rate < 1e5:
        return ""
    return f", {rate / 1e9:.1f} GB/s from storage" if rate >= 1e9 else f", {rate / 1e6:.0f} MB/s from storage"


def _hanging_gpus(judged: Judged) -> Iterator[str]:
    """Full utilisation at low power is a kernel that waits for other ranks, not one that computes."""
    gpus = [gpu for gpu in judged.state.gpu.gpus if gpu.power is not None and gpu.power_limit]
    full = [gpu for gpu in gpus if (gpu.utilization or 0) >= _FULL]
    waiting = [gpu for gpu in full if (gpu.power or 0) < _LOW_POWER * (gpu.power_limit or 1)]
    if waiting and judged.name in ("stalled", "slow"):
        yield f"gpus: {len(waiting)} at full utilisation but low power, as ranks that wait in a collective"


def _work(judged: Judged) -> Iterator[str]:
    live = judged.live
    if judged.outcome is not None or judged.name in ("ready", "degraded", "standby", "waiting"):
        return
    if live.compilers:
        yield f"processes: {live.compilers} compilers at work"
    jit = jit_seconds(judged.state, judged.now)
    if jit is not None:
        what = names([name for name, _ in judged.state.attempt.compiling])
        yield f"log: compile of {what} announced {duration(jit)} ago"
    if live.quiet is not None and live.quiet >= 2:
        yield f"last sign of work: {live.channel}, {duration(live.quiet)} ago (patience {duration(live.patience)})"
    if live.busy and live.quiet is not None and live.quiet > live.slow_after:
        yield "processes: CPU is used, but waiting ranks spin too"


def _service(judged: Judged) -> Iterator[str]:
    state = judged.state
    ready = time_of(state.attempt, "ready")
    if ready is not None and judged.outcome is None:
        yield f"log: ready line {duration(judged.now - ready)} ago"
    if state.http is not None and judged.where.phase in ("warmup", "serving"):
        answer = f"HTTP {state.http.status}" if state.http.status is not None else state.http.error or "no answer"
        yield f"http: {state.http.path} answers {answer}"
    if judged.serving.accept_len is not None:
        yield f"log: accept length {judged.serving.accept_len:.2f} in the last decode line"
    yield from (f"port: {text}" for kind, text in judged.serving.warnings if kind == "port-conflict")


def _closed(judged: Judged) -> Iterator[str]:
    for channel, why in judged.state.closed:
        yield f"not available: {_MISSING.get(channel, channel)} ({why})"
