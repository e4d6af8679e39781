"""A rank's own log lines as edges: which phase of which model began and ended on it.

The lines of target and draft read the same and the order of the phases changed with SGLang 0.5.14, so nothing here
depends on the order: per rank the first load is the target's and the second the draft's (where there can be one), and
the class in a load's end line corrects that.
"""

from __future__ import annotations

from dataclasses import replace

from bringup.core.events import Phase, PhaseBegan, PhaseEnded, Role
from bringup.core.ranks import draft_possible, is_draft_class
from bringup.core.state import Attempt, Edge

TWICE: tuple[Phase, ...] = ("weights", "kv-cache", "graphs")
"""Phases that a draft model goes through too."""
_MOST_EDGES = 64


def open_edge(edges: tuple[Edge, ...], phase: Phase | None = None) -> Edge | None:
    """Return the newest edge that began and has not ended, of `phase` or of any."""
    for edge in reversed(edges):
        if edge.began is not None and edge.ended is None and phase in (None, edge.phase):
            return edge
    return None


def has(edges: tuple[Edge, ...], phase: Phase, role: Role | None = None) -> bool:
    """Say whether a phase was ever entered."""
    return any(edge.phase == phase and role in (None, edge.role) for edge in edges)


def begin(attempt: Attempt, edges: tuple[Edge, ...], event: PhaseBegan) -> tuple[Edge, ...]:
    """Return the edges after a begin line; unchanged where it tells nothing new."""
    if _is_echo(edges, event.phase):
        return edges
    role = event.role or _role_of_begin(attempt, edges, event)
    key = (event.phase, role, event.part)
    old = _find(edges, key)
    if old is not None:
        again = event.phase == "graphs" and edges[-1] is old and old.ended is not None
        return _swap(edges, old, replace(old, ended=None, seconds=None)) if again else edges
    if len(edges) >= _MOST_EDGES:
        return edges
    inside = event.phase == "compile" and open_edge(edges, "graphs") is not None
    closed = edges if inside else _close_open(edges, event.at)
    return (*closed, Edge(event.phase, role, event.part, began=event.at))


def end(attempt: Attempt, edges: tuple[Edge, ...], event: PhaseEnded) -> tuple[Edge, ...]:
    """Return the edges after an end line; the begin may be missing where the log was cut."""
    if _is_echo(edges, event.phase):
        return edges
    if event.again and has(edges, event.phase) and open_edge(edges, event.phase) is None:
        return edges
    named = event.role or ("draft" if is_draft_class(event.model_class) else None)
    old = _match(edges, event, named)
    if old is not None:
        role = named if named and not _find(edges, (event.phase, named, old.part)) else old.role
        return _swap(edges, old, replace(old, role=role, ended=event.at, seconds=event.seconds))
    role = named or _role_of_end(attempt, edges, event)
    done = _find(edges, (event.phase, role, event.part))
    if done is not None or len(edges) >= _MOST_EDGES:
        return edges
    began = event.at - event.seconds if event.seconds is not None else None
    return (
        *_close_open(edges, event.at),
        Edge(event.phase, role, event.part, began=began, ended=event.at, seconds=event.seconds),
    )


def _is_echo(edges: tuple[Edge, ...], phase: Phase) -> bool:
    """The draft's runner prints the distributed lines again (SGLang to 0.5.20): no phase of its own, and none back."""
    return phase in ("launch", "download", "distributed") and has(edges, "weights")


def _role_of_begin(attempt: Attempt, edges: tuple[Edge, ...], event: PhaseBegan) -> Role:
    if event.phase not in TWICE or not draft_possible(attempt):
        return "target"
    same = [edge for edge in edges if edge.phase == event.phase and edge.part in ("", event.part)]
    if any(edge.role == "target" and edge.ended is not None for edge in same):
        return "draft"
    if event.phase == "weights" and same:
        return "draft"
    return "target"


def _role_of_end(attempt: Attempt, edges: tuple[Edge, ...], event: PhaseEnded) -> Role:
    target = _find(edges, (event.phase, "target", event.part))
    twice = event.phase in TWICE and draft_possible(attempt)
    return "draft" if twice and target is not None and target.ended is not None else "target"


def _match(edges: tuple[Edge, ...], event: PhaseEnded, role: Role | None) -> Edge | None:
    """The open edge that an end line closes: of the same model and part where the line names them."""
    fitting = [
        edge
        for edge in edges
        if edge.phase == event.phase and edge.ended is None and (not event.part or edge.part in ("", event.part))
    ]
    exact = [edge for edge in fitting if role in (None, edge.role)]
    if exact:
        return exact[-1]
    return fitting[-1] if fitting and event.role is None else None


def _find(edges: tuple[Edge, ...], key: tuple[Phase, Role, str]) -> Edge | None:
    return next((edge for edge in edges if (edge.phase, edge.role, edge.part) == key), None)


def _swap(edges: tuple[Edge, ...], old: Edge, new: Edge) -> tuple[Edge, ...]:
    return tuple(new if edge is old else edge for edge in edges)


def _close_open(edges: tuple[Edge, ...], at: float) -> tuple[Edge, ...]:
    """A rank does one thing at a time: what it begins ends what was open, even if the end line was lost."""
    return tuple(replace(edge, ended=at) if edge.began is not None and edge.ended is None else edge for edge in edges)
