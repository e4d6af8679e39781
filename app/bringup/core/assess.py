"""The judgement: a state and a moment in, the verdict out. The same for screen, status, wait, explain and replay.

The rules in their order: an end (failed, stopped), nothing there (waiting, unknown), serving (ready, degraded),
a worker node (standby), no evidence of work (stalled), work that is behind (slow), and otherwise starting.
"""

from __future__ import annotations

from dataclasses import replace

from bringup.core.agreement import is_worker
from bringup.core.arrival import without_newcomers
from bringup.core.causes import Outcome, outcome, suspect
from bringup.core.channel_views import channel_views
from bringup.core.checkpoints import checkpoint_warnings
from bringup.core.countdowns import countdown
from bringup.core.eta import Foretold, current_bar, estimate
from bringup.core.evidence import evidence
from bringup.core.hangs import shape_of
from bringup.core.liveness import (
    Liveness,
    enough_watched,
    is_unheard,
    jit_seconds,
    judged_at,
    liveness,
    phase_patience,
)
from bringup.core.notices import full_disk, log_warnings, tight_memory
from bringup.core.pace import slowed_down
from bringup.core.phases import Position, done_ranks, position, time_of, timeline
from bringup.core.policy import Policy
from bringup.core.preflight import preflight
from bringup.core.ranks import expected_ranks, has_draft
from bringup.core.serving import Serving, answers_well, serving
from bringup.core.state import Attempt, State
from bringup.core.stragglers import mark
from bringup.core.succession import kept
from bringup.core.summary import Judged, summarise
from bringup.core.verdict import Advisory, Cause, RankView, StateName, Verdict
from bringup.core.views import in_the_past, rank_views
from bringup.core.whose import is_earlier, without_later

_YOUNG = 180.0
"""Seconds after its start in which a process may not have printed its arguments yet."""
_FROZEN = 3.0
"""Times `stale_after` without a sample of the processes until it is said in so many words."""


def assess(state: State, now: float, policy: Policy) -> Verdict:
    """Return the verdict about a state at a moment (epoch seconds on the watched host's clock)."""
    state, later = without_later(_of_this_process(state, now))
    if policy.ranks:
        state = replace(state, attempt=replace(state.attempt, told_ranks=policy.ranks))
    where = position(state)
    state = without_newcomers(state, enough_watched(phase_patience(state, where, policy), policy))
    live = liveness(state, where, now, policy)
    served = serving(state, now, policy, live.stopped)
    if served.ready and where.phase not in (None, "serving"):
        where = replace(where, phase="serving", role=None, step=None)
    end = outcome(state, policy)
    ranks = mark(state.attempt, rank_views(state, where, now, policy), where.step, now)
    name = _name(state, where, live, served, end, ranks, now)
    going = name in ("starting", "slow")
    foretold = estimate(state, where, now, policy) if going else Foretold()
    if name in ("failed", "stopped"):
        ranks = in_the_past(ranks)
    judged = Judged(state, name, where, now, live, served, end, ranks, foretold.eta, foretold.why_not)
    limit = countdown(state, where, now, policy) if going or name == "stalled" else None
    shape = shape_of(state, where, live, end, name, judged_at(state, now, policy), policy)
    return _verdict(replace(judged, countdown=limit, shape=shape, later=later), policy)


def _name(
    state: State,
    where: Position,
    live: Liveness,
    served: Serving,
    end: Outcome | None,
    ranks: tuple[RankView, ...],
    now: float,
) -> StateName:
    if end is not None:
        return end.state
    if not _seen(state):
        return "unknown" if state.link.status in ("lost", "refused") else "waiting"
    if served.ready and _is_nobodys(state):
        return "unknown"
    if served.ready:
        return "degraded" if served.troubles else "ready"
    if _is_standby(state, where, live):
        return "standby"
    held = bool(live.stopped or live.stuck or live.launcher is not None)
    if live.stalled and (where.phase != "serving" or served.doubt) and (held or not answers_well(state)):
        return "stalled"
    if any(view.straggler for view in ranks) or live.held or live.silent or _far_slower(state, where, live, now):
        return "slow"
    if served.doubt and served.since is not None and now - served.since > live.slow_after:
        return "slow"
    return "starting"


def _seen(state: State) -> bool:
    attempt = state.attempt
    known = attempt.launched or attempt.ranks or attempt.main or attempt.engine or attempt.reached
    return bool(known or state.server is not None)


def _is_nobodys(state: State) -> bool:
    """The log tells of a server that was ready, and the search for its process has found none."""
    return state.server is None and bool(state.seeks) and state.http_ok_at is None


def _is_standby(state: State, where: Position, live: Liveness) -> bool:
    """A worker node is up when it says so, or when its ranks have allocated their caches and nothing is left open."""
    attempt = state.attempt
    if not is_worker(state) or not all(step.complete for step in where.steps):
        return False
    # A vLLM worker that captures nothing (--enforce-eager) prints nothing after its weights.
    last = ("kv-cache", "graphs", "weights") if attempt.engine == "vllm" else ("kv-cache", "graphs")
    allocated = any(step.phase in last for step in where.steps)
    said_so = time_of(attempt, "node-up") is not None or state.http_ok_at is not None
    return said_so or (allocated and live.silent)


def _far_slower(state: State, where: Position, live: Liveness, now: float) -> bool:
    bar = current_bar(state, where)
    is_open = bar is not None and bar.done < bar.total and where.step is not None and not where.step.complete
    if bar is not None and is_open and slowed_down(bar) is not None:
        return True
    jit = jit_seconds(state, now)
    return jit is not None and jit > live.slow_after


def _of_this_process(state: State, now: float) -> State:
    """A young process on an old log: what the log tells is of the launch before, this one has not said anything yet."""
    server, attempt = state.server, state.attempt
    if server is None or now - server.started_at > _YOUNG or not is_earlier(state, server, now):
        return state
    fresh = Attempt(
        number=attempt.number + 1,
        engine=server.engine or attempt.engine,
        model=server.model or None,
        draft_model=server.draft_model or None,
        algorithm=server.algorithm,
        port=server.port,
        began_at=server.started_at,
    )
    return replace(state, attempt=fresh, earlier=kept(state.earlier, attempt))


def _verdict(judged: Judged, policy: Policy) -> Verdict:
    state, attempt, where = judged.state, judged.state.attempt, judged.where
    expected = expected_ranks(attempt)
    bar = current_bar(state, where) if where.phase not in ("warmup", "serving") else None
    return Verdict(
        state=judged.name,
        phase=None if judged.name == "waiting" else where.phase,
        role=where.role,
        summary=summarise(judged),
        engine=attempt.engine,
        version=attempt.version,
        attempt=attempt.number,
        model=attempt.model,
        draft_model=attempt.draft_model if has_draft(attempt) else None,
        port=attempt.port,
        now=judged.now,
        stale_s=_stale(state, judged.now, policy),
        ranks_expected=len(expected) if expected is not None else None,
        ranks_done=done_ranks(attempt, where.role),
        ranks=judged.ranks,
        bar=(bar.done, bar.total) if bar is not None else None,
        phases=timeline(state, where, _last_moment(judged)),
        eta_s=(judged.eta.low, judged.eta.high) if judged.eta is not None else None,
        eta_basis=judged.eta.basis if judged.eta is not None else judged.no_eta,
        failed_ranks=_failed_ranks(judged),
        cause=_cause(judged, policy),
        warnings=_warnings(judged, policy),
        evidence=evidence(judged),
        accept_len=judged.serving.accept_len,
        since=attempt.began_at,
        ghosts=tuple((key, took[-1]) for key, took in policy.history.items() if took),
        channels=channel_views(state, where, judged.now, policy),
        countdown=judged.countdown,
        hang=judged.shape.name,
    )


def _last_moment(judged: Judged) -> float:
    """Until when a phase without an end lasted: no phase goes on when the start is over, whatever ranks live on."""
    if judged.state.gone_at is not None:
        return min(judged.now, judged.state.gone_at)
    if judged.name not in ("failed", "stopped"):
        return judged.now
    ends = (judged.state.last_loss, judged.state.attempt.last_line_at)
    return min(judged.now, max((at for at in ends if at is not None), default=judged.now))


def _failed_ranks(judged: Judged) -> tuple[int, ...]:
    """The ranks of the cause; of a proven stall those that do not go on."""
    if judged.outcome is not None:
        return judged.outcome.failed_ranks
    return judged.shape.ranks if judged.name == "stalled" and judged.shape.proven else ()


def _cause(judged: Judged, policy: Policy) -> Cause | None:
    if judged.outcome is not None:
        return judged.outcome.cause
    return suspect(judged.state, policy) if judged.name == "stalled" else None


def _warnings(judged: Judged, policy: Policy) -> tuple[Advisory, ...]:
    found = [
        *log_warnings(judged.state),
        *full_disk(judged.state),
        *tight_memory(judged.state),
        *judged.serving.warnings,
    ]
    found += preflight(judged.state, judged.name, judged.where.phase)
    found += checkpoint_warnings(judged.state, judged.now, policy)
    found += [("channel-missing", f"{channel}: {why}") for channel, why in judged.state.closed]
    found += _frozen(judged, policy)
    return tuple(
        Advisory(kind, detail, policy.advice.get(f"warning:{kind}", "")) for kind, detail in dict.fromkeys(found)
    )


def _frozen(judged: Judged, policy: Policy) -> list[tuple[str, str]]:
    """That samples do not come any more, though the host is connected: what is shown of the processes is old."""
    state = judged.state
    if state.sampled_at is None or state.gone_at is not None or not is_unheard(state, judged.now, policy):
        return []
    age = judged.now - state.sampled_at
    if age <= _FROZEN * policy.stale_after or state.link.status == "lost":
        return []
    return [("channel-missing", f"processes: no sample for {age:.0f} s")]


def _stale(state: State, now: float, policy: Policy) -> float | None:
    """Seconds without any sign of the host; None where it is fresh, or where nothing samples it.

    Samples that stop while other channels speak are told by a warning of their own.
    """
    if state.sampled_at is None:
        return None
    signs = [state.sampled_at, state.log.grew_at, state.gpu.seen_at]
    age = now - max(at for at in signs if at is not None)
    return age if age > policy.stale_after else None
