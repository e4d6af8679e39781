"""Ranks, phases and warnings of several nodes as those of one start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bringup.core.events import PHASES, Phase, Role
from bringup.core.fleet.part import Part
from bringup.core.phases import done_ranks
from bringup.core.ranks import MOST_RANKS, labels_of_rank, world_size
from bringup.core.state import Attempt
from bringup.core.verdict import Advisory, ChannelView, Origin, PhaseView, RankView

_Step = tuple[Phase, Role | None, str]
_SURE: tuple[Origin, ...] = ("log", "maps", "memory", "peers", "none")


@dataclass(frozen=True, slots=True)
class Layout:
    """Which ranks run on which node."""

    attempt: Attempt
    """Of a node that has shown its arguments: they are the same on all."""
    per_node: int = 0
    """0 where the layout is not known, or the nodes are servers of their own."""
    nodes: tuple[Part, ...] = ()
    """By node rank."""

    @property
    def total(self) -> int:
        """How many ranks the start has; 0 where that is not known."""
        return self.per_node * len(self.nodes)

    def node_of(self, rank: int) -> Part | None:
        """Return the node of a rank."""
        index = rank // self.per_node if self.per_node else len(self.nodes)
        return self.nodes[index] if 0 <= index < len(self.nodes) else None


def layout(parts: tuple[Part, ...], head: Part) -> Layout:
    """Return the layout by the arguments that were seen; nodes that showed none take the places that are left."""
    known = [part for part in (head, *parts) if part.state.attempt.launched and part.is_known]
    attempt = next((part.state.attempt for part in known), head.state.attempt)
    total = world_size(attempt)
    if attempt.nnodes != len(parts) or total % attempt.nnodes or total > MOST_RANKS:
        return Layout(attempt)
    taken = {part.state.attempt.node_rank: part for part in reversed(parts) if part in known}
    if len(taken) != len({part.node for part in known}) or not set(taken) <= set(range(len(parts))):
        return Layout(attempt)
    left = [part for part in parts if part not in known]
    nodes = tuple(taken[index] if index in taken else left.pop(0) for index in range(len(parts)))
    return Layout(attempt, total // attempt.nnodes, nodes)


def are_apart(parts: Sequence[Part]) -> bool:
    """Say whether the nodes run servers of their own: several of them have a process for the same rank."""
    seen: set[int] = set()
    for part in parts:
        own = {view.rank for view in part.verdict.ranks if view.pid is not None}
        if own & seen:
            return True
        seen |= own
    return False


def joined_ranks(parts: Sequence[Part], known: Layout) -> tuple[RankView, ...]:
    """Return all ranks by their global numbers, each with its node, and those that are not there yet."""
    apart = are_apart(parts)
    found: dict[int, RankView] = {}
    for part in parts:
        first = max(found, default=-1) + 1 if apart else 0
        for view in part.verdict.ranks:
            owner = None if apart else known.node_of(view.rank)
            node = owner.node if owner is not None else part.node
            here = replace(view, rank=view.rank + first, node=node)
            there = found.get(here.rank)
            if there is None or _surer(view, there, is_own=owner is part):
                found[here.rank] = here
    if not apart:
        for rank in range(known.total):
            node_part = known.node_of(rank)
            if rank not in found and node_part is not None:
                found[rank] = _missing(rank, node_part, known.attempt)
    return tuple(found[rank] for rank in sorted(found))


def _surer(new: RankView, old: RankView, *, is_own: bool) -> bool:
    """A job's log holds the ranks of all its nodes; the processes of a rank are seen on its own node only."""
    if (new.pid is None) != (old.pid is None):
        return new.pid is not None
    ahead = _SURE.index(old.source) - _SURE.index(new.source)
    return ahead > 0 or (ahead == 0 and is_own)


def _missing(rank: int, part: Part, attempt: Attempt) -> RankView:
    note = "no server there yet" if part.is_linked else "no connection"
    labels = labels_of_rank(attempt, rank)
    return RankView(rank, part.node, labels, None, None, None, None, None, "none", None, note=note)


def waiting_for(views: Sequence[RankView], node: str) -> tuple[RankView, ...]:
    """Say of the ranks of other nodes that they wait for one."""
    note = f"waits for {node}"
    return tuple(view if view.node == node or _has_its_own(view) else replace(view, note=note) for view in views)


def _has_its_own(view: RankView) -> bool:
    """Something else is to be said of a rank: what is wrong with it, or that it is not there."""
    return bool(view.trouble) or (view.phase is None and bool(view.note))


def joined_phases(parts: Sequence[Part], now: float) -> tuple[PhaseView, ...]:
    """Return the phases of all nodes: begun with the first that began it, over when it is over on every node.

    Each node entered them in the order of its own; when it did so is on a clock of its own, and its log may begin late.
    """
    found: dict[_Step, list[PhaseView]] = {}
    orders: list[list[_Step]] = []
    for part in parts:
        own = [replace(view, started=part.on_clock(view.started, now)) for view in part.verdict.phases]
        for view in own:
            found.setdefault(_step(view), []).append(view)
        orders.append(list(dict.fromkeys(map(_step, own))))
    joined = {step: _phase(views) for step, views in found.items()}
    return tuple(joined[step] for step in _merged(orders, {step: view.started for step, view in joined.items()}))


def _step(view: PhaseView) -> _Step:
    return view.phase, view.role, view.part


def _merged(orders: Sequence[Sequence[_Step]], started: Mapping[_Step, float]) -> Iterator[_Step]:
    """Yield the steps of all nodes in an order that is each node's own; else as phases follow, then by their times."""
    left = [list(order) for order in orders if order]
    while left:
        waiting = {step for order in left for step in order[1:]}
        # Two nodes may contradict each other: then none of their next steps is free.
        free = [order[0] for order in left if order[0] not in waiting] or [order[0] for order in left]
        first = min(free, key=lambda step: (PHASES.index(step[0]), started[step]))
        yield first
        left = [rest for order in left if (rest := [step for step in order if step != first])]


def _phase(views: Sequence[PhaseView]) -> PhaseView:
    started = min(view.started for view in views)
    until = max(view.started + view.seconds for view in views)
    return replace(
        views[0],
        started=started,
        seconds=until - started,
        ended=all(view.ended for view in views),
        ranks_done=sum(view.ranks_done for view in views),
    )


def place_in(phases: Sequence[PhaseView], part: Part) -> int:
    """Return how far a node is in the phases of all."""
    verdict = part.verdict
    if verdict.phase is None:
        return -1
    here = [
        index
        for index, view in enumerate(phases)
        if view.phase == verdict.phase and (view.role == verdict.role or verdict.role is None)
    ]
    # A phase that no node has entered yet comes after all that were.
    return max(here, default=len(phases) + PHASES.index(verdict.phase))


def joined_done(parts: Sequence[Part], role: Role | None) -> tuple[tuple[Phase, tuple[int, ...]], ...]:
    """Return, per phase, the ranks of all nodes that completed it for a model."""
    found: dict[Phase, set[int]] = {}
    for part in parts:
        for phase, ranks in done_ranks(part.state.attempt, role):
            found.setdefault(phase, set()).update(ranks)
    return tuple((phase, tuple(sorted(found[phase]))) for phase in PHASES if phase in found)


def joined_warnings(parts: Sequence[Part]) -> tuple[Advisory, ...]:
    """Return the warnings, each with its node; what all nodes say is said once."""
    where: dict[Advisory, list[str]] = {}
    for part in parts:
        for warning in part.verdict.warnings:
            where.setdefault(warning, []).append(part.node)
    return tuple(
        warning if len(nodes) == len(parts) > 1 else replace(warning, detail=f"{', '.join(nodes)}: {warning.detail}")
        for warning, nodes in where.items()
    )


def joined_channels(parts: Sequence[Part]) -> tuple[ChannelView, ...]:
    """Return every channel of every node."""
    return tuple(replace(view, says=f"{part.node}: {view.says}") for part in parts for view in part.verdict.channels)
