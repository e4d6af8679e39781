"""Pictures of the screen, compared byte by byte: sizes, states, dark and light."""

from __future__ import annotations

from typing import Any

import pytest
from ui.scenes import HISTORY
from ui.screen import MIDDLE, NARROW, WIDE, make

PICTURES = [
    ("searching", NARROW, "dark"),
    ("weights", NARROW, "dark"),
    ("weights", NARROW, "light"),
    ("mixed", MIDDLE, "dark"),
    ("graphs", MIDDLE, "dark"),
    ("graphs", NARROW, "ansi"),
    ("stalled", MIDDLE, "light"),
    ("failed", NARROW, "dark"),
    ("degraded", MIDDLE, "dark"),
    ("lost", MIDDLE, "dark"),
    ("sixteen", NARROW, "dark"),
    ("strangers", WIDE, "dark"),
    ("holders", NARROW, "dark"),
    ("holders", MIDDLE, "light"),
    ("holders", WIDE, "dark"),
    ("early", NARROW, "light"),
    ("countdown", NARROW, "dark"),
    ("countdown", MIDDLE, "light"),
    ("memory", MIDDLE, "dark"),
    ("memory", NARROW, "ansi"),
    ("trouble", MIDDLE, "dark"),
    ("waits_for_one", NARROW, "dark"),
    ("hang", MIDDLE, "light"),
    ("to_come", MIDDLE, "dark"),
]
ACCOUNTS = [
    ("countdown", NARROW, "dark"),
    ("countdown", MIDDLE, "light"),
    ("countdown", WIDE, "dark"),
    ("hang", NARROW, "ansi"),
    ("holders", MIDDLE, "dark"),
    ("waits_for_one", MIDDLE, "dark"),
]


@pytest.mark.parametrize(
    ("scene", "size", "theme"), PICTURES, ids=lambda value: str(value).replace(", ", "x").strip("()")
)
def test_picture(scene: str, size: tuple[int, int], theme: str, snap_compare: Any) -> None:
    app, console = make(scene, theme=f"bringup-{theme}")
    if scene == "graphs":
        console.remember(HISTORY)
    assert snap_compare(app, terminal_size=size)


@pytest.mark.parametrize(
    ("scene", "size", "theme"), ACCOUNTS, ids=lambda value: str(value).replace(", ", "x").strip("()")
)
def test_account(scene: str, size: tuple[int, int], theme: str, snap_compare: Any) -> None:
    app, _ = make(scene, theme=f"bringup-{theme}")
    assert snap_compare(app, terminal_size=size, press=["v"])
