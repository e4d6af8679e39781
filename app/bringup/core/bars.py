"""Progress bars: whose they are and how they came to where they stand.

A bar names no rank, no model and no time. It belongs to rank 0 of its world and to the phase that rank 0 has open;
its number is what the loop has passed, not what is done (SGLang: files opened, not copied). Where several worlds draw
into one log, nobody can tell whose a bar is.
"""

from __future__ import annotations

from dataclasses import replace

from bringup.core.edges import has, open_edge
from bringup.core.events import Bar, Phase, Role
from bringup.core.ranks import draft_possible, expected_ranks, find, put, rank_of, world_size, worlds
from bringup.core.state import Attempt, BarState, Edge, Rank

STEPS = 64
"""Advances remembered per bar: enough for a rate, small enough for a bar of 16384 steps."""
_MOST_BARS = 24
_PHASES: dict[str, Phase] = {
    "shards": "weights",
    "graphs": "graphs",
    "compile": "compile",
    "autotune": "compile",
    "download": "download",
}


def draw(attempt: Attempt, event: Bar) -> Attempt:
    """Return the attempt after a bar was drawn; unchanged where the bar says nothing that is not known."""
    if event.total <= 0 or not 0 <= event.done <= event.total:
        return attempt
    if not attempt.bars and attempt.left_open == (event.kind, event.done, event.total):
        # Killed in the middle of its bar; the first line of the next server in the same file ends that line.
        return attempt
    owner, leader = _drawer(attempt, event)
    attempt, edge = _phase_of(attempt, event, leader)
    old = next((bar for bar in attempt.bars if _is_of(bar, event.kind, edge, owner)), None)
    if old is not None and owner is None:
        new = _among_several(old, event)
    elif old is None or _is_other(old, event):
        new = _start(event, edge, owner, old)
    else:
        new = _advance(old, event)
    if new is old:
        return attempt
    others = tuple(bar for bar in attempt.bars if bar is not old)
    return replace(attempt, bars=(*others, new)[-_MOST_BARS:])


def date(attempt: Attempt, at: float) -> Attempt:
    """Return the attempt with the time of its newest bar, where that was not known and is now."""
    newest = attempt.bars[-1] if attempt.bars else None
    if newest is None or newest.dated:
        return attempt
    dated = replace(newest, drawn_at=at, moved_at=at, dated=True)
    return replace(attempt, bars=(*attempt.bars[:-1], dated))


def bar_of(
    attempt: Attempt, phase: Phase, role: Role, part: str | None = None, owner: int | None = None
) -> BarState | None:
    """Return the newest bar of a phase of one model (of the shards or the captures, not of a compile inside).

    Without an owner it is the first rank's. A bar of which nobody can tell whose it is, is never returned.
    """
    found = [
        bar
        for bar in reversed(attempt.bars)
        if bar.phase == phase
        and bar.role == role
        and part in (None, bar.part)
        and bar.kind != "autotune"
        and bar.owner is not None
        and owner in (None, bar.owner)
    ]
    return min(found, key=lambda bar: bar.owner or 0, default=None)


def _drawer(attempt: Attempt, event: Bar) -> tuple[int | None, int]:
    """The rank that draws a bar, or None where several do; and a rank whose phase it tells.

    A bar's own label decides (vLLM to 0.30). Else it is drawn by the first rank of a world; of the captures by the
    first of each tensor-parallel group, so by every pipeline stage (SGLang, all versions); some loaders let every rank
    draw one (fastsafetensors).
    """
    own = rank_of(attempt, event.labels) if event.labels else None
    if own is not None:
        return own, own
    every = world_size(attempt) // worlds(attempt)
    if event.everyone:
        every = 1
    elif event.kind == "graphs" and attempt.engine == "sglang":
        every = attempt.tp
    local = expected_ranks(attempt) if attempt.launched else None
    first = local[0] if local else 0
    if event.kind in ("compile", "autotune", "download"):
        return first, first
    drawing = [rank for rank in local or () if rank % max(1, every) == 0]
    if len(drawing) > 1:
        return None, drawing[0]
    leader = drawing[0] if drawing else 0
    return leader, leader


def _phase_of(attempt: Attempt, event: Bar, leader: int) -> tuple[Attempt, Edge]:
    """The phase that the bar belongs to; a bar proves that its rank is in it, even without a begin line."""
    phase = _PHASES[event.kind]
    edges = (rank.edges if (rank := find(attempt, leader)) else ()) or attempt.main
    edge = open_edge(edges, phase)
    if edge is not None:
        return attempt, edge
    if phase in ("compile", "download"):
        return attempt, Edge(phase, _role_now(edges), began=event.at)
    ended = [known for known in edges if known.phase == phase]
    if ended and (phase == "graphs" or not draft_possible(attempt) or event.done == event.total):
        return attempt, ended[-1]
    role: Role = "draft" if ended else "target"
    if has(edges, phase, role) or (rank is None and attempt.ranks and attempt.ranks[0].rank > leader):
        return attempt, Edge(phase, role, began=event.at)
    known = rank or Rank(leader)
    edge = Edge(phase, role, began=event.at)
    return replace(attempt, ranks=put(attempt.ranks, replace(known, edges=(*known.edges, edge)))), edge


def _role_now(edges: tuple[Edge, ...]) -> Role:
    edge = open_edge(edges)
    if edge is not None:
        return edge.role
    return edges[-1].role if edges else "target"


def _is_of(bar: BarState, kind: str, edge: Edge, owner: int | None) -> bool:
    known = (bar.kind, bar.phase, bar.role, bar.part, bar.owner)
    return known == (kind, edge.phase, edge.role, edge.part, owner)


def _is_other(old: BarState, event: Bar) -> bool:
    """Another bar of the same phase: a smaller count, or another total that is not just cut short."""
    if event.done < old.done:
        return True
    return event.total != old.total and not event.provisional and not old.provisional


def _among_several(old: BarState, event: Bar) -> BarState:
    """One of several bars that cannot be told apart: somebody went on, and the furthest of them is that far."""
    done, total = max(old.done, event.done), max(old.total, event.total)
    return replace(old, done=done, total=total, drawn_at=event.at, moved_at=event.at, dated=_is_timed(event))


def _start(event: Bar, edge: Edge, owner: int | None, old: BarState | None) -> BarState:
    same_phase = old is not None and edge.began is not None and old.drawn_at >= edge.began
    return BarState(
        kind=event.kind,
        phase=edge.phase,
        role=edge.role,
        part=edge.part,
        done=event.done,
        total=event.total,
        title=event.title,
        drawn_at=event.at,
        moved_at=event.at,
        dated=_is_timed(event),
        steps=((event.at, event.done),) if _is_timed(event) else (),
        provisional=event.provisional,
        owner=owner,
        files=event.files,
        floor=max(old.floor, old.done / old.total) if old is not None and same_phase else 0.0,
    )


def _advance(old: BarState, event: Bar) -> BarState:
    """The same bar, further on; of an unfinished tail only the count is certain, its total may be cut short."""
    moved = event.done > old.done
    total = old.total if event.provisional and not old.provisional else event.total
    return replace(
        old,
        done=event.done,
        total=max(total, event.done),
        title=event.title or old.title,
        drawn_at=event.at,
        moved_at=event.at if moved else old.moved_at,
        dated=_is_timed(event) if moved else old.dated,
        steps=_steps(old, event) if moved and _is_timed(event) else old.steps,
        provisional=event.provisional and old.provisional,
    )


def _is_timed(event: Bar) -> bool:
    """A bar carries no time: of one that was in the file already, only that of an earlier line is known."""
    return event.at > 0 and event.at != event.stamp


def _steps(old: BarState, event: Bar) -> tuple[tuple[float, int], ...]:
    """The steps with one more; what came in one chunk came at one time and is one step."""
    earlier = old.steps[:-1] if old.steps and old.steps[-1][0] == event.at else old.steps
    return (*earlier, (event.at, event.done))[-STEPS:]
