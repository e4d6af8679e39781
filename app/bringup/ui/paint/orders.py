"""What a dialog shows before the server is touched: exactly which host, processes and command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bringup.core.events import Process
from bringup.core.sanitize import clean_text
from bringup.session.console import StopPlan
from bringup.ui.paint.identity import model_name
from bringup.ui.paint.measures import count
from bringup.ui.paint.row import Row, joined, shorten, wrapped

_LABEL = 12
_COMMAND_LINES = 3


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal that may be sent to the launcher."""

    name: str
    """As `Console.stop` takes it."""
    shown: str
    does: str


SIGNALS = (
    Signal("TERM", "SIGTERM", "asks it to end; what is left after a while is killed"),
    Signal("INT", "SIGINT", "as ctrl+c in its terminal; what is left after a while is killed"),
    Signal("KILL", "SIGKILL", "ends it at once; nothing is written or cleaned up"),
)


def paint_plan(plan: StopPlan, width: int, *, processes: int) -> list[Row]:
    """Return host, server, command, at most `processes` of the processes, those left alone, and the log."""
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
    rows += _processes("ends", plan.members, width, processes, "strong")
    if plan.bystanders:
        rows += _processes("left alone", plan.bystanders, width, 2, "text")
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


def _processes(label: str, processes: Sequence[Process], width: int, most: int, ink: str) -> list[Row]:
    rows = [_field(label, ((count(len(processes), "process", "processes"), ink),))]
    shown = processes if len(processes) <= most else processes[: max(0, most - 1)]
    for process in shown:
        title = shorten(clean_text(process.title or process.comm), max(8, width - _LABEL - 10))
        rows.append(_field("", ((f"{process.pid:>8}  ", "quiet"), (title, "text"))))
    if len(shown) < len(processes):
        rows.append(_field("", ((f"     and {len(processes) - len(shown)} more", "quiet"),)))
    return rows


def _text(label: str, text: str, width: int, most: int, ink: str = "text") -> list[Row]:
    lines = wrapped(clean_text(text), max(10, width - _LABEL), most)
    return [_field(label if number == 0 else "", ((line, ink),)) for number, line in enumerate(lines)]


def _field(label: str, value: Row) -> Row:
    return ((label.ljust(_LABEL), "quiet"), *value)
