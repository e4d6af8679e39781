"""One start on several hosts: the nodes' own verdicts in, one verdict out; pure, as `assess` is for one host.

The head node's readiness counts (only it has the HTTP server). A node that fails, stands still or is gone decides for
all; what the others say afterwards (a lost peer, a time limit of NCCL) is a consequence of it. A node that stands still
while another one works waits for that one.
"""

from __future__ import annotations

from dataclasses import replace

from bringup.core.fleet.decision import Decision, decide
from bringup.core.fleet.part import Part as Part
from bringup.core.fleet.part import head_of as head_of
from bringup.core.fleet.views import (
    Layout,
    are_apart,
    joined_channels,
    joined_done,
    joined_phases,
    joined_ranks,
    joined_warnings,
    layout,
    place_in,
    waiting_for,
)
from bringup.core.fleet.words import sentence
from bringup.core.policy import Policy
from bringup.core.verdict import Cause, PhaseView, RankView, Verdict


def join(parts: tuple[Part, ...], now: float, policy: Policy) -> Verdict:
    """Return the verdict about all nodes at a moment of the head's clock; of one node, its own."""
    if len(parts) == 1:
        return parts[0].verdict
    phases = joined_phases(parts, now)
    decision = decide(parts, now, lambda part: place_in(phases, part))
    known = layout(parts, decision.head)
    ranks = joined_ranks(parts, known)
    if decision.blames and decision.state != "stopped":
        ranks = waiting_for(ranks, decision.decider.node)
    return _verdict(parts, decision, known, ranks, phases, now, policy)


def decider(parts: tuple[Part, ...], now: float) -> Part:
    """Return the node whose word the joint verdict is."""
    phases = joined_phases(parts, now)
    return decide(parts, now, lambda part: place_in(phases, part)).decider


def _verdict(
    parts: tuple[Part, ...],
    decision: Decision,
    known: Layout,
    ranks: tuple[RankView, ...],
    phases: tuple[PhaseView, ...],
    now: float,
    policy: Policy,
) -> Verdict:
    head, own = decision.head.verdict, decision.decider.verdict
    ends = decision.state in ("failed", "stalled", "stopped", "degraded")
    limits = [part.verdict.countdown for part in parts if part.verdict.countdown is not None]
    at = own if decision.decider.is_known else head
    eta = _eta(parts) if decision.state in ("starting", "slow") else None
    return replace(
        _of_head(at, head, own),
        state=decision.state,
        summary=sentence(decision, parts, ranks),
        now=now,
        stale_s=max((part.verdict.stale_s for part in parts if part.verdict.stale_s is not None), default=None),
        ranks_expected=known.total or _expected(parts),
        ranks_done=joined_done(parts, at.role),
        ranks=ranks,
        bar=head.bar if head.phase == at.phase else None,
        phases=phases,
        eta_s=eta,
        eta_basis=_basis(parts, eta, head.eta_basis),
        failed_ranks=own.failed_ranks if ends else (),
        cause=_cause(decision, policy) if ends else None,
        warnings=joined_warnings(parts),
        evidence=_evidence(parts),
        since=min((part.on_clock(part.verdict.since, now) for part in parts if part.verdict.since), default=None),
        channels=joined_channels(parts),
        countdown=min(limits, key=lambda limit: limit.left_s, default=None),
    )


def _of_head(at: Verdict, head: Verdict, own: Verdict) -> Verdict:
    """Return a verdict with what the head tells of the whole server."""
    return replace(
        at,
        engine=_first(head.engine, own.engine),
        version=_first(head.version, own.version),
        attempt=head.attempt,
        model=_first(head.model, own.model),
        draft_model=_first(head.draft_model, own.draft_model),
        port=head.port,
        accept_len=head.accept_len,
        ghosts=head.ghosts,
    )


def _first(one: str | None, other: str | None) -> str | None:
    return one if one is not None else other


def _expected(parts: tuple[Part, ...]) -> int | None:
    counts = [part.verdict.ranks_expected for part in parts]
    return sum(number for number in counts if number is not None) if None not in counts else None


def _eta(parts: tuple[Part, ...]) -> tuple[float, float] | None:
    """The slowest of those that can tell."""
    known = [part.verdict.eta_s for part in parts if part.is_working and part.verdict.eta_s is not None]
    return (max(low for low, _ in known), max(high for _, high in known)) if known else None


def _basis(parts: tuple[Part, ...], eta: tuple[float, float] | None, otherwise: str) -> str:
    for part in parts:
        if eta is not None and part.verdict.eta_s is not None and part.verdict.eta_s[1] == eta[1]:
            return f"{part.node}: {part.verdict.eta_basis}"
    return otherwise


def _cause(decision: Decision, policy: Policy) -> Cause | None:
    """The culprit's own cause with its node; where even that speaks of a peer, nobody who is seen explains it."""
    culprit = decision.decider
    cause = culprit.verdict.cause
    if cause is not None:
        return replace(cause, node=culprit.node)
    if decision.state != "stalled":
        return None
    kind = "comm-init" if not culprit.is_known else "unknown"
    text = f"no server runs on {culprit.node}" if not culprit.is_known else f"{culprit.node} does not go on"
    advice = policy.advice.get(kind, "") or policy.advice.get("unknown", "")
    return Cause(kind, text, None, None, secondary=False, advice=advice, channel="processes", node=culprit.node)


def _evidence(parts: tuple[Part, ...]) -> tuple[str, ...]:
    told = [f"{part.node}: {line}" for part in parts for line in part.verdict.evidence]
    if are_apart(parts):
        told.insert(
            0, "the nodes run servers of their own: several of them have the same ranks (--nnodes, --node-rank)"
        )
    return tuple(told)
