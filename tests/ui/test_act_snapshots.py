"""Pictures of what stands before, during and after a stop or a restart. `--snapshot-update` takes them anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea
from ui.acts import advance, cut, in_pane, in_unit, serving, with_orphans
from ui.dialogs import ask, begin_stop, heard
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, NARROW, make, until

from bringup.hosts.control import LaunchFailed
from bringup.ui.app import BringupApp
from bringup.ui.screens.editor import EditScreen
from bringup.ui.screens.left import LeftDialog
from bringup.ui.screens.servers import ServersScreen

Act = Callable[[BringupApp, FakeConsole, Pilot[None]], Awaitable[object]]


async def kill(app: BringupApp, _: FakeConsole, pilot: Pilot[None]) -> None:
    await ask(app, pilot, "K")


async def kill_harder(app: BringupApp, _: FakeConsole, pilot: Pilot[None]) -> None:
    await ask(app, pilot, "K")
    await pilot.press("4")


async def progress(app: BringupApp, console: FakeConsole, pilot: Pilot[None]) -> None:
    await begin_stop(app, console, pilot)
    advance(console, "SIGTERM sent to python (PID 100).", left=10.0)
    console.wait(4)
    advance(console, "3 processes still run; SIGKILL in 6 s.", left=6.0, pids={100, 103, 105})
    await until(pilot, lambda: app.watch_screen.picture is not None and app.watch_screen.picture.is_busy)


async def hurry(app: BringupApp, console: FakeConsole, pilot: Pilot[None]) -> None:
    await progress(app, console, pilot)
    await ask(app, pilot, "K")


async def restart(app: BringupApp, _: FakeConsole, pilot: Pilot[None]) -> None:
    await ask(app, pilot, "R")


async def editor(app: BringupApp, _: FakeConsole, pilot: Pilot[None]) -> None:
    await ask(app, pilot, "R")
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, EditScreen) and app.screen.focused is not None)
    text = app.screen.query_one(TextArea)
    text.cursor_blink = False
    text.text = text.text.replace("0.88", "0.80").replace("--trust-remote-code\n", "") + "\n--enable-metrics"


async def edited(app: BringupApp, console: FakeConsole, pilot: Pilot[None]) -> None:
    await editor(app, console, pilot)
    await pilot.press("ctrl+s")
    await heard(app, pilot)


async def orphans(app: BringupApp, _: FakeConsole, pilot: Pilot[None]) -> None:
    await pilot.press("o")
    await until(pilot, lambda: isinstance(app.screen, ServersScreen) and app.screen.is_known)
    await pilot.press("j", "j", "space")


async def clearing(app: BringupApp, console: FakeConsole, pilot: Pilot[None]) -> None:
    await orphans(app, console, pilot)
    await pilot.press("j", "space", "C")
    await heard(app, pilot)


async def unfinished(app: BringupApp, _: FakeConsole, pilot: Pilot[None]) -> None:
    await heard(app, pilot)


async def failed(app: BringupApp, console: FakeConsole, pilot: Pilot[None]) -> None:
    console.failing = LaunchFailed(
        "The new server on gpu-a ended at once with exit status 2: launch_server.py: error: unrecognized arguments: "
        "--enable-metric."
    )
    console.left = cut(step="failed", age=1, who="")
    await ask(app, pilot, "R")
    await pilot.press("y")
    await until(pilot, lambda: isinstance(app.screen, LeftDialog))


def left_over() -> FakeConsole:
    console = SCENES["stopped"]()
    console.left = cut()
    return console


def rest() -> FakeConsole:
    console = SCENES["stopped"]()
    console.left = cut(action="stop", step="stopping", alive=((4242, 1), (4243, 1)), kept=False)
    return console


async def aside(app: BringupApp, _: FakeConsole, pilot: Pilot[None]) -> None:
    await heard(app, pilot)
    await pilot.press("escape")


async def no_editor(app: BringupApp, _: FakeConsole, pilot: Pilot[None]) -> None:
    await ask(app, pilot, "R")
    await pilot.press("e")


ACTS: dict[str, tuple[Callable[[], FakeConsole], Act]] = {
    "kill": (in_unit, kill),
    "kill_harder": (in_unit, kill_harder),
    "progress": (serving, progress),
    "hurry": (serving, hurry),
    "restart": (in_pane, restart),
    "restart_unit": (in_unit, restart),
    "editor": (in_pane, editor),
    "edited": (in_pane, edited),
    "orphans": (with_orphans, orphans),
    "clearing": (with_orphans, clearing),
    "unfinished": (left_over, unfinished),
    "failed": (in_pane, failed),
    "rest": (rest, unfinished),
    "aside": (rest, aside),
    "no_editor": (in_unit, no_editor),
}
MAIN = ("kill", "progress", "restart", "editor", "orphans", "unfinished")
PICTURES = [
    *((act, size, "dark") for act in MAIN for size in (NARROW, MIDDLE)),
    ("kill_harder", MIDDLE, "light"),
    ("restart_unit", NARROW, "dark"),
    ("edited", NARROW, "dark"),
    ("edited", MIDDLE, "light"),
    ("editor", NARROW, "ansi"),
    ("clearing", NARROW, "dark"),
    ("failed", NARROW, "light"),
    ("hurry", NARROW, "dark"),
    *((act, NARROW, "dark") for act in ("rest", "aside", "no_editor")),
    ("hurry", MIDDLE, "light"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("act", "size", "theme"), PICTURES, ids=lambda value: str(value).replace(", ", "x").strip("()")
)
def test_act(act: str, size: tuple[int, int], theme: str, snap_compare: Any) -> None:
    scene, play = ACTS[act]
    app, console = make(scene(), theme=f"bringup-{theme}")

    async def before(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.watch_screen.picture is not None)
        await play(app, console, pilot)
        await pilot.pause(0.3)

    assert snap_compare(app, terminal_size=size, run_before=before)
