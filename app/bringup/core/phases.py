"""The phases over all ranks: which step the launch is at, who has done it, who has not.

A step is one phase of one model (and one capture within it). The order of the steps is the one in which this launch
entered them, because it changed between versions; a step that only some ranks print (draft captures from SGLang 0.5.12
on) asks nothing of the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Phase, Role
from bringup.core.ranks import expected_ranks, has_draft
from bringup.core.state import Attempt, Edge, State
from bringup.core.verdict import PhaseView


@dataclass(frozen=True, slots=True)
class Step:
    """One phase of one model over all ranks."""

    phase: Phase
    role: Role
    part: str
    edges: tuple[tuple[int, Edge], ...]
    """(rank, its edge), in order of the ranks."""
    expected: frozenset[int]
    started: float
    passed: bool
    """A later step has begun, and nobody has this one open."""

    @property
    def done(self) -> frozenset[int]:
        """Ranks whose own end line was seen."""
        return frozenset(rank for rank, edge in self.edges if edge.ended is not None)

    @property
    def begun(self) -> frozenset[int]:
        """Ranks that entered the step."""
        return frozenset(rank for rank, _ in self.edges)

    @property
    def missing(self) -> tuple[int, ...]:
        """Expected ranks that have not ended it."""
        return tuple(sorted(self.expected - self.done))

    @property
    def complete(self) -> bool:
        """Nobody is left to wait for."""
        return not self.missing or self.passed

    @property
    def ended(self) -> float | None:
        """When the last rank ended it, or None while it is not complete."""
        ends = [edge.ended for _, edge in self.edges if edge.ended is not None]
        return max(ends) if self.complete and ends else None

    def edge(self, rank: int) -> Edge | None:
        """Return a rank's edge in this step."""
        return next((edge for number, edge in self.edges if number == rank), None)


@dataclass(frozen=True, slots=True)
class Position:
    """Where the launch is."""

    phase: Phase | None
    role: Role | None
    step: Step | None
    steps: tuple[Step, ...]


def time_of(attempt: Attempt, *milestones: str) -> float | None:
    """Return when the first of the named milestones was reached.

    A bind error takes "ready" back: the line then speaks of another server on the same port.
    """
    vetoed = any(line.vetoes_ready for line in attempt.faults)
    return min(
        (at for name, at in attempt.reached if name in milestones and not (vetoed and name == "ready")), default=None
    )


def all_steps(attempt: Attempt) -> tuple[Step, ...]:
    """Return the steps of all ranks in the order in which they were entered."""
    found: dict[tuple[Phase, Role, str], list[tuple[int, Edge]]] = {}
    for rank in attempt.ranks:
        for edge in rank.edges:
            found.setdefault((edge.phase, edge.role, edge.part), []).append((rank.rank, edge))
    everyone = expected_ranks(attempt)
    all_ranks = frozenset(everyone if everyone is not None else (rank.rank for rank in attempt.ranks))
    ordered = sorted(found.items(), key=lambda item: min(_start(edge) for _, edge in item[1]))
    latest = {rank.rank: len(rank.edges) for rank in attempt.ranks}
    steps: list[Step] = []
    for (phase, role, part), edges in ordered:
        is_open = any(edge.ended is None for _, edge in edges)
        moved_on = any(_index(attempt, rank, edge) < latest[rank] - 1 for rank, edge in edges)
        spoke = frozenset(rank for rank, _ in edges)
        expected = spoke if _is_partial(attempt, phase, role, spoke) else all_ranks
        started = min(_start(edge) for _, edge in edges)
        steps.append(Step(phase, role, part, tuple(edges), expected, started, moved_on and not is_open))
    return tuple(steps)


def position(state: State) -> Position:
    """Return the phase the launch is in: the one that the last rank has not left."""
    attempt = state.attempt
    steps = all_steps(attempt)
    if attempt.engine == "router":
        return Position(None, None, None, ())
    if time_of(attempt, "ready") is not None:
        return Position("serving", None, None, steps)
    current = next((step for step in steps if not step.complete), steps[-1] if steps else None)
    if time_of(attempt, "http-up", "warmup-sent", "warmup-answered") is not None:
        return Position("warmup", None, None, steps)
    if current is not None and current.complete and time_of(attempt, "scheduler-up") is not None:
        return Position("warmup", None, current, steps)
    if current is not None:
        return Position(current.phase, _role(attempt, current), current, steps)
    main = next((edge for edge in reversed(attempt.main) if edge.ended is None), next(reversed(attempt.main), None))
    return Position(main.phase if main is not None else "launch", None, None, steps)


def done_ranks(attempt: Attempt, role: Role | None) -> tuple[tuple[Phase, tuple[int, ...]], ...]:
    """Return, per phase, the ranks that completed it for a model; a rank's captures only when all of them are done."""
    wanted = role or "target"
    phases: dict[Phase, list[int]] = {}
    for rank in attempt.ranks:
        for phase in ("distributed", "weights", "kv-cache", "compile", "graphs"):
            own = [edge for edge in rank.edges if edge.phase == phase and edge.role in _roles(phase, wanted)]
            if own and all(edge.ended is not None for edge in own) and _captured(own):
                phases.setdefault(phase, []).append(rank.rank)
    return tuple((phase, tuple(ranks)) for phase, ranks in phases.items())


def timeline(state: State, where: Position, now: float) -> tuple[PhaseView, ...]:
    """Return the phases so far with their durations over all ranks, in seconds of the watched host."""
    attempt = state.attempt
    views: list[PhaseView] = []
    first = where.steps[0].started if where.steps else None
    http, ready = time_of(attempt, "http-up", "warmup-sent"), time_of(attempt, "ready")
    if attempt.began_at is not None:
        stop = first if first is not None else min((at for at in (http, ready) if at is not None), default=None)
        views.append(_view("launch", None, attempt.began_at, stop, now))
    for step in where.steps:
        over = step.ended if step.ended is not None or (http is None and ready is None) else http or ready
        seen = _view(step.phase, _role(attempt, step), step.started, over, now)
        views.append(
            PhaseView(seen.phase, seen.role, seen.started, seen.seconds, seen.ended, step.part, len(step.done))
        )
    if http is not None:
        views.append(_view("warmup", None, http, ready, now))
    if ready is not None:
        views.append(_view("serving", None, ready, None, now))
    return tuple(views)


def _view(phase: Phase, role: Role | None, started: float, ended: float | None, now: float) -> PhaseView:
    until = ended if ended is not None else now
    # What was in a log without dates has no time: how long ago that was is not known.
    seconds = max(0.0, until - started) if started > 0 else 0.0
    return PhaseView(phase, role, started, seconds, ended is not None)


def _role(attempt: Attempt, step: Step) -> Role | None:
    """The model a step works on; None where only one is loaded."""
    if step.phase not in ("weights", "kv-cache", "graphs", "compile"):
        return None
    two = has_draft(attempt) or any(edge.role == "draft" for rank in attempt.ranks for edge in rank.edges)
    return step.role if two else None


def _roles(phase: Phase, wanted: Role) -> tuple[Role, ...]:
    return ("target", "draft") if phase in ("distributed", "compile") else (wanted,)


def _captured(edges: list[Edge]) -> bool:
    """Captures of the prefill alone are not all of them."""
    return edges[0].phase != "graphs" or any(edge.part != "prefill" for edge in edges)


def _is_partial(attempt: Attempt, phase: Phase, role: Role, spoke: frozenset[int]) -> bool:
    """Only some ranks print it: a compile, a draft's captures, and with vLLM most of what its first worker prints."""
    if phase == "compile" or (phase == "graphs" and role == "draft"):
        return True
    return attempt.engine == "vllm" and (phase != "distributed" or len(spoke) == 1)


def _index(attempt: Attempt, rank: int, edge: Edge) -> int:
    edges = next(known.edges for known in attempt.ranks if known.rank == rank)
    return next(i for i, own in enumerate(edges) if own is edge)


def _start(edge: Edge) -> float:
    if edge.began is not None:
        return edge.began
    return edge.ended if edge.ended is not None else 0.0
