"""Which ranks the others wait for: clearly behind their peers, not just later by a moment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bringup.core.phases import Step
from bringup.core.ranks import name_of
from bringup.core.state import Attempt
from bringup.core.verdict import RankView

FEWEST_SHARDS = 2
SHARE_BEHIND = 0.10
SECONDS_BEHIND = 20.0
TIMES_BEHIND = 2.0
NOT_BEGUN = 30.0
"""Seconds after which a rank is late that has not begun what most others have."""
_FEWEST_MEASURED = 3
"""Ranks that one channel must have measured: of two, the one behind is the other's equal a moment later."""
_SETTLED = 5.0
"""Seconds after its end from which a rank counts as one that is through: the last ones are always a moment later."""
_WAIT_SHOWN = 2.0
"""Seconds after which it is said for whom a rank waits."""
_MOST_NAMED = 2


def mark(attempt: Attempt, views: tuple[RankView, ...], step: Step | None, now: float) -> tuple[RankView, ...]:
    """Return the views with the stragglers marked, and with a note on those who wait for them."""
    if step is None or len(views) < 2:
        return views
    late = behind(views, step, now)
    missing = step.missing if not step.complete else ()
    return tuple(
        replace(view, straggler=True) if view.rank in late else _waiting(attempt, view, step, missing, now)
        for view in views
    )


def behind(views: Iterable[RankView], step: Step, now: float) -> frozenset[int]:
    """Return the ranks that are behind: by what a channel shows of them, by their peers' times, or not begun at all."""
    inside = [view for view in views if _is_inside(view, step)]
    ended = [edge.ended for _, edge in step.edges if edge.ended is not None]
    through = sum(1 for at in ended if now - at >= _SETTLED)
    late = {view.rank for view in inside if _behind_in_shards(view, inside, through)}
    late |= {view.rank for view in inside if _behind_in_memory(view, inside, through)}
    late |= {view.rank for view in inside if _behind_in_time(view, step, now)}
    return frozenset(late | _not_begun(step, now))


def _is_inside(view: RankView, step: Step) -> bool:
    """In the step and not through it; a rank that prints nothing itself is where the others are."""
    if view.rank in step.done:
        return False
    return view.rank in step.begun or (view.rank not in step.expected and view.phase == step.phase)


def _behind_in_shards(view: RankView, inside: list[RankView], through: int) -> bool:
    """By files read and by files opened: with a loader that opens ahead, what is read comes in bursts."""
    if view.source != "maps" or view.done is None or not view.total:
        return False
    read = [peer.done for peer in inside if peer.source == "maps" and peer.done is not None] + [view.total] * through
    ahead = [_opened(peer) for peer in inside if peer.source == "maps"] + [view.total] * through
    if len(read) < _FEWEST_MEASURED:
        return False
    lead = _middle(read) - view.done
    return lead >= max(FEWEST_SHARDS, SHARE_BEHIND * view.total) and _middle(ahead) - _opened(view) >= FEWEST_SHARDS


def _opened(view: RankView) -> int:
    """How many files a rank has opened, of a share that stops a little short of the whole."""
    return math.ceil((view.opened or 0.0) * (view.total or 0))


def _behind_in_memory(view: RankView, inside: list[RankView], through: int) -> bool:
    if view.source != "memory" or view.progress is None:
        return False
    shares = [peer.progress for peer in inside if peer.source == "memory" and peer.progress is not None]
    shares += [1.0] * through
    return len(shares) >= _FEWEST_MEASURED and _middle(shares) - view.progress >= SHARE_BEHIND


def _behind_in_time(view: RankView, step: Step, now: float) -> bool:
    """Most peers have ended for a while, and took far less time than this rank has spent already."""
    edge = step.edge(view.rank)
    took = [edge.ended - edge.began for _, edge in step.edges if edge.ended is not None and edge.began is not None]
    if edge is None or edge.began is None or not took or len(took) * 2 < len(step.expected):
        return False
    half = _middle([edge.ended for _, edge in step.edges if edge.ended is not None])
    return now - half > SECONDS_BEHIND and now - edge.began > TIMES_BEHIND * _middle(took)


def _not_begun(step: Step, now: float) -> frozenset[int]:
    """Ranks that have not entered a step in which most others have been for a while."""
    began = [edge.began if edge.began is not None else edge.ended for _, edge in step.edges]
    known = [at for at in began if at is not None]
    if step.complete or not known or len(known) * 2 < len(step.expected) or now - _middle(known) <= NOT_BEGUN:
        return frozenset()
    return step.expected - step.begun


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _waiting(attempt: Attempt, view: RankView, step: Step, missing: tuple[int, ...], now: float) -> RankView:
    edge = step.edge(view.rank)
    if edge is None or edge.ended is None or not missing or now - edge.ended < _WAIT_SHOWN:
        return view
    if len(missing) <= _MOST_NAMED:
        whom = " and ".join(name_of(attempt, rank) for rank in missing)
    else:
        whom = f"{len(missing)} ranks"
    return replace(view, note=f"{view.note}, waits for {whom}")
