"""Servers and orphans of a host as rows of a list, and what clearing would touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.state import State
from bringup.session.console import Orphan
from bringup.ui.paint.holders import short_title
from bringup.ui.paint.identity import model_name
from bringup.ui.paint.measures import age, count, gib
from bringup.ui.paint.orders import field, text_rows
from bringup.ui.paint.row import Row, fill, joined, shorten, width_of, wrapped

_PID = 8
_INDENT = "    "
_MEMORY: Mapping[str, str] = {
    "held": "GPU memory",
    "none": "no GPU memory",
    "unknown": "GPU memory not known",
    "no GPU": "no GPU here",
}
"""What is said of memory of which nobody knows how much it is."""


def paint_server(server: Server, state: State, now: float, width: int) -> Row:
    """Return one server: a mark for the one that is watched, PID, engine, model, port, user, age, GPU memory."""
    watched = state.server is not None and (server.pid, server.start) == (state.server.pid, state.server.start)
    head: Row = ((" ● " if watched else "   ", "work"), (f"{server.pid:>{_PID - 1}}  ", "strong"))
    told = [
        (clean_text(server.engine), "text"),
        (f"port {server.port}" if server.port is not None else "no port", "text"),
        (clean_text(server.user), "quiet"),
        (age(max(0.0, now - server.started_at)) if server.started_at else "", "quiet"),
        (_held(server, state, watched=watched), "text"),
    ]
    room = width - width_of(head) - width_of(joined(told)) - 3
    model = shorten(model_name(server.model), room) if server.model and room > 6 else ""
    return (*head, *joined([told[0], (model, "strong"), *told[1:]]))


def paint_orphan(orphan: Orphan, width: int, *, chosen: bool, read_only: bool = False) -> list[Row]:
    """Return one orphan: whether it is chosen, PID, title, GPU memory, age, user; below it why it is left alone."""
    may = not (orphan.why_not or read_only)
    mark, ink = ("[x] ", "bad") if chosen else ("[ ] ", "key") if may else (" -  ", "quiet")
    rows: list[Row] = [((mark, ink), *_told(orphan, width - len(mark)))]
    if orphan.why_not:
        rows += [((_INDENT, "text"), (line, "slow")) for line in wrapped(clean_text(orphan.why_not), width - 6, 2)]
    return rows


def paint_clearing(node: str, chosen: Sequence[Orphan], width: int) -> list[Row]:
    """Return exactly what is ended when orphans are cleared, and how."""
    memory = sum(orphan.gpu_mib or 0 for orphan in chosen)
    what = count(len(chosen), "process", "processes")
    rows: list[Row] = [((f"Clear {count(len(chosen), 'orphan')}?", "bad"),), ()]
    rows.append(field("host", ((clean_text(node), "strong"),)))
    rows.append(
        field("ends", ((f"{what}, and all that descends from {'it' if len(chosen) == 1 else 'them'}", "strong"),))
    )
    rows += [_told(orphan, width) for orphan in chosen]
    if unasked := next((orphan.unasked for orphan in chosen if orphan.unasked), ""):
        rows += text_rows("beware", f"What they hold of the GPUs cannot be checked: {unasked}.", width, 3, "slow")
    how = f"SIGTERM, and after 3 s SIGKILL; then {gib(memory)} GiB of GPU memory are waited for."
    rows += [(), *text_rows("how", how if memory else "SIGTERM, and after 3 s SIGKILL.", width, 2)]
    again = "Each is looked at once more before: one that answers, or is another's by then, is left alone."
    return [*rows, *text_rows("", again, width, 2, "quiet")]


def _told(orphan: Orphan, width: int) -> Row:
    process = orphan.process
    gpu = f"{gib(orphan.gpu_mib)} GiB" if orphan.gpu_mib else _MEMORY[orphan.memory]
    right = joined(
        [
            (gpu, "strong" if orphan.gpu_mib else "quiet"),
            (f"{age(orphan.age)} old", "quiet"),
            (f"{clean_text(process.user)}", "text"),
        ]
    )
    left: Row = ((f"{process.pid:<{_PID}}", "strong"),)
    room = max(1, width - _PID - width_of(right) - 2)
    title = short_title(process.title or process.comm, room)
    return (*left, *fill(((title, "text"),), room), ("  ", "text"), *right)


def _held(server: Server, state: State, *, watched: bool) -> str:
    """GPU memory of the server's processes, where they are known."""
    ours = {process.pid for process in state.processes} if watched else {server.pid}
    held = sum(app.used or 0 for app in state.gpu.apps if app.pid in ours)
    return f"{gib(held)} GiB" if held else ""
