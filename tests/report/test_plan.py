"""The page before a stop or restart by a command: how it is stopped, and what is waited for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from bringup.core.events import Launcher, Process, Server
from bringup.report.plan import plan_page
from bringup.session.console import StopPlan

SERVER = Server(pid=100, start=1, engine="sglang", argv=("python3",), port=30000)
PLAN = StopPlan("gpu-a", SERVER, "python3", (Process(pid=100, ppid=1, start=1, title="python3"),), drain=30.0)
OWN = replace(
    PLAN,
    ways=("OWN", "TERM", "KILL"),
    stop_command="systemctl stop sglang",
    server=replace(SERVER, launcher=Launcher(kind="systemd", stop="systemctl stop sglang"), port=None),
)


def page(plan: StopPlan, *, restart: bool = False, way: str = "", cut: bool = True) -> str:
    console = Console(width=200)
    with console.capture() as taken:
        console.print(plan_page(plan, 200, restart=restart, way=way, cut=cut))
    return " ".join(taken.get().split())


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (PLAN, "SIGTERM; what is left after 30 s is killed; then its GPU memory and port 30000 are waited for"),
        (
            OWN,
            "systemctl stop sglang; the command is given up after 2 min 10 s; what is left then, or 30 s after its "
            "end, is killed; then its GPU memory is waited for",
        ),
        (PLAN.waiting(600.0), "SIGTERM; what is left after 10 min is killed;"),
    ],
)
def test_how_it_is_stopped_is_said_before_it_is_done(plan: StopPlan, said: str) -> None:
    for restart in (False, True):
        assert f"stops by {said}" in page(plan, restart=restart)


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("GENTLE", "SIGTERM, which it has 5 min to follow; nothing is killed; then its GPU memory and port 30000"),
        ("INT", "SIGINT; what is left after 30 s is killed; then"),
        ("KILL", "SIGKILL at once: nothing is written or cleaned up; then"),
    ],
)
def test_another_way_that_was_asked_for_is_the_one_that_is_said(way: str, said: str) -> None:
    assert f"stops by {said}" in page(PLAN, way=way)


def test_what_starts_it_again_is_said() -> None:
    loop = Launcher(kind="supervisor", words="the script serve.sh", respawns=True, parent=90)
    assert "beware The script serve.sh starts it again after a signal." in page(
        replace(PLAN, server=replace(SERVER, launcher=loop))
    )
    assert "beware" not in page(PLAN)


def test_why_the_target_s_own_commands_are_not_used_is_said() -> None:
    plan = replace(PLAN, unused="The target's own stop command is not used: this is not known to be its server.")
    for restart in (False, True):
        assert f"beware {plan.unused}" in page(plan, restart=restart)


def test_what_is_no_server_is_shown_as_none() -> None:
    said = page(replace(PLAN, server=replace(SERVER, engine="", port=None)))
    assert "server PID 100 · not recognised as a server" in said


def test_a_file_gets_the_whole_command_of_each_process() -> None:
    title = f"python3 {'x' * 150} end"
    plan = replace(PLAN, members=(Process(pid=100, ppid=1, start=1, title=title),))
    assert title not in page(plan)
    assert title in page(plan, cut=False)
