"""The rows of a plan before anything is touched: what is touched comes first, and nothing is cut without a sign."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ui.acts import LOOP, PANE, in_unit, launched, serving
from ui.fakes import FakeConsole

from bringup.core.events import Launcher
from bringup.session.console import StopPlan
from bringup.ui.paint.footer import paint_footer
from bringup.ui.paint.holders import short_title
from bringup.ui.paint.orders import paint_after_restart, paint_after_stop, paint_plan, paint_ways
from bringup.ui.paint.row import Row, plain, width_of
from bringup.ui.picture import Picture


async def planned(console: FakeConsole | None = None) -> StopPlan:
    """What a stop of a server that serves touches."""
    return await (console or serving()).plan()


def text(rows: list[Row]) -> str:
    """Rows as running text, however they are wrapped."""
    return " ".join(" ".join(plain(row) for row in rows).split())


async def test_what_is_ended_stands_before_a_command_of_any_length() -> None:
    rows = [plain(row) for row in paint_plan(await planned(), 72)]
    places = [next(n for n, row in enumerate(rows) if row.startswith(label)) for label in ("host", "ends", "command")]
    assert places == sorted(places)
    assert places[1] <= 3


@pytest.mark.parametrize("width", [44, 52, 72])
async def test_no_row_is_wider_than_its_room(width: int) -> None:
    plan = await planned(in_unit())
    plan = replace(plan, server=replace(plan.server, model="/models/" + "long-name-" * 8))
    for row in paint_plan(plan, width):
        assert width_of(row) <= width, plain(row)
    assert "its own command ends all of it" in text(paint_plan(plan, width))


async def test_a_process_that_is_no_servers_is_said_to_be_none() -> None:
    plan = await planned()
    assert "not recognised as a server" not in text(paint_plan(plan, 72))
    unknown = replace(plan, server=replace(plan.server, engine=""))
    assert f"PID {plan.server.pid} · not recognised as a server" in text(paint_plan(unknown, 72))


@pytest.mark.parametrize("width", [44, 72])
async def test_why_the_target_s_own_commands_are_not_used_is_said(width: int) -> None:
    plan = await planned()
    assert "beware" not in text(paint_plan(plan, width))
    why = "The target's own stop and launch commands are not used: this is not known to be its server (port 30000)."
    rows = paint_plan(replace(plan, unused=why), width)
    assert f"beware {why}" in text(rows)
    assert all(width_of(row) <= width for row in rows)


async def test_what_is_waited_for_is_named() -> None:
    plan = await planned()
    after = text(paint_after_stop(plan, "TERM", 72))
    assert after.startswith("then Its GPU memory and port 30000 are waited for.")
    portless = replace(plan, server=replace(plan.server, port=None))
    assert text(paint_after_stop(portless, "TERM", 72)).startswith("then Its GPU memory is waited for.")
    restarted = text(paint_after_restart(plan, 72, edited=False))
    assert "what is left after 10 s is killed; its GPU memory and port 30000 are waited for." in restarted


async def test_how_long_the_launchers_own_command_may_take_is_said_before_it_is_run() -> None:
    plan = await planned(in_unit())
    kills = "he command is given up after 1 min 50 s; what is left then, or 10 s after its end, is killed"
    assert f"It is stopped with systemctl stop sglang.service; t{kills};" in text(
        paint_after_restart(plan, 72, edited=False)
    )
    assert text(paint_after_stop(plan, "OWN", 72)).startswith(f"then T{kills}. Its GPU memory")
    assert "killed" not in text(paint_after_stop(plan, "TERM", 72)), "it stands beside the signal"
    assert "asks it to end; what is left after 10 s is killed" in text(paint_ways(plan, 0, 80))


@pytest.mark.parametrize(
    ("launcher", "said"),
    [
        (replace(PANE, respawns=None, above=((90, 5), (80, 4))), "What stands above it (PID 90) may start it again"),
        (LOOP, "The script bash /opt/serve.sh starts it again"),
    ],
)
async def test_who_may_start_it_again_is_named(launcher: Launcher, said: str) -> None:
    plan = await planned(launched(launcher))
    assert said in text(paint_after_stop(plan, "TERM", 72))


def test_of_a_command_line_the_folder_of_its_program_goes_first() -> None:
    title = "/opt/venvs/serving/bin/python3 -c from multiprocessing.spawn import spawn_main"
    assert short_title(title, 20) == "python3 -c from mul…"
    assert short_title(title, 200) == title
    assert short_title("sglang::scheduler_TP12", 16) == "…:scheduler_TP12"


async def test_while_no_server_is_there_the_list_of_what_lives_on_is_offered() -> None:
    console = serving()
    assert "o servers" not in plain(paint_footer(picture_of(console), 80, "log"))
    console.change(replace(console.state, server=None))
    assert "o servers" in plain(paint_footer(picture_of(console), 80, "log"))


def picture_of(console: FakeConsole) -> Picture:
    return Picture(console.state, console.verdict(), "box")
