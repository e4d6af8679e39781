"""What a dialog shows before the server is touched: exactly which host, processes and command, and what comes after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bringup.core.events import Process
from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.session.console import StopPlan
from bringup.ui.paint.holders import short_title
from bringup.ui.paint.identity import PLAIN_LAUNCHERS, model_name
from bringup.ui.paint.measures import count
from bringup.ui.paint.row import Row, clip, fill, joined, shorten, wrapped

LABEL = 11
_COMMAND_LINES = 8
_FEW = 4
_TWO_COLUMNS = 70
_WAY = 9


@dataclass(frozen=True, slots=True)
class Way:
    """One way to stop a server."""

    shown: str
    does: str


WAYS = {
    "OWN": Way("its own", "{command}"),
    "TERM": Way("SIGTERM", "asks it to end; {kills}"),
    "GENTLE": Way("gently", "asks it to end and waits {patience}; {kills}"),
    "INT": Way("SIGINT", "as ctrl+c would; {kills}"),
    "KILL": Way("SIGKILL", "ends it at once; nothing is written or cleaned up"),
}
"""By the names that `Console.stop` takes, the gentler first."""


def paint_plan(plan: StopPlan, width: int, *, command: str = "") -> list[Row]:
    """Return host, server, launcher, every process that is ended, those left alone, the command, and the log."""
    server = plan.server
    what = joined(
        [
            (f"PID {server.pid}", "strong"),
            (clean_text(server.engine), "text") if server.engine else ("not recognised as a server", "slow"),
            (f"port {server.port}" if server.port is not None else "", "text"),
            (f"user {clean_text(server.user)}" if server.user else "", "text"),
            # The longest comes last: the command tells it, too.
            (model_name(server.model), "text"),
        ]
    )
    rows: list[Row] = [field("host", ((clean_text(plan.node), "strong"),)), clip(field("server", what), width)]
    rows += _launcher(plan, width)
    # Before the command, which may be long: on a small screen what is touched is to be read without turning pages.
    rows += _processes("ends", plan.members, width, "strong")
    if plan.swept:
        swept = f"in the same {_unit(plan)}: {WAYS['OWN'].shown} command ends all of it"
        rows += _processes("ends too", plan.swept, width, "slow", f" {swept}")
    if plan.bystanders:
        rows += _processes("left alone", plan.bystanders, width, "text")
    rows += _how(plan, width)
    rows += text_rows("beware", plan.unused, width, 4, "slow") if plan.unused else ()
    if shown := command or plan.command:
        rows += text_rows("command", shown, width, _COMMAND_LINES)
    if plan.log:
        rows += text_rows("log", plan.log, width, 1)
    return rows


def paint_after_stop(plan: StopPlan, way: str, width: int) -> list[Row]:
    """Return what the stop waits for after the request, and who may start the server again."""
    # Of the others it is said beside each of them.
    kills = plan.kills(way) if way == "OWN" else ""
    then = " ".join(f"{part[0].upper()}{part[1:]}." for part in (kills, plan.waits) if part)
    rows = [*(text_rows("then", then, width, 4) if then else ()), *_unasked(plan, width)]
    returns = plan.returns(way)
    if returns:
        rows += text_rows("beware", returns, width, 2, "slow")
    return rows


def paint_after_restart(plan: StopPlan, width: int, *, edited: bool) -> list[Row]:
    """Return how the server is stopped and launched again, and what becomes of its log; or why it cannot be."""
    if plan.restartable:
        return text_rows("but", plan.restartable, width, 5, "slow")
    how = plan.stop_command if plan.ways[0] == "OWN" else WAYS[plan.ways[0]].shown
    then = "; ".join(part for part in (f"It is stopped with {how}", plan.kills(plan.ways[0]), plan.waits) if part)
    rows = text_rows("then", f"{then}.", width, 4)
    rows += _unasked(plan, width)
    if plan.start_command:
        rows += text_rows("starts", f"It is started with {plan.start_command}", width, 3)
    elif plan.server.launcher.respawns:
        rows += text_rows("starts", f"{clean_text(plan.server.launcher.words)} starts it again.", width, 3)
    else:
        which = "The edited command" if edited else "The same command"
        rows += text_rows("starts", f"{which} is launched in the same folder, with the same environment.", width, 2)
    if plan.log_fate:
        rows += text_rows("old log", plan.log_fate, width, 3)
    return rows


def _unasked(plan: StopPlan, width: int) -> list[Row]:
    """That nobody can tell whether GPU memory is free, and why."""
    if not plan.unasked:
        return []
    return text_rows("beware", f"Whether its GPU memory is free cannot be checked: {plan.unasked}.", width, 3, "slow")


def paint_hurry(plan: StopPlan, left: Sequence[Process], width: int) -> list[Row]:
    """Return what is done to a stop that is under way when there is no time any more; `left` still runs."""
    rows: list[Row] = [(("Kill what is left now?", "bad"),), (), field("host", ((clean_text(plan.node), "strong"),))]
    rows += text_rows("server", f"PID {plan.server.pid}, {plan.command}", width, 2)
    if left:
        who = "it starts" if len(left) == 1 else "they start"
        rows += _processes("kills", left, width, "strong", f" with SIGKILL, and what {who} meanwhile")
    else:
        rows += text_rows(
            "kills", "None of its processes was seen in the last look: what they start meanwhile", width, 2
        )
    then = "Nothing is written or cleaned up, and running requests are lost."
    return [*rows, *text_rows("then", then, width, 2)]


def paint_ways(plan: StopPlan, chosen: int, width: int) -> list[Row]:
    """Return the ways to choose from, the gentler first."""
    rows: list[Row] = []
    for number, name in enumerate(plan.ways):
        way = WAYS[name]
        mark, ink = ("(•)", "focus") if number == chosen else ("( )", "quiet")
        does = clean_text(
            way.does.format(command=plan.stop_command, kills=plan.kills(name), patience=duration(plan.patience))
        )
        rows.append(
            (
                (f"{mark} ", ink),
                (f"{number + 1} ", "key"),
                (way.shown.ljust(_WAY), "strong" if number == chosen else "text"),
                (shorten(does, width - _WAY - 6), "quiet"),
            )
        )
    return rows


def text_rows(label: str, text: str, width: int, most: int, ink: str = "text") -> list[Row]:
    """Return text beside a label, wrapped to at most `most` rows."""
    lines = wrapped(clean_text(text), max(10, width - LABEL), most)
    return [field(label if number == 0 else "", ((line, ink),)) for number, line in enumerate(lines)]


def field(label: str, value: Row) -> Row:
    """Return a row that begins with a label."""
    return ((label.ljust(LABEL), "quiet"), *value)


def _launcher(plan: StopPlan, width: int) -> list[Row]:
    """How it was launched."""
    launcher = plan.server.launcher
    if not launcher.words:
        return []
    ink = "slow" if launcher.respawns is not False else "text"
    told = " ".join(part for part in (f"{launcher.words}.", launcher.detail) if part)
    return text_rows("launcher", f"{told[0].upper()}{told[1:]}", width, 3, ink)


def _how(plan: StopPlan, width: int) -> list[Row]:
    """What the way it was launched means for a stop and a restart."""
    launcher = plan.server.launcher
    if not launcher.words or not launcher.sentence or launcher.kind in PLAIN_LAUNCHERS:
        return []
    return text_rows("how", launcher.sentence.replace("{drain}", f"{plan.drain:.0f}"), width, 4, "quiet")


def _unit(plan: StopPlan) -> str:
    words = plan.server.launcher.words
    return "container" if "container" in words else "job step" if "Slurm" in words else "unit"


def _processes(label: str, processes: Sequence[Process], width: int, ink: str, more: str = "") -> list[Row]:
    """Number, and PID and title of each, in two columns where there are many."""
    rows = text_rows(label, f"{count(len(processes), 'process', 'processes')}{more}", width, 2, ink)
    columns = 2 if len(processes) > _FEW and width >= _TWO_COLUMNS else 1
    each = (width - LABEL) // columns
    for first in range(0, len(processes), columns):
        row: Row = ()
        for process in processes[first : first + columns]:
            title = short_title(process.title or process.comm, each - 10)
            row = (*row, *fill(((f"{process.pid:<7} ", "quiet"), (title, "text")), each - 2), ("  ", "text"))
        rows.append(field("", row))
    return rows
