"""What a stop or restart would touch, as a page to be confirmed: host, server, every process, and those left alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from bringup.core.events import Process, Server
from bringup.core.words import duration
from bringup.report.harmless import harmless
from bringup.report.page import GUTTER, Row, flow, labelled, section, shorten
from bringup.session.console import StopPlan

_LONGEST_TITLE = 70


def plan_page(plan: StopPlan, width: int, *, restart: bool, way: str = "", cut: bool = True) -> RenderableType:
    """Return the page for a terminal or a pipe of `width` columns; a `cut` one has one row for each process.

    `way` is one of the plan's ways to stop; "" is the first of them.
    """
    return section([*_rows(plan, width - GUTTER, way or plan.ways[0], restart=restart, cut=cut)])


def _rows(plan: StopPlan, room: int, way: str, *, restart: bool, cut: bool) -> Iterator[Row]:
    yield "host", Text(harmless(plan.node), "bold")
    yield from labelled("server", [Text(line) for line in flow(_server(plan.server), room)])
    if plan.command:
        yield "command", Text(harmless(plan.command))
    if plan.launched_by:
        sentence = plan.server.launcher.sentence.replace("{drain}", f"{plan.drain:.0f}")
        yield "launcher", Text(harmless(f"{plan.launched_by} {sentence}".strip()))
    yield from labelled("ends", _processes(plan.members, cut=cut))
    if plan.swept:
        yield from labelled("ends too", _processes(plan.swept, cut=cut))
    if plan.bystanders:
        yield from labelled("left alone", _processes(plan.bystanders, cut=cut))
    yield "stops by", Text(harmless(_stops(plan, way)))
    if plan.unused:
        yield "beware", Text(harmless(plan.unused), "yellow")
    returns = plan.returns(way)
    if returns and not restart:
        yield "beware", Text(harmless(returns), "yellow")
    if plan.unasked:
        yield "GPU memory", Text(harmless(f"whether it is free cannot be checked: {plan.unasked}"), "yellow")
    if restart:
        yield "starts by", Text(harmless(plan.start_command or _start(plan.server)))
        fate = f"{plan.log}. {plan.log_fate}" if plan.log and plan.log_fate else plan.log or plan.log_fate
        if fate:
            yield "log", Text(harmless(fate))


def _start(server: Server) -> str:
    launcher = server.launcher
    return f"{launcher.words} itself" if launcher.respawns else "the same command, directory and environment"


def _stops(plan: StopPlan, way: str) -> str:
    """How it is stopped, and what is waited for then."""
    by = {
        "OWN": plan.stop_command,
        "TERM": "SIGTERM",
        "GENTLE": f"SIGTERM, which it has {duration(plan.patience)} to follow",
        "INT": "SIGINT",
        "KILL": "SIGKILL at once: nothing is written or cleaned up",
    }
    then = f"then {plan.waits}" if plan.waits else ""
    return "; ".join(part for part in (by[way], plan.kills(way), then) if part)


def _server(server: Server) -> Iterator[str]:
    yield f"PID {server.pid}"
    yield harmless(server.engine) or "not recognised as a server"
    if server.model:
        yield shorten(harmless(server.model))
    if server.port is not None:
        yield f"port {server.port}"
    if server.user:
        yield f"user {harmless(server.user)}"


def _processes(processes: Sequence[Process], *, cut: bool) -> list[Text]:
    if not cut:
        return [Text(f"{process.pid:<8} {harmless(process.title or process.comm)}") for process in processes]
    return [Text(f"{process.pid:<8} {_title(process)}", no_wrap=True, overflow="ellipsis") for process in processes]


def _title(process: Process) -> str:
    title = harmless(process.title or process.comm)
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
