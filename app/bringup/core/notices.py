"""Warnings of the log, one sentence a kind where the log has one line a weight name; and memory that only just fits."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.lines import FEW
from bringup.core.phases import time_of
from bringup.core.state import State
from bringup.core.words import names

TIGHT_GB = 1.0
"""GPU memory left when the server is up below which the next large request, or a compile, may end it."""
_SHOWN = 3
_MODELS = {"unmatched-weights": "model", "draft-mismatch": "draft"}


def log_warnings(state: State) -> Iterator[tuple[str, str]]:
    """Yield (kind, sentence) of what the log warned of, without a sentence a weight."""
    weights: dict[str, list[str]] = {}
    for kind, detail in state.attempt.warnings:
        if kind in _MODELS and " " not in detail:
            weights.setdefault(kind, []).append(detail)
        else:
            yield kind, detail
    for kind, found in weights.items():
        count = f"{len(found)} or more" if len(found) >= FEW else str(len(found))
        shown = found if len(found) <= _SHOWN else found[: _SHOWN - 1]
        such = "" if len(found) <= _SHOWN else "such as "
        plural = "s" if len(found) != 1 else ""
        yield (
            kind,
            f"{count} weight name{plural} of the {_MODELS[kind]} that its class does not know, and left out: "
            f"{such}{names(shown)}",
        )


def full_disk(state: State) -> Iterator[tuple[str, str]]:
    """Yield a warning where the log cannot grow: what it does not say any more says nothing."""
    if state.log.full:
        yield "log-gap", f"The disk of the log ({state.log.full}) is full: what the server writes is lost"


def tight_memory(state: State) -> Iterator[tuple[str, str]]:
    """Yield a warning where hardly any GPU memory is left: by the log, and by the GPUs once it serves."""
    free = state.attempt.free_gb
    if free is not None and free < TIGHT_GB:
        yield "memory-tight", f"Only {free:.2f} GB of GPU memory were left when the ranks were up"
        return
    if time_of(state.attempt, "ready") is None:
        return
    used = {rank.gpu for rank in state.attempt.ranks if rank.gpu is not None and rank.gone_at is None}
    left = {
        gpu.index: (gpu.total - gpu.used) / 1024
        for gpu in state.gpu.gpus
        if gpu.index in used and gpu.total is not None and gpu.used is not None
    }
    tight = sorted(index for index, gib in left.items() if gib < TIGHT_GB)
    if tight:
        least = min(tight, key=lambda index: left[index])
        who = f"GPU {least}" if len(tight) == 1 else f"{len(tight)} GPUs; GPU {least} has the least"
        yield "memory-tight", f"Only {left[least]:.1f} GiB of memory are free on {who}"
