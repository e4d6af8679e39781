"""How the screen is divided: which panel gets how many rows, from its size and from what there is to show. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bringup.ui.paint.ranks import columns_for

WIDE = 116
"""Columns from which the GPUs stand beside the ranks, where there are any."""
_GPU_ROOM = (52, 76)
_LOG_LEAST = 4
_LOG_COMFORT = 8
_LOW, _TALL, _AIRY, _VERY_TALL = 20, 30, 36, 48
_VERDICT = ((_LOW, 3, 3), (_TALL, 3, 6), (_VERY_TALL, 5, 7), (1 << 16, 7, 10))
"""(Screens of fewer rows than this, usual rows of the verdict, most rows where it has to explain trouble)."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What there is to show."""

    notices: int = 0
    verdict: int = 0
    """Rows that the whole verdict would take, where it may have more than usual."""
    phases: int = 0
    """Rows of heading, lanes, ghosts and axis; 0 without phases."""
    ranks: int = 0
    gpus: int = 0
    """GPUs, or 1 for the sentence why there is none; 0 while there is no server."""
    panel: str = "log"
    """The focused one: where there is little room it gets more."""
    log_alone: bool = False


@dataclass(frozen=True, slots=True)
class Division:
    """Rows of every panel, with their headings; 0 hides it. The log gets what is left."""

    notices: int
    verdict: int
    phases: int
    ranks: int
    gpus: int
    rank_columns: int = 1
    gpu_width: int = 0
    """Columns of the GPUs where they stand beside the ranks, else 0."""
    gaps: int = 0
    """Blank rows: 1 sets the verdict apart, 3 set every panel apart."""
    with_memory: bool = False
    """The ranks show GPU memory, for the GPUs have no room of their own."""


def divide(width: int, height: int, needs: Needs) -> Division:
    """Return the division of a screen of `width` x `height` cells."""
    if needs.log_alone:
        return Division(needs.notices, 0, 0, 0, 0)
    gaps = 0 if height < _AIRY else 1 if height < _VERY_TALL else 3
    left = height - 2 - needs.notices - gaps
    usual, most = next(rows for below, *rows in _VERDICT if height < below)
    verdict = min(max(usual, needs.verdict), most)
    phases = _phases(height, needs)
    beside = width >= WIDE and needs.ranks > 0
    divided = (_wide if beside else _narrow)(width, left, verdict, phases, needs)
    return replace(divided, gaps=gaps)


def _phases(height: int, needs: Needs) -> int:
    """The axis and the ghosts only where there is room, or where they are looked at."""
    if height >= _TALL or not needs.phases:
        return needs.phases
    if height < _LOW:
        return min(needs.phases, 3) if needs.panel == "phases" else 0
    return needs.phases if needs.panel == "phases" else min(needs.phases, 3)


def _wide(width: int, left: int, verdict: int, phases: int, needs: Needs) -> Division:
    gpu_width = max(_GPU_ROOM[0], min(_GPU_ROOM[1], width * 4 // 10)) if needs.gpus else 0
    most = max(2, left - verdict - phases - _LOG_LEAST)
    columns = columns_for(needs.ranks, width - gpu_width, _rank_rows(most, most - _LOG_COMFORT))
    rows = 1 + max(-(-needs.ranks // columns), needs.gpus) if needs.ranks or needs.gpus else 0
    rows = min(rows, most)
    return Division(needs.notices, verdict, phases, rows, rows if gpu_width else 0, columns, gpu_width)


def _rank_rows(most: int, spare: int) -> int:
    """Rows that ranks may take before they go into columns: what the log can spare, but eight where there are eight."""
    return max(1, min(max(8, spare), most - 1))


def _narrow(width: int, left: int, verdict: int, phases: int, needs: Needs) -> Division:
    most = max(2, left - verdict - phases - _LOG_LEAST)
    gpus = 1 + needs.gpus if needs.gpus else 0
    spare = most - _LOG_COMFORT - (gpus if left > _TALL else 0)
    columns = columns_for(needs.ranks, width, _rank_rows(most, spare))
    ranks = min(1 + max(1, -(-needs.ranks // columns)), most) if needs.ranks else 0
    if needs.panel == "gpus" and gpus:
        return Division(needs.notices, verdict, phases, 0, min(gpus, most))
    log = _LOG_COMFORT if needs.ranks else _LOG_LEAST
    if gpus and left - verdict - phases - ranks - gpus >= log:
        return Division(needs.notices, verdict, phases, ranks, gpus, columns)
    return Division(needs.notices, verdict, phases, ranks, 0, columns, with_memory=needs.gpus > 0)
