"""What a stop or restart would touch, as a page to be confirmed: host, server, every process, and those left alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from bringup.core.events import Process, Server
from bringup.report.harmless import harmless
from bringup.report.page import GUTTER, Row, flow, labelled, section, shorten
from bringup.session.console import StopPlan

_LONGEST_TITLE = 70


def plan_page(plan: StopPlan, width: int, *, restart: bool) -> RenderableType:
    """Return the page for a terminal or a pipe of `width` columns."""
    return section([*_rows(plan, width - GUTTER, restart=restart)])


def _rows(plan: StopPlan, room: int, *, restart: bool) -> Iterator[Row]:
    yield "host", Text(harmless(plan.node), "bold")
    yield from labelled("server", [Text(line) for line in flow(_server(plan.server), room)])
    yield "command", Text(harmless(plan.command))
    if plan.launched_by:
        sentence = plan.server.launcher.sentence.replace("{drain}", f"{plan.drain:.0f}")
        yield "launcher", Text(harmless(f"{plan.launched_by} {sentence}".strip()))
    yield from labelled("ends", _processes(plan.members))
    if plan.swept:
        yield from labelled("ends too", _processes(plan.swept))
    if plan.bystanders:
        yield from labelled("left alone", _processes(plan.bystanders))
    if plan.stop_command:
        yield "stops by", Text(harmless(plan.stop_command))
    if plan.unasked:
        yield "GPU memory", Text(harmless(f"whether it is free cannot be checked: {plan.unasked}"), "yellow")
    if restart:
        yield "starts by", Text(harmless(plan.start_command or "the same command, directory and environment"))
        fate = f"{plan.log}. {plan.log_fate}" if plan.log and plan.log_fate else plan.log or plan.log_fate
        if fate:
            yield "log", Text(harmless(fate))


def _server(server: Server) -> Iterator[str]:
    yield f"PID {server.pid}"
    if server.engine:
        yield harmless(server.engine)
    if server.model:
        yield shorten(harmless(server.model))
    if server.port is not None:
        yield f"port {server.port}"
    if server.user:
        yield f"user {harmless(server.user)}"


def _processes(processes: Sequence[Process]) -> list[Text]:
    return [Text(f"{process.pid:<8} {_title(process)}", no_wrap=True, overflow="ellipsis") for process in processes]


def _title(process: Process) -> str:
    title = harmless(process.title or process.comm)
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
