"""How far a rank is within one phase of one model, by the best channel that speaks, and what was shown before.

The order of trust: the rank's own log line, then its maps, then the bar that it draws, then the growth of its GPU
memory, and last what the rank it works in step with shows. A bar is never full before the rank's own line says that it
is done, and never runs backwards: what was shown once stays, with the channel it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bringup.core.bars import bar_of
from bringup.core.edges import open_edge
from bringup.core.events import Phase, Role
from bringup.core.phases import Position, Step
from bringup.core.rank_memory import grown, read_by_calls
from bringup.core.ranks import find, group_leader
from bringup.core.shard_list import total_of
from bringup.core.shards import is_unknown, mapped_words, opened, shards_of, whole
from bringup.core.state import BarState, Edge, Rank, Reach, Shards, State
from bringup.core.verdict import Origin

ALMOST = 0.99
"""The most that is shown of a phase without the rank's own proof of its end."""
IN_STEP = "captures in step with {}"
_MANY_BYTES = 64 * 1024 * 1024
"""More than a process reads by the way: of its configuration, its tokenizer, its modules."""
_GIB = 1024**3
_UNMAPPED = {
    "dummy": "random weights, no file is read",
    "fastsafetensors": "its loader maps no files",
    "runai_streamer": "its loader maps no files",
    "runai_streamer_sharded": "its loader maps no files",
    "instanttensor": "its loader maps no files",
    "tensorizer": "its loader maps no files",
    "npcache": "its loader maps no files",
    "remote": "weights come over the network, no file is read",
    "remote_instance": "weights come over the network, no file is read",
}
"""By load format of SGLang and vLLM: why the maps show nothing."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rank is, by the best channel that speaks."""

    share: float | None
    source: Origin
    opened: float | None = None
    done: int | None = None
    total: int | None = None
    note: str = ""


def place_of(rank: Rank, where: Position) -> tuple[Phase | None, Role | None, Step | None]:
    """Return the phase a rank is in: its own open one where it is ahead of the others, else the common one."""
    edge = open_edge(rank.edges)
    if edge is None or where.phase in ("warmup", "serving"):
        return where.phase, where.role, where.step
    own = next((s for s in where.steps if (s.phase, s.role, s.part) == (edge.phase, edge.role, edge.part)), where.step)
    two = where.role is not None or edge.role == "draft"
    return edge.phase, edge.role if two and edge.phase != "distributed" else None, own


def progress(state: State, rank: Rank, where: Position, step: Step | None) -> Progress:
    """Return how far a rank is in its step, and no less than was shown of it before."""
    if where.phase == "serving":
        return Progress(1.0, "log", note="serving")
    if step is None or where.phase == "warmup":
        return Progress(None, "none")
    edge = step.edge(rank.rank)
    if edge is not None and edge.ended is not None:
        return Progress(1.0, "log", note=_done_note(edge))
    return at_least(_measured(state, rank, step), reach_of(rank, step))


def reach_of(rank: Rank, step: Step) -> Reach | None:
    """Return the most that was shown of a step on a rank."""
    key = (step.phase, step.role, step.part)
    return next((known for known in rank.reaches if (known.phase, known.role, known.part) == key), None)


def at_least(now: Progress, reach: Reach | None) -> Progress:
    """Return what is measured now, or what was shown before where that was more."""
    if reach is None:
        return now
    ahead = max((share for share in (now.opened, reach.opened) if share is not None), default=None)
    if now.share is not None and now.share >= reach.share:
        return replace(now, opened=ahead if ahead is None else max(ahead, now.share))
    note = now.note
    if reach.done is not None and reach.total is not None:
        note = f"{'shard' if reach.phase == 'weights' else 'step'} {reach.done}/{reach.total}"
    return Progress(
        share=reach.share,
        source=reach.source,
        opened=ahead if ahead is None else max(ahead, reach.share),
        done=reach.done,
        total=reach.total,
        note=note,
    )


def _measured(state: State, rank: Rank, step: Step) -> Progress:
    if step.phase == "weights":
        return _load(state, rank, step)
    edge = step.edge(rank.rank)
    if edge is None and rank.rank in step.expected:
        return Progress(None, "none", note="not begun")
    own = _by_bar(state, rank.rank, step) if edge is not None or rank.rank in step.expected else None
    return own or _by_lockstep(state, rank, step)


def _load(state: State, rank: Rank, step: Step) -> Progress:
    """A load: no rank waits for another, so nothing is implied by what its peers have done."""
    measured = _by_maps(state, rank, step)
    if (measured is None or measured.share is None) and (
        step.edge(rank.rank) is not None or rank.rank not in step.expected
    ):
        measured = _by_bar(state, rank.rank, step) or _by_memory(state, rank, step) or measured
    return measured or Progress(None, "none", note=_why_nothing(state, rank, step))


def _by_maps(state: State, rank: Rank, step: Step) -> Progress | None:
    shards = shards_of(rank, step.role)
    if shards is None:
        return None
    total = whole(state, shards)
    if not total or total < len(shards.seen):
        return None
    if is_unknown(shards):
        return Progress(None, "maps", note=mapped_words(shards, total))
    ahead, read = min(total, opened(shards)), min(total, shards.read)
    return Progress(
        share=min(ALMOST, read / total),
        source="maps",
        opened=min(ALMOST, max(ahead, read) / total),
        done=read,
        total=total,
        note=_maps_note(shards, ahead, read, total),
    )


def _maps_note(shards: Shards, ahead: int, read: int, total: int) -> str:
    if len(shards.open) == 1 and ahead - read <= 1:
        return f"reads shard {ahead}/{total}"
    return f"shard {ahead}/{total} opened, {read} read{' by their numbers' if shards.late else ''}"


def _by_bar(state: State, rank: int, step: Step) -> Progress | None:
    """What the bar that a rank draws itself has passed; of a bar that may be cut short only the count is certain."""
    bar = bar_of(state.attempt, step.phase, step.role, step.part, owner=rank)
    bar = bar or bar_of(state.attempt, step.phase, step.role, "", owner=rank)
    if bar is None or (bar.provisional and bar.done and bar.total != total_of(state, step.role)):
        return None
    share = max(bar.floor, bar.done / bar.total)
    return Progress(min(ALMOST, share), "log", done=bar.done, total=bar.total, note=_bar_note(bar))


def _bar_note(bar: BarState) -> str:
    word = "tensor" if not bar.files else "shard" if bar.kind == "shards" else "step"
    return f"{word} {bar.done}/{bar.total}" + (" passed, not yet done" if bar.done == bar.total else "")


def _by_memory(state: State, rank: Rank, step: Step) -> Progress | None:
    held = grown(state, rank, step.role)
    if held is None:
        return None
    note = f"holds {held[0] / 1024:.1f} of about {held[1] / 1024:.1f} GiB"
    return Progress(min(ALMOST, held[0] / held[1]), "memory", note=note)


def _by_lockstep(state: State, rank: Rank, step: Step) -> Progress:
    """Captures run in step within a tensor-parallel group, for its ranks meet in collectives; nothing else does."""
    leader = group_leader(state.attempt, rank.rank)
    silent = rank.rank not in step.expected
    if step.phase != "graphs" or leader == rank.rank:
        return Progress(None, "none", note="prints nothing itself" if silent else "begun")
    note = "follows rank {}, prints nothing itself" if silent else IN_STEP.format("rank {}")
    note = note.format(leader)
    first = find(state.attempt, leader)
    edge = step.edge(leader)
    if first is None or edge is None:
        return Progress(None, "none", note=note)
    shown = at_least(_by_bar(state, leader, step) or Progress(None, "none"), reach_of(first, step))
    return replace(shown, source="peers" if shown.share is not None else "none", note=note)


def _why_nothing(state: State, rank: Rank, step: Step) -> str:
    """What can be said of a load that no channel measures: what is known, and why there is no more."""
    edge = step.edge(rank.rank)
    if edge is None and rank.rank in step.expected:
        return "not begun"
    taken = read_by_calls(rank, step.role)
    if taken >= _MANY_BYTES:
        return f"has read {taken / _GIB:.1f} GiB, maps no files"
    reason = _UNMAPPED.get(state.attempt.load_format)
    if reason is None and rank.process is not None and rank.process.shards is not None:
        reason = "maps no file of the model"
    return reason or ("begun" if edge is not None else "prints nothing itself")


def _done_note(edge: Edge) -> str:
    took = edge.seconds
    if took is None and edge.began is not None and edge.ended is not None:
        took = edge.ended - edge.began
    return "done" if took is None else f"done in {took:.1f} s"
