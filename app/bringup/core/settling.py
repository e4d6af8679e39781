"""Lines that speak for all ranks: what an engine core proves of workers that print nothing themselves.

vLLM's engine core starts its workers, waits until every one of them has loaded, and then has all of them make each step
together. From 0.12 on most lines of the workers come from the first one alone (`info_once`, scope "local"), so that the
others are known by what the engine core could not have done without them.
"""

from __future__ import annotations

from dataclasses import replace

from bringup.core.events import Labels, Phase, PhaseBegan, PhaseEnded, Reached, Role
from bringup.core.ranks import ENGINE, find, has_draft, put
from bringup.core.state import Attempt, Edge, Rank

_LOADED: tuple[Phase, ...] = ("launch", "download", "distributed", "weights")
"""What every rank has behind it when any rank of its engine goes on."""
_ORDER: tuple[Phase, ...] = (*_LOADED, "compile", "kv-cache", "graphs")

Key = tuple[Phase, Role, str]
_MOST = 64


def settle(attempt: Attempt, event: PhaseBegan | PhaseEnded | Reached) -> Attempt:
    """Return the attempt with the phases ended that a line for all ranks proves to be over."""
    keys = _proven(attempt, event)
    replica = dict(event.labels).get(ENGINE) if attempt.dp > 1 else None
    known = (*attempt.proven, *((replica, *key) for key in keys))
    attempt = replace(attempt, proven=tuple(dict.fromkeys(known))[-_MOST:])
    over = _over(event)
    ranks = tuple(
        _settled(rank, keys, over, event.at) if _is_meant(attempt, rank, event.labels) else rank
        for rank in attempt.ranks
    )
    same = all(new is old for new, old in zip(ranks, attempt.ranks, strict=True))
    return attempt if same else replace(attempt, ranks=ranks)


def catch_up(attempt: Attempt, number: int, at: float) -> Attempt:
    """Return the attempt after a rank spoke, perhaps late, of what was proven to be over on all ranks."""
    rank = find(attempt, number)
    if rank is None or not attempt.proven:
        return attempt
    replica = number // max(1, attempt.tp * attempt.pp)
    over = {(phase, role, part) for place, phase, role, part in attempt.proven if place in (None, replica)}
    edges = tuple(
        replace(edge, ended=at) if edge.ended is None and (edge.phase, edge.role, edge.part) in over else edge
        for edge in rank.edges
    )
    if all(new is old for new, old in zip(edges, rank.edges, strict=True)):
        return attempt
    return replace(attempt, ranks=put(attempt.ranks, replace(rank, edges=edges)))


def _proven(attempt: Attempt, event: PhaseBegan | PhaseEnded | Reached) -> tuple[Key, ...]:
    """The phases that are over on all ranks."""
    known = dict.fromkeys((edge.phase, edge.role, edge.part) for rank in attempt.ranks for edge in rank.edges)
    if isinstance(event, Reached):
        return tuple(known)
    if event.phase == "distributed":
        return (("distributed", "target", ""),) if isinstance(event, PhaseEnded) else ()
    keys = [key for key in known if key[0] in _LOADED]
    keys.append(("weights", "target", ""))
    if has_draft(attempt):
        keys.append(("weights", "draft", ""))
    if isinstance(event, PhaseEnded):
        keys.append((event.phase, event.role or "target", event.part))
    return tuple(dict.fromkeys(keys))


def _over(event: PhaseBegan | PhaseEnded | Reached) -> tuple[Phase, ...]:
    """The phases that no rank can still be in."""
    if isinstance(event, Reached) or event.phase not in _ORDER:
        return _ORDER
    return _ORDER[: _ORDER.index(event.phase) + isinstance(event, PhaseEnded)]


def _settled(rank: Rank, keys: tuple[Key, ...], over: tuple[Phase, ...], at: float) -> Rank:
    """Return a rank with the proven phases ended, whether or not it said that it began them."""
    edges = tuple(replace(edge, ended=at) if edge.ended is None and edge.phase in over else edge for edge in rank.edges)
    had = {(edge.phase, edge.role, edge.part) for edge in rank.edges}
    added = tuple(Edge(*key, ended=at) for key in keys if key not in had)
    if not added and all(new is old for new, old in zip(edges, rank.edges, strict=True)):
        return rank
    return replace(rank, edges=(*(edge for edge in added if edge.phase in _LOADED), *edges, *_later(added)))


def _later(added: tuple[Edge, ...]) -> tuple[Edge, ...]:
    return tuple(edge for edge in added if edge.phase not in _LOADED)


def _is_meant(attempt: Attempt, rank: Rank, labels: Labels) -> bool:
    """The ranks of the engine that speaks: with data parallelism every replica has an engine core of its own."""
    replica = dict(labels).get(ENGINE)
    if replica is None or attempt.dp <= 1:
        return True
    return rank.rank // max(1, attempt.tp * attempt.pp) == replica
