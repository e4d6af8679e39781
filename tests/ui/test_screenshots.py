"""The pictures of the README, made from the scripted start; `BRINGUP_SCREENSHOTS=write` makes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ui.biglog import LINES, numbered, reading_big
from ui.scenes import HISTORY
from ui.screen import MIDDLE, NARROW, WIDE, opened, until

from bringup.ui.screens.whole_log import WholeLogScreen

TITLE = "bringup watch root@gpu-a"
FOLDER = Path(__file__).parents[2] / "screenshots"
PICTURES = [
    ("weights", MIDDLE, "dark", ()),
    ("weights", NARROW, "dark", ()),
    ("weights", WIDE, "dark", ()),
    ("weights", MIDDLE, "light", ()),
    ("graphs", MIDDLE, "dark", ()),
    ("failed", MIDDLE, "dark", ("full_stop",)),
    ("stalled", MIDDLE, "dark", ()),
    ("ready", MIDDLE, "dark", ()),
    ("kill", MIDDLE, "dark", ("K",)),
    ("holders", MIDDLE, "dark", ()),
    ("evidence", MIDDLE, "dark", ("v",)),
    ("hostile-bytes", MIDDLE, "dark", ()),
    ("stale", MIDDLE, "dark", ()),
    ("reconnecting", MIDDLE, "dark", ()),
    ("refused", MIDDLE, "dark", ()),
    ("disk-full", MIDDLE, "dark", ()),
]
SCENES_OF = {"kill": "weights", "evidence": "countdown", "hostile-bytes": "hostile", "disk-full": "disk_full"}
"""Pictures whose name is not that of their scene."""


@pytest.mark.parametrize(("name", "size", "theme", "keys"), PICTURES, ids=str)
async def test_screenshot(name: str, size: tuple[int, int], theme: str, keys: tuple[str, ...]) -> None:
    scene = SCENES_OF.get(name, name)
    file = FOLDER / f"{name}-{size[0]}x{size[1]}{'' if theme == 'dark' else '-' + theme}.svg"
    async with opened(scene, size, theme=f"bringup-{theme}") as (app, console, pilot):
        if name == "graphs":
            console.remember(HISTORY)
            app.watch_screen.paint()
        await pilot.press(*keys)
        await pilot.pause()
        picture = app.export_screenshot(title=TITLE)
    compare(file, picture)


async def test_screenshot_of_the_whole_log(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"".join(numbered(number) + b"\n" for number in range(LINES)))
    async with reading_big(path) as it:
        await it.pilot.press("p")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen))
        await it.pilot.press("escape", "slash", *"needle", "enter")
        await it.sees("is not below here")
        await it.pilot.press("N")
        await it.sees("Decode batch 150007")
        await until(it.pilot, lambda: not it.screen._busy)
        await it.pilot.pause()
        picture = it.app.export_screenshot(title=TITLE)
    compare(FOLDER / "whole-log-120x40.svg", picture)


def compare(file: Path, picture: str) -> None:
    """Compare a picture with the one that is kept, or keep it."""
    if os.environ.get("BRINGUP_SCREENSHOTS") == "write":
        file.write_text(picture, "utf-8")
    assert file.read_text("utf-8") == picture
