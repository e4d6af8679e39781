"""What a dialog shows before the server is touched: exactly which host, processes and command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bringup.core.events import Process
from bringup.core.sanitize import clean_text
from bringup.session.console import StopPlan
from bringup.ui.paint.holders import short_title
from bringup.ui.paint.identity import model_name
from bringup.ui.paint.measures import count
from bringup.ui.paint.row import Row, fill, joined, wrapped

_LABEL = 11
_COMMAND_LINES = 8
_FEW = 4
_TWO_COLUMNS = 70


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal that may be sent to the launcher."""

    name: str
    """As `Console.stop` takes it."""
    shown: str
    does: str


SIGNALS = (
    Signal("TERM", "SIGTERM", "asks it to end; what is left after a while is killed"),
    Signal("INT", "SIGINT", "as ctrl+c would; what is left after a while is killed"),
    Signal("KILL", "SIGKILL", "ends it at once; nothing is written or cleaned up"),
)


def paint_plan(plan: StopPlan, width: int) -> list[Row]:
    """Return host, server, command, every process that is ended, those left alone, and the log."""
    server = plan.server
    what = joined(
        [
            (f"PID {server.pid}", "strong"),
            (clean_text(server.engine), "text"),
            (model_name(server.model), "text"),
            (f"port {server.port}" if server.port is not None else "", "text"),
            (f"user {clean_text(server.user)}" if server.user else "", "text"),
        ]
    )
    rows: list[Row] = [_field("host", ((clean_text(plan.node), "strong"),)), _field("server", what)]
    rows += _text("command", plan.command, width, _COMMAND_LINES)
    rows += _processes("ends", plan.members, width, "strong")
    if plan.bystanders:
        rows += _processes("left alone", plan.bystanders, width, "text")
    if plan.log:
        rows += _text("log", plan.log, width, 1)
    if server.parent:
        warning = f"Above it runs {clean_text(server.parent)}, which may start it again by itself."
        rows += _text("supervisor", warning, width, 2, "slow")
    return rows


def paint_signals(chosen: int) -> list[Row]:
    """Return the signals to choose from."""
    rows: list[Row] = []
    for number, signal in enumerate(SIGNALS):
        mark, ink = ("(•)", "focus") if number == chosen else ("( )", "quiet")
        rows.append(
            (
                (f"{mark} ", ink),
                (f"{number + 1} ", "key"),
                (signal.shown.ljust(9), "strong" if number == chosen else "text"),
                (signal.does, "quiet"),
            )
        )
    return rows


def _processes(label: str, processes: Sequence[Process], width: int, ink: str) -> list[Row]:
    """Number, and PID and title of each, in two columns where there are many."""
    rows = [_field(label, ((count(len(processes), "process", "processes"), ink),))]
    columns = 2 if len(processes) > _FEW and width >= _TWO_COLUMNS else 1
    each = (width - _LABEL) // columns
    for first in range(0, len(processes), columns):
        row: Row = ()
        for process in processes[first : first + columns]:
            title = short_title(process.title or process.comm, each - 10)
            row = (*row, *fill(((f"{process.pid:<7} ", "quiet"), (title, "text")), each - 2), ("  ", "text"))
        rows.append(_field("", row))
    return rows


def _text(label: str, text: str, width: int, most: int, ink: str = "text") -> list[Row]:
    lines = wrapped(clean_text(text), max(10, width - _LABEL), most)
    return [_field(label if number == 0 else "", ((line, ink),)) for number, line in enumerate(lines)]


def _field(label: str, value: Row) -> Row:
    return ((label.ljust(_LABEL), "quiet"), *value)
