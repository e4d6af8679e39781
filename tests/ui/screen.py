"""Opening the console on a scene, and reading what is on the screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.situations import SITUATIONS

from bringup.ui.app import BringupApp

NARROW, MIDDLE, WIDE = (80, 24), (120, 40), (200, 60)
SIZES = (NARROW, MIDDLE, WIDE)


def text_of(app: BringupApp) -> str:
    """Everything that is drawn, as plain text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def make(scene: str | FakeConsole, **more: Any) -> tuple[BringupApp, FakeConsole]:
    """An app over a scripted console."""
    console = {**SCENES, **SITUATIONS}[scene]() if isinstance(scene, str) else scene
    return BringupApp(console, title="root@gpu-a", **more), console


@asynccontextmanager
async def opened(
    scene: str | FakeConsole, size: tuple[int, int] = MIDDLE, **more: Any
) -> AsyncIterator[tuple[BringupApp, FakeConsole, Pilot[None]]]:
    """The console on a scene, with its first picture drawn."""
    app, console = make(scene, **more)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.watch_screen.picture is not None)
        yield app, console, pilot
        # It is left, as by a key: what was still to be drawn does not count any more.
        app._exit = True


async def until(pilot: Pilot[None], holds: Callable[[], bool], tries: int = 400) -> None:
    """Let the app run until a condition holds; generous, for slow machines, and no longer than it takes."""
    for _ in range(tries):
        await pilot.pause(0.005)
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it never came to that:\n" + text_of(pilot.app))  # type: ignore[arg-type]
