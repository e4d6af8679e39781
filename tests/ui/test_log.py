"""The log: bounded, lazily drawn, filtered, and never lost under the reader."""

from __future__ import annotations

import re
import time

from ui.screen import NARROW, opened, text_of, until

from bringup.ui.loglines import ERROR, WARNING, LogLines, pattern_for, pattern_of_rank
from bringup.ui.paint.log import paint_line
from bringup.ui.widgets.log import LogPane


def numbered(first: int, last: int) -> list[bytes]:
    return [b"[t TP%d] line %d" % (number % 8, number) for number in range(first, last)]


def test_lines_are_bounded_and_keep_their_numbers() -> None:
    lines = LogLines(cap=100)
    moved = sum(lines.extend(numbered(first, first + 10)) for first in range(0, 400, 10))
    assert 100 <= len(lines) <= 125
    assert moved == 400 - len(lines)
    assert lines.line(len(lines) - 1).endswith(b"line 399")
    assert lines.number(0) == 400 - len(lines)
    assert lines.position(399) == len(lines) - 1
    assert lines.position(3) == 0, "what was dropped is at the beginning"


def test_a_filter_keeps_what_belongs_to_a_line() -> None:
    lines = LogLines(cap=100)
    lines.narrow(pattern_of_rank((("tp", 3),)))
    lines.extend([b"[t TP3] boom", b"  File x", b"ValueError: y", b"[t TP13] no", b"  more", b"[t DP0 TP3 EP3] yes"])
    lines.extend(numbered(0, 16))
    shown = [lines.line(place) for place in range(len(lines))]
    assert shown == [
        b"[t TP3] boom", b"  File x", b"ValueError: y", b"[t DP0 TP3 EP3] yes", b"[t TP3] line 3", b"[t TP3] line 11",
    ]  # fmt: skip
    lines.extend(numbered(16, 400))
    assert all(b"TP3" in lines.line(place) for place in range(len(lines)))
    lines.narrow(None)
    assert len(lines) == lines.held


def test_ranks_are_found_in_the_prefixes_of_both_engines() -> None:
    wanted = pattern_of_rank((("tp", 1),))
    assert wanted is not None
    assert wanted.search(b"(Worker_TP1 pid=214) INFO 01-02 loading")
    assert wanted.search(b"[2026-03-02 14:47:07 TP1] Load weight begin")
    assert not wanted.search(b"[2026-03-02 14:47:07 TP11] Load weight begin")
    both = pattern_of_rank((("dp", 1), ("tp", 0)))
    assert both is not None
    assert both.search(b"[t DP1 TP0] x")
    assert not both.search(b"[t DP0 TP0] x")
    assert pattern_of_rank(()) is None


def test_a_search_minds_the_case_only_with_a_capital() -> None:
    assert pattern_for("load").search(b"Load weight")
    assert not pattern_for("Load").search(b"load weight")
    assert pattern_for("a[1").search(b"a[1]")


def test_severity_is_seen() -> None:
    assert ERROR.search(b"torch.OutOfMemoryError: CUDA out of memory")
    assert not ERROR.search(b"mem usage=1.3 GB, no errors so far")
    assert WARNING.search(b"x.py:71: UserWarning: Scales")
    assert paint_line(b"[2026-03-02 14:47:07 TP1] ValueError: x") == (
        ("[2026-03-02 14:47:07 TP1] ", "quiet"),
        ("ValueError: x", "log-error"),
    )


def test_the_cause_is_found_by_its_text_near_its_number() -> None:
    lines = LogLines()
    lines.extend([b"same", *numbered(0, 50), b"\x1b[31msame\x1b[0m", b"other"])
    assert lines.find_text("same", 52) == 51
    assert lines.find_text("same", 0) == 0
    assert lines.find_text("no such line", 3) is None


async def test_an_append_is_no_layout_and_only_visible_lines_are_drawn() -> None:
    async with opened("searching", NARROW) as (app, console, pilot):
        pane = app.watch_screen.query_one(LogPane)
        before, layouts = pane.virtual_size, []
        app.watch_screen._refresh_layout = _counting(app.watch_screen._refresh_layout, layouts)  # type: ignore[method-assign]
        console.write(*numbered(0, 50_000))
        await until(pilot, lambda: "line 49999" in text_of(app))
        assert pane.virtual_size == before
        assert layouts == []
        assert len(pane._cache) <= 2 * pane.size.height


def _counting(call, calls):  # type: ignore[no-untyped-def]
    def counted(*args, **more):  # type: ignore[no-untyped-def]
        calls.append(1)
        return call(*args, **more)

    return counted


async def test_a_reader_is_not_moved_by_new_or_dropped_lines() -> None:
    async with opened("searching", NARROW) as (app, console, pilot):
        pane = app.watch_screen.query_one(LogPane)
        pane.lines = LogLines(cap=1000)
        console.write(*numbered(0, 1000))
        await until(pilot, lambda: "line 999" in text_of(app))
        await pilot.press("pageup", "pageup")
        seen = re.findall(r"line (\d+)$", text_of(app), re.MULTILINE)
        console.write(*numbered(1000, 1400))
        await until(pilot, lambda: pane.unseen == 400)
        assert re.findall(r"line (\d+)$", text_of(app), re.MULTILINE) == seen
        await pilot.press("g")
        await until(pilot, lambda: "line 400" in text_of(app))
        await pilot.press("G")
        await until(pilot, lambda: "line 1399" in text_of(app))


async def test_long_lines_are_cut_moved_along_and_wrapped() -> None:
    async with opened("searching", NARROW) as (app, console, pilot):
        console.write(b"begin " + b"x" * 200 + b" end")
        await until(pilot, lambda: "begin" in text_of(app))
        assert " end" not in text_of(app)
        await pilot.press(*["right"] * 8)
        await until(pilot, lambda: " end" in text_of(app))
        await pilot.press(*["left"] * 8, "w")
        await until(pilot, lambda: "begin" in text_of(app))
        await until(pilot, lambda: " end" in text_of(app))


async def test_the_bar_that_is_drawn_is_the_last_line() -> None:
    async with opened("weights", NARROW) as (app, console, pilot):
        await until(pilot, lambda: "64/64 [00:56" in text_of(app))
        console.tail = b"Loading safetensors checkpoint shards:   0% Completed | 0/2 [00:00<?, ?it/s]"
        console.rev += 1
        await until(pilot, lambda: "0/2 [00:00" in text_of(app))
        assert "64/64 [00:56" not in text_of(app)


async def test_scrolling_down_past_the_end_follows_again() -> None:
    async with opened("weights", NARROW) as (app, _, pilot):
        pane = app.watch_screen.query_one(LogPane)
        await pilot.press("up", "up", "up")
        await until(pilot, lambda: not pane.following)
        await pilot.press("pagedown", "pagedown")
        await until(pilot, lambda: pane.following)


def test_a_hundred_thousand_lines_are_searched_at_once() -> None:
    lines = LogLines()
    lines.extend(numbered(0, 100_000))
    begun = time.process_time()
    assert lines.find(pattern_for("line 0x"), 0, 1) is None
    assert lines.count(pattern_for("line 99999")) == 1
    assert time.process_time() - begun < 5, "a search must not freeze the screen"
