"""How far a stop is: which processes are left and whose they are, the GPU memory that is back, the port."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.events import Process
from bringup.core.sanitize import clean_text
from bringup.session.console import StopPlan
from bringup.ui.paint.bars import solid
from bringup.ui.paint.holders import short_title
from bringup.ui.paint.measures import count, gib
from bringup.ui.paint.row import Row, clip
from bringup.ui.picture import Picture

_LABEL = 11
_GAUGE = 16
_TITLE = 24


def paint_progress(picture: Picture, width: int) -> list[Row]:
    """Return the rows below the strip of an action under way; none where it is not known what it touches."""
    plan, action = picture.plan, picture.state.action
    if plan is None or action is None or action.ended:
        return []
    rows = [_processes(picture, plan), _memory(picture, plan)]
    if plan.server.port is not None:
        rows.append(_port(picture, plan, plan.server.port))
    return [clip(row, width) for row in rows]


def left_of(picture: Picture, plan: StopPlan) -> tuple[Process, ...]:
    """Return which of the planned processes were there in the newest sample."""
    state = picture.state
    if state.gone_at is not None:
        return tuple(each for each in plan.members if each.pid in state.orphans)
    running = {(each.pid, each.start) for each in state.processes}
    return tuple(each for each in plan.members if (each.pid, each.start) in running)


def _processes(picture: Picture, plan: StopPlan) -> Row:
    left, whole = left_of(picture, plan), len(plan.members)
    if not left:
        return (*_gauge("processes", whole, whole), ("all have ended", "ok"))
    told = f"{len(left)} of {count(whole, 'process', 'processes')} still run"
    return (*_gauge("processes", whole - len(left), whole), (told, "strong"), *_named(left))


def _named(left: Sequence[Process]) -> Row:
    """Name those that are left, with their owners: as many as the row has room for."""
    row: Row = ((": ", "quiet"),)
    for number, each in enumerate(left):
        user = f" ({clean_text(each.user)})" if each.user else ""
        title = short_title(each.title or each.comm, _TITLE)
        row = (*row, (", " if number else "", "quiet"), (f"{each.pid} ", "quiet"), (f"{title}{user}", "text"))
    return row


def _memory(picture: Picture, plan: StopPlan) -> Row:
    gpu, ours = picture.state.gpu, {each.pid for each in plan.members}
    if gpu.seen_at is None:
        return (("GPU memory".ljust(_LABEL), "quiet"), ("nvidia-smi does not answer", "quiet"))
    held = sum(app.used or 0 for app in gpu.apps if app.pid in ours)
    most = max(picture.held_before, held)
    if not most:
        return (("GPU memory".ljust(_LABEL), "quiet"), ("it held none", "quiet"))
    gauge = _gauge("GPU memory", most - held, most)
    if not held:
        return (*gauge, (f"all {gib(most)} GiB are back", "ok"))
    return (*gauge, (f"{gib(most - held)} of {gib(most)} GiB are back", "strong"))


def _port(picture: Picture, plan: StopPlan, port: int) -> Row:
    head: Row = ((f"port {port}".ljust(_LABEL), "quiet"),)
    state, ours = picture.state, {each.pid for each in plan.members}
    if state.port_number != port or state.port_seen_at is None:
        return (*head, ("nobody has looked yet", "quiet"))
    if state.port_pid is None:
        return (*head, ("nobody listens: it is free", "ok"))
    who = "the server" if state.port_pid in ours else f"PID {state.port_pid}" if state.port_pid else "somebody"
    return (*head, (f"still listened on by {who}", "strong"))


def _gauge(label: str, done: int, whole: int) -> Row:
    return ((label.ljust(_LABEL), "quiet"), *solid(done / whole if whole else 1.0, _GAUGE, "ok"), ("  ", "text"))
