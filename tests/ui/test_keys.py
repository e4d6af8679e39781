"""Every key does what the help says of it, at every size."""

from __future__ import annotations

import pytest
from ui.screen import SIZES, opened, text_of, until

from bringup.ui.screens.reading import EvidenceScreen, HelpScreen
from bringup.ui.screens.servers import ServersScreen
from bringup.ui.widgets.log import LogPane

pytestmark = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


async def test_reading_screens_open_and_close(size: tuple[int, int]) -> None:
    async with opened("weights", size) as (app, _, pilot):
        for key, screen in (
            ("question_mark", HelpScreen),
            ("h", HelpScreen),
            ("f1", HelpScreen),
            ("v", EvidenceScreen),
        ):
            await pilot.press(key)
            assert isinstance(app.screen, screen), key
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.watch_screen)


async def test_digits_and_l_go_to_the_panels(size: tuple[int, int]) -> None:
    async with opened("weights", size) as (app, _, pilot):
        panels = {"1": "verdict", "2": "phases", "3": "ranks", "4": "gpus", "5": "log", "l": "log"}
        for key, name in panels.items():
            await pilot.press(key)
            await until(pilot, lambda name=name: app.focused is not None and app.focused.id == name)  # type: ignore[misc]
            assert app.focused is not None
            assert app.focused.region.height > 0, name
            if name not in ("verdict", "log"):
                number = {"phases": 2, "ranks": 3, "gpus": 4}[name]
                assert f"▸ {number} " in text_of(app)


async def test_search_marks_and_moves(size: tuple[int, int]) -> None:
    async with opened("failed", size) as (app, _, pilot):
        pane = app.watch_screen.query_one(LogPane)
        await pilot.press("slash", *"ht be", "enter")
        await until(pilot, lambda: "/ht be: 16 lines" in text_of(app))
        last = pane.here
        assert not pane.following
        assert last is not None
        await pilot.press("N")
        await until(pilot, lambda: pane.here == last - 1)
        await pilot.press("n")
        await until(pilot, lambda: pane.here == last)
        await pilot.press("n")
        await until(pilot, lambda: "No match below." in text_of(app))
        await pilot.press("escape")
        await until(pilot, lambda: pane.search is None)


async def test_search_that_finds_nothing_says_so(size: tuple[int, int]) -> None:
    async with opened("weights", size) as (app, _, pilot):
        await pilot.press("slash", *"[/x]", "enter")
        await until(pilot, lambda: "nothing" in text_of(app))
        await pilot.press("slash", "escape")
        await until(pilot, lambda: not app.watch_screen.query_one("#search").display)


async def test_errors_and_the_cause(size: tuple[int, int]) -> None:
    async with opened("failed", size) as (app, _, pilot):
        pane = app.watch_screen.query_one(LogPane)
        await pilot.press("e")
        await until(pilot, lambda: pane.here is not None)
        first = pane.here
        assert first is not None
        await pilot.press("e")
        await until(pilot, lambda: pane.here is not None and pane.here > first)
        await pilot.press("E")
        await until(pilot, lambda: pane.here == first)
        await pilot.press("G")
        await until(pilot, lambda: pane.following)
        await pilot.press("full_stop")
        await until(pilot, lambda: pane.here is not None)
        assert pane.here is not None
        assert b"OutOfMemoryError" in pane.lines.line(pane.lines.position(pane.here))
        await until(pilot, lambda: "torch.OutOfMemoryError" in text_of(app))


async def test_following(size: tuple[int, int]) -> None:
    async with opened("weights", size) as (app, console, pilot):
        pane = app.watch_screen.query_one(LogPane)
        await until(pilot, lambda: "following" in text_of(app))
        await pilot.press("s")
        console.write(*(b"new %d" % number for number in range(1234)))
        await until(pilot, lambda: pane.unseen == 1234)
        await until(pilot, lambda: "paused, 1,234 new lines" in text_of(app))
        await pilot.press("s")
        await until(pilot, lambda: pane.following)
        await pilot.press("up")
        await until(pilot, lambda: not pane.following)
        await pilot.press("G")
        await until(pilot, lambda: pane.following)
        await until(pilot, lambda: "new 1233" in text_of(app))


async def test_full_screen_and_wrap(size: tuple[int, int]) -> None:
    async with opened("weights", size) as (app, _, pilot):
        pane = app.watch_screen.query_one(LogPane)
        before = pane.size.height
        await pilot.press("f")
        await until(pilot, lambda: pane.size.height > before)
        await until(pilot, lambda: "▸ 5 log" in text_of(app))
        await pilot.press("f", "w")
        await until(pilot, lambda: pane.wrapped)
        await until(pilot, lambda: "wrapped" in text_of(app))
        await pilot.press("w", "f", "escape")
        await until(pilot, lambda: pane.size.height == before)


async def test_enter_on_a_rank_shows_its_lines_only(size: tuple[int, int]) -> None:
    async with opened("failed", size) as (app, _, pilot):
        pane = app.watch_screen.query_one(LogPane)
        await pilot.press("3")
        await until(pilot, lambda: app.focused is not None and app.focused.id == "ranks")
        await pilot.press("down", "down", "j", "enter")
        await until(pilot, lambda: "only TP3" in text_of(app))
        lines = [pane.lines.line(place) for place in range(len(pane.lines))]
        headed = [line for line in lines if line.startswith(b"[")]
        assert headed
        assert all(b" TP3]" in line for line in headed)
        assert any(b"OutOfMemoryError" in line for line in lines), "a traceback belongs to the rank that printed it"
        await pilot.press("escape")
        assert "only TP3" not in text_of(app)


async def test_copy_goes_through_the_terminal(size: tuple[int, int]) -> None:
    async with opened("weights", size) as (app, _, pilot):
        await pilot.press("c")
        assert "Load weight end" in app.clipboard
        assert len(app.clipboard) <= 64 * 1024
        await pilot.press("1", "c")
        assert "SLOW" in app.clipboard


async def test_servers(size: tuple[int, int]) -> None:
    async with opened("two_servers", size) as (app, console, pilot):
        await pilot.press("o")
        assert isinstance(app.screen, ServersScreen)
        await until(pilot, lambda: "Qwen3-32B" in text_of(app))
        await pilot.press("j", "enter")
        assert console.calls == [("choose", 77120)]
