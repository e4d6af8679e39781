"""The whole log on its host: searched, read in pages from any place of it, and left for the live end again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from ui.biglog import LINES, Reader, numbered, reading_big
from ui.screen import MIDDLE, opened, text_of, until

from bringup.core.errors import ChannelRefused
from bringup.hosts import pages
from bringup.hosts.base import Host
from bringup.session.whole_log import WholeLog
from bringup.ui.loglines import LogLines
from bringup.ui.screens.whole_log import WholeLogScreen
from bringup.ui.widgets.log import LogPane
from bringup.ui.window import MOST_PAGES

Reading = Callable[[], AbstractAsyncContextManager[Reader]]


@pytest.fixture(scope="module")
def big() -> bytes:
    return b"".join(numbered(number) + b"\n" for number in range(LINES))


@pytest.fixture
def reading(big: bytes, tmp_path: Path) -> Reading:
    path = tmp_path / "server.log"
    path.write_bytes(big)
    return lambda: reading_big(path)


async def test_a_place_in_the_middle_and_pages_from_there(reading: Reading) -> None:
    async with reading() as it:
        await it.pilot.press("p")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen))
        await it.sees(f"Decode batch {LINES - 1}")
        assert "100 % of" in text_of(it.app)
        await it.pilot.press("escape")
        await it.goes_to("42%")
        await it.sees("42 % of")
        first = it.numbers()
        assert abs(first[0] - 0.42 * LINES) < 5000
        await it.pilot.press("pagedown")
        await until(it.pilot, lambda: it.numbers()[0] > first[0])
        assert it.numbers()[0] == first[-1], "one line stays in view"
        await it.pilot.press("pageup", "pageup")
        await until(it.pilot, lambda: it.numbers()[-1] == first[0])
        assert it.host.moved < 2_000_000


async def test_a_long_way_by_pages_misses_nothing_and_holds_little(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE", 4096)
    async with reading() as it:
        await it.pilot.press("p")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen))
        await it.pilot.press("escape", "g")
        await until(it.pilot, lambda: it.numbers()[:1] == [0])
        seen, was = it.numbers(), it.numbers()
        for _ in range(20):
            await it.pilot.press("pagedown")
            await until(it.pilot, lambda before=was: it.numbers() != before and not it.screen._busy)
            was = it.numbers()
            seen += was[1:]
        assert seen == list(range(len(seen)))
        assert len(seen) > MOST_PAGES * 4096 / 46, "more was read than is held"
        assert len(it.screen._window._pages) <= MOST_PAGES


@pytest.mark.parametrize("place", ["06:00", "6:00:00", "2026-03-02 06:00"])
async def test_a_time(reading: Reading, place: str) -> None:
    async with reading() as it:
        await it.pilot.press("p")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen))
        await it.pilot.press("escape")
        await it.goes_to(place.replace(" ", "T"))
        await it.sees("06:00:00")
        assert numbered(it.numbers()[0]).startswith(b"[2026-03-02 06:00:00")
        assert not numbered(it.numbers()[0] - 1).startswith(b"[2026-03-02 06:00:00")


async def test_what_names_no_place_is_told(reading: Reading) -> None:
    async with reading() as it:
        await it.pilot.press("p")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen))
        await it.pilot.press("escape")
        await it.goes_to("tomorrow")
        await it.sees("names no place")


async def test_from_a_search_to_the_line_and_on_to_the_next(reading: Reading) -> None:
    async with reading() as it:
        await it.pilot.press("slash", *"needle", "enter")
        await it.sees("Enter once more")
        await it.pilot.press("enter")
        await it.sees("Decode batch 150007 a NEEDLE")
        await it.pilot.press("up", "enter")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen) and 100_007 in it.numbers())
        await it.sees("50 % of")
        await it.pilot.press("n")
        await until(it.pilot, lambda: 150_007 in it.numbers())
        await until(it.pilot, lambda: not it.screen._busy)
        await it.pilot.press("n")
        await it.sees("needle is not below here")
        await it.pilot.press("N")
        await until(it.pilot, lambda: 100_007 in it.numbers())
        await until(it.pilot, lambda: not it.screen._busy)
        assert it.host.moved < 2_000_000
        await it.pilot.press("G")
        await until(it.pilot, lambda: it.app.screen is it.app.watch_screen)
        assert it.app.watch_screen.query_one(LogPane).following


async def test_scrolling_up_past_what_is_held_goes_on_in_the_file(
    reading: Reading,
) -> None:
    async with reading() as it:
        pane = it.app.watch_screen.query_one(LogPane)
        pane.lines = LogLines(cap=400)
        pane.extend([numbered(number) for number in range(LINES - 2000, LINES)], b"")
        pane.focus()
        await it.pilot.press("home")
        await it.sees(f"Decode batch {LINES - len(pane.lines)}")
        oldest = it.numbers()[0]
        await it.pilot.press("pageup")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen) and it.numbers()[-1:] == [oldest - 1])
        await it.pilot.press("escape", "home", "home")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen) and it.numbers()[:1] == [0])


async def test_rotation_and_truncation_are_told(reading: Reading) -> None:
    async with reading() as it:
        await it.pilot.press("p")
        await until(it.pilot, lambda: isinstance(it.app.screen, WholeLogScreen))
        await it.pilot.press("escape")
        await it.goes_to("42%")
        it.path.rename(it.path.with_suffix(".1"))
        it.path.write_bytes(b"a new log\n")
        await it.goes_to("50%")
        await it.sees("rotated: this is the old file")
        assert abs(it.numbers()[0] - LINES / 2) < 5000
        with it.path.with_suffix(".1").open("r+b") as file:
            file.truncate(100)
        await it.goes_to("60%")
        await it.sees("truncated or written anew")


async def test_a_lost_connection_is_told_and_tried_again(reading: Reading) -> None:
    async with reading() as it:
        it.host.lost = True
        await it.pilot.press("p")
        await it.sees("The connection to gpu-a was lost.")
        it.host.lost = False
        await it.pilot.press("escape", "g")
        await until(it.pilot, lambda: it.numbers()[:1] == [0])


async def test_hostile_bytes_are_shown_inert(reading: Reading) -> None:
    async with reading() as it:
        it.path.write_bytes(b"\x1b]0;title\x07 [red]x[/red] \x1b[2J\xff\n" * 50)
        await it.pilot.press("p")
        await it.sees("[red]x[/red]")
        assert "\x1b" not in text_of(it.app)


async def test_a_log_that_is_no_file_is_told() -> None:
    async with opened("weights", MIDDLE) as (app, console, pilot):
        await pilot.press("p")
        await until(pilot, lambda: "no log here that could be read" in text_of(app))

        def reach() -> Host:
            raise ChannelRefused("nothing is asked")

        journal = replace(console.state.log, kind="journal", path="server.service")
        console.change(replace(console.state, log=journal))
        console.whole_log = WholeLog(reach, lambda: console.state)  # type: ignore[attr-defined]
        await pilot.press("p")
        await until(pilot, lambda: "no file on the host" in text_of(app))
