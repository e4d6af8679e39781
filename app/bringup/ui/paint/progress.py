"""How far a stop is: which processes are left and whose they are, the GPU memory that is back, the port."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len

from bringup.core.events import Process
from bringup.core.sanitize import clean_text
from bringup.core.state import State
from bringup.session.console import StopPlan
from bringup.ui.paint.bars import solid
from bringup.ui.paint.gpus import why_none
from bringup.ui.paint.holders import short_title
from bringup.ui.paint.measures import gib
from bringup.ui.paint.row import Row, clip, width_of
from bringup.ui.picture import Picture

_LABEL = 11
_GAUGE = 12
_TITLE = 16
_MODULE = re.compile(r"^\w+::")
"""What an engine puts before the part in the title of a process."""
_ENDED = ("Z", "X")
"""States of a process that does not run any more: only its parent has not asked how it ended (proc(5))."""
_LAUNCHES = frozenset({"launching", "launched", "starting"})
"""Steps in which the old server is over: its port, where somebody listens on it by now, is the new one's."""


def paint_progress(picture: Picture, width: int) -> list[Row]:
    """Return the rows below the strip of a stop under way; none where nobody knows what it touches, or it is over."""
    plan, action = picture.plan, picture.state.action
    if plan is None or action is None or action.ended:
        return []
    if action.name in _LAUNCHES or _is_another(picture.state, plan):
        return []
    rows = [_processes(picture, plan, width), _memory(picture, plan)]
    if plan.server.port is not None:
        rows.append(_port(picture, plan, plan.server.port))
    return [clip(row, width) for row in rows]


def freed(state: State, plan: StopPlan | None, held_before: int) -> list[str]:
    """Return what is seen to be free after an action, as sentences: nothing is said of what was not looked at."""
    if plan is None or state.action is None or state.action.action != "stop":
        return []
    ours = {each.pid for each in plan.members}
    back = held_before and not any(app.pid in ours for app in state.gpu.apps)
    told = [f"All {gib(held_before)} GiB of its GPU memory are back."] if back else []
    if state.port_number == plan.server.port and state.port_seen_at is not None and state.port_pid is None:
        told.append(f"Port {plan.server.port} is free.")
    return told


def _is_another(state: State, plan: StopPlan) -> bool:
    """Say whether the planned server is not the one that is watched: nothing is seen of it."""
    server = state.server
    return server is None or (server.pid, server.start) != (plan.server.pid, plan.server.start)


def left_of(state: State, plan: StopPlan) -> tuple[Process, ...]:
    """Return which of the planned processes were there in the newest sample; all where nobody samples them."""
    if state.server is None:
        return plan.members
    if state.gone_at is not None:
        return tuple(each for each in plan.members if each.pid in state.orphans)
    running = {(each.pid, each.start) for each in state.processes if each.state not in _ENDED}
    return tuple(each for each in plan.members if (each.pid, each.start) in running)


def _processes(picture: Picture, plan: StopPlan, width: int) -> Row:
    left, whole = left_of(picture.state, plan), len(plan.members)
    if not left:
        return (*_gauge("processes", whole, whole), ("all have ended", "ok"))
    owners = ", ".join(dict.fromkeys(clean_text(each.user) for each in left if each.user))
    told = f"{len(left)} of {whole} still run{f' ({owners})' if owners else ''}"
    row: Row = (*_gauge("processes", whole - len(left), whole), (told, "strong"), (": ", "quiet"))
    return (*row, (_names(left, width - width_of(row)), "text"))


def _names(left: Sequence[Process], width: int) -> str:
    """Name as many of those that are left as there is room for, and count the others."""
    names = [f"{each.pid} {_name(each)}" for each in left]
    for shown in range(len(names), 0, -1):
        more = f" and {len(names) - shown} more" if shown < len(names) else ""
        text = ", ".join(names[:shown]) + more
        if cell_len(text) <= width:
            return text
    return f"PID {left[0].pid} first"


def _name(process: Process) -> str:
    """The program of a command line; of a title that an engine set, the part."""
    title = _MODULE.sub("", process.title or process.comm)
    program = title.split(" ", 1)[0].rpartition("/")[2] if " " in title else title
    return short_title(program, _TITLE)


def _memory(picture: Picture, plan: StopPlan) -> Row:
    gpu, ours = picture.state.gpu, {each.pid for each in plan.members}
    if gpu.seen_at is None or not gpu.gpus:
        return (("GPU memory".ljust(_LABEL), "quiet"), (f"not known. {why_none(picture.state)}", "quiet"))
    held = sum(app.used or 0 for app in gpu.apps if app.pid in ours)
    most = max(picture.held_before, held)
    if not most:
        return (("GPU memory".ljust(_LABEL), "quiet"), ("nvidia-smi names none that its processes hold", "quiet"))
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
    if state.port_pid in ours and not left_of(state, plan):
        return (*head, ("nobody has looked since they ended", "quiet"))
    who = "the server" if state.port_pid in ours else f"PID {state.port_pid}" if state.port_pid else "somebody"
    return (*head, (f"still listened on by {who}", "strong"))


def _gauge(label: str, done: int, whole: int) -> Row:
    return ((label.ljust(_LABEL), "quiet"), *solid(done / whole if whole else 1.0, _GAUGE, "ok"), ("  ", "text"))
