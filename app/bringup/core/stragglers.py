"""Which ranks the others wait for: clearly behind their peers, not just later by a moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bringup.core.phases import Step
from bringup.core.ranks import name_of
from bringup.core.state import Attempt
from bringup.core.verdict import RankView

FEWEST_SHARDS = 2
SHARE_BEHIND = 0.10
SECONDS_BEHIND = 20.0
TIMES_BEHIND = 2.0
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
    """Return the ranks that are behind: by what their maps show, or by the time that their peers took."""
    inside = [view for view in views if view.rank in step.missing and view.rank in step.begun]
    late = {view.rank for view in inside if _behind_in_shards(view, inside)}
    took = sorted(
        edge.ended - edge.began for _, edge in step.edges if edge.ended is not None and edge.began is not None
    )
    ends = sorted(edge.ended for _, edge in step.edges if edge.ended is not None)
    if len(took) * 2 >= len(step.expected) and took and ends:
        usual, half = took[len(took) // 2], ends[len(ends) // 2]
        for view in inside:
            edge = step.edge(view.rank)
            spent = now - edge.began if edge is not None and edge.began is not None else 0.0
            if now - half > SECONDS_BEHIND and spent > TIMES_BEHIND * usual:
                late.add(view.rank)
    return frozenset(late)


def _behind_in_shards(view: RankView, peers: list[RankView]) -> bool:
    mapped = [peer for peer in peers if peer.source == "maps" and peer.done is not None]
    if view.source != "maps" or view.done is None or not view.total or len(mapped) < 3:
        return False
    counts = sorted(peer.done for peer in mapped if peer.done is not None)
    lead = counts[len(counts) // 2] - view.done
    return lead >= max(FEWEST_SHARDS, SHARE_BEHIND * view.total)


def _waiting(attempt: Attempt, view: RankView, step: Step, missing: tuple[int, ...], now: float) -> RankView:
    edge = step.edge(view.rank)
    if edge is None or edge.ended is None or not missing or now - edge.ended < _WAIT_SHOWN:
        return view
    if len(missing) <= _MOST_NAMED:
        whom = " and ".join(name_of(attempt, rank) for rank in missing)
    else:
        whom = f"{len(missing)} ranks"
    return replace(view, note=f"{view.note}, waits for {whom}")
