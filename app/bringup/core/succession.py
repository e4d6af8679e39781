"""One attempt after another: what the next one begins with, and what stays of the one before."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.causes import root_line
from bringup.core.events import Server
from bringup.core.state import Attempt, PastAttempt

SLACK = 2.0
"""Seconds by which a stamp of whole seconds, or of a process's start in clock ticks, may be off."""
_MOST_PAST = 20


def successor(old: Attempt) -> Attempt:
    """Return the attempt after one; its log can be the same file, in which a bar of the old one is still open.

    Where no arguments were printed, it was no launch that counts: who comes to the log later sees none.
    """
    newest = max(old.bars, key=lambda bar: bar.drawn_at, default=None)
    return Attempt(
        number=old.number + int(old.logged),
        weighed=old.weighed,
        left_open=(newest.kind, newest.done, newest.total) if newest is not None else None,
    )


def kept(earlier: tuple[PastAttempt, ...], old: Attempt) -> tuple[PastAttempt, ...]:
    """Return the earlier attempts with one more, bounded; nothing stays of one that has told nothing."""
    if not (old.launched or old.faults):
        return earlier
    fault = root_line(old)
    past = PastAttempt(
        number=old.number,
        kind=fault.kind if fault else None,
        text=fault.text if fault else "",
        line=fault.line if fault else 0,
    )
    return (*earlier, past)[-_MOST_PAST:]


def filled(base: Attempt, server: Server) -> Attempt:
    """Return an attempt with what the process itself tells of it: its arguments."""
    return replace(
        base,
        engine=server.engine or base.engine,
        model=server.model or base.model,
        draft_model=server.draft_model or base.draft_model,
        algorithm=server.algorithm or base.algorithm,
        tp=server.tp,
        pp=server.pp,
        dp=server.dp,
        nnodes=server.nnodes,
        node_rank=server.node_rank,
        headless="--headless" in server.argv,
        port=server.port if server.port is not None else base.port,
        launched=True,
    )
