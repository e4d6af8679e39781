"""Who decides what is said of the whole start: the node that failed first, the one that stands still, or the head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bringup.core.fleet.part import SERVING, Part, head_of
from bringup.core.verdict import StateName

PROVEN = ("stopped", "uninterruptible", "zombie", "gone")
"""Shapes of a stall that a process proves; a node that only waits for another one shows none of them."""
_ECHOES = frozenset({"nccl", "peer-lost", "timeout", "comm-init", "watchdog", "killed", "unknown"})
"""Kinds of causes that the end of a peer on another node brings about, too."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is said, and whose word it is."""

    state: StateName
    head: Part
    decider: Part
    """The node whose sentence, phase and cause are taken."""
    blames: bool = False
    """That node is the culprit; the others wait for it or ended because of it."""


def decide(parts: tuple[Part, ...], now: float, place: Callable[[Part], int]) -> Decision:
    """Return the decision; `place` tells how far a node is, less being less far."""
    head = head_of(parts)
    ended = [part for part in parts if part.has_ended]
    proven = [part for part in parts if part.verdict.state == "stalled" and part.verdict.hang in PROVEN]
    serves = head.verdict.state in SERVING and not _is_ahead(head, parts)
    if ended or proven:
        culprit = min(ended, key=lambda part: (_weight(part), part.ended_at(now))) if ended else proven[0]
        end: StateName = _end(culprit, head, parts) if ended else "stalled"
        name: StateName = "degraded" if head.verdict.state in SERVING else end
        return Decision(name, head, culprit, blames=True)
    if serves:
        return Decision(head.verdict.state, head, head)
    stalled = [part for part in parts if part.verdict.state == "stalled"]
    working = [part for part in parts if part.is_working]
    if stalled and not working:
        return Decision("stalled", head, _held_up_by(parts, stalled, place), blames=True)
    if working:
        return _going(working, head, place)
    return _still(parts, head)


def _is_ahead(head: Part, parts: Sequence[Part]) -> bool:
    """Say whether the head's log alone says ready, its HTTP server may still be asked, and another node works on."""
    asked = head.state.http_ok_at is not None or any(channel == "http" for channel, _ in head.state.closed)
    return not asked and any(part.is_working for part in parts if part is not head)


def _weight(part: Part) -> int:
    """How little an end explains by itself: 0 a cause of its own, 1 what a lost peer also brings, 2 what says so."""
    cause = part.verdict.cause
    if part.verdict.state == "stopped" or cause is None:
        return 1
    return 2 if cause.secondary else 1 if cause.kind in _ECHOES else 0


def _end(culprit: Part, head: Part, parts: Sequence[Part]) -> StateName:
    """A worker that was ended from outside under a living head is a failure, as a lost rank of one host is."""
    if culprit.verdict.state == "failed":
        return "failed"
    others = [part for part in parts if part.is_known and part is not culprit]
    return "stopped" if culprit is head or all(part.verdict.state == "stopped" for part in others) else "failed"


def _held_up_by(parts: Sequence[Part], stalled: Sequence[Part], place: Callable[[Part], int]) -> Part:
    """All that run stand still: for the node where nothing runs, else for the one that is least far."""
    missing = [part for part in parts if part.verdict.state == "waiting"]
    return missing[0] if missing else min(stalled, key=place)


def _going(working: Sequence[Part], head: Part, place: Callable[[Part], int]) -> Decision:
    """The start is where its last node is; that one that is ahead is quiet meanwhile says nothing."""
    last = min(place(part) for part in working)
    here = [part for part in working if place(part) == last]
    slow = [part for part in here if part.verdict.state == "slow"]
    behind = len(here) < len(working)
    return Decision("slow" if slow else "starting", head, [*slow, *here][0], blames=behind)


def _still(parts: Sequence[Part], head: Part) -> Decision:
    if all(part.verdict.state == "standby" for part in parts):
        return Decision("standby", head, head)
    lost = next((part for part in parts if part.verdict.state == "unknown"), None)
    if lost is not None:
        return Decision("unknown", head, lost, blames=True)
    up = any(part.verdict.state == "standby" for part in parts)
    return Decision("starting" if up else "waiting", head, head, blames=up)
