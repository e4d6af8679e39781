"""The console over a recording: the tape deck moves it, and nothing else can be done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from storydata import BEGAN, story
from textual.pilot import Pilot
from textual.widgets import Input
from ui.screen import MIDDLE, NARROW, text_of, until

from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy
from bringup.hosts.recording import load_recording
from bringup.recordings.encoder import Encoder
from bringup.recordings.writer import Writer
from bringup.session.frames import Frames, Mark
from bringup.session.knowledge import Knowledge
from bringup.session.replay import Replay
from bringup.ui.replay import ReplayApp
from bringup.ui.widgets.log import LogPane


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    path = tmp_path_factory.mktemp("recording") / "a.bringup"
    writer, encoder = Writer(path, {"host": "root@gpu-a"}, BEGAN), Encoder(BEGAN)
    for t, item in story():
        writer.add(encoder.rows(item, BEGAN + t))
    writer.close()
    return Frames(load_recording(path), Knowledge(load_engines(), load_wrappers(), load_policy()))


class Clock:
    at = 0.0

    def __call__(self) -> float:
        return self.at


def make(frames: Frames, clock: Clock, **more: Any) -> tuple[ReplayApp, Replay]:
    replay = Replay(frames, monotonic=clock, **more)
    replay.marks = [mark for mark in frames.marks() if isinstance(mark, Mark)]
    replay.looked_until = frames.end
    # The search would find them once more.
    replay.look_through = lambda: None  # type: ignore[method-assign]
    return ReplayApp(lambda: replay, title="tuesday.bringup"), replay


@asynccontextmanager
async def opened(
    frames: Frames, size: tuple[int, int] = MIDDLE, **more: Any
) -> AsyncIterator[tuple[ReplayApp, Replay, Clock, Pilot[None]]]:
    clock = Clock()
    app, replay = make(frames, clock, **more)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.watch_screen.picture is not None)
        yield app, replay, clock, pilot


async def test_it_says_that_it_is_a_replay_where_it_is_and_how_fast(frames: Frames) -> None:
    async with opened(frames, at=4.0, speed=10.0) as (app, _, _, pilot):
        await until(pilot, lambda: "REPLAY" in text_of(app))
        text = text_of(app)
        assert "tuesday.bringup" in text
        assert "playing at 10x" in text
        assert "4 s of" in text
        assert "◆" in text
        assert "space play, pause" in text


@pytest.mark.parametrize(
    ("keys", "position"),
    [
        (["right"], 14.0),
        (["left"], 0.0),
        (["right_square_bracket"], None),
        (["end", "left"], -10.0),
        (["end", "home"], 0.0),
    ],
)
async def test_the_keys_move_it(keys: list[str], position: float | None, frames: Frames) -> None:
    async with opened(frames, at=4.0) as (_, replay, _, pilot):
        await pilot.press("space", *keys)
        expected = frames.end if position is None else position if position >= 0 else frames.end + position
        assert replay.position == expected


async def test_space_stops_it_and_lets_it_go_on(frames: Frames) -> None:
    async with opened(frames) as (app, replay, clock, pilot):
        await pilot.press("space")
        clock.at += 5
        await until(pilot, lambda: "paused" in text_of(app))
        assert replay.position == 0.0
        await pilot.press("space", "plus", "plus")
        assert replay.speed == 5.0
        clock.at += 1
        assert replay.position == 5.0
        await pilot.press("minus")
        assert replay.speed == 2.0


async def test_the_next_change_is_shown_with_its_log(frames: Frames) -> None:
    async with opened(frames) as (app, replay, _, pilot):
        marks = [mark for mark in replay.marks if mark.t > 0]
        for mark in marks:
            await pilot.press("m")
            assert (replay.position, replay.is_playing) == (mark.t, False)
        await until(pilot, lambda: "READY" in text_of(app))
        lines = app.watch_screen.query_one(LogPane).lines
        assert lines.held == len(frames.lines)
        await pilot.press("home")
        await until(pilot, lambda: lines.held == frames.at(0.0).lines)
        await until(pilot, lambda: "READY" not in text_of(app))
        await pilot.press("M")
        await until(pilot, lambda: "Nothing changes before this" in text_of(app))


async def test_a_filter_stays_when_the_position_is_moved(frames: Frames) -> None:
    async with opened(frames, at=frames.end) as (app, _, _, pilot):
        screen = app.watch_screen
        await until(pilot, lambda: screen.query_one(LogPane).lines.held > 10)
        await pilot.press("3", "down", "enter")
        await until(pilot, lambda: screen.board.filtered == 1)
        await pilot.press("left", "right")
        pane = screen.query_one(LogPane)
        await until(pilot, lambda: pane.lines.held == len(frames.lines))
        assert pane.lines.filtered
        assert 0 < len(pane.lines) < pane.lines.held


async def test_what_is_typed_into_the_search_moves_nothing(frames: Frames) -> None:
    async with opened(frames, at=4.0) as (app, replay, _, pilot):
        await pilot.press("space", "slash", *"load m", "space", "left")
        assert app.watch_screen.query_one("#search", Input).value == "load m "
        assert replay.position == 4.0


@pytest.mark.parametrize("key", ["R", "K", "o", "d", "ctrl+r", "r"])
async def test_nothing_can_be_done_to_what_was(key: str, frames: Frames) -> None:
    async with opened(frames, at=frames.end) as (app, _, _, pilot):
        await pilot.press(key)
        await pilot.pause()
        assert app.screen is app.watch_screen
        assert not app._notifications


async def test_the_help_has_the_keys_of_a_replay(frames: Frames) -> None:
    async with opened(frames) as (app, _, _, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: "nothing can be done to what was recorded" in text_of(app))
        await pilot.press("G")
        await until(pilot, lambda: app.screen is not app.watch_screen)


async def test_leaving_says_nothing_about_a_server(frames: Frames) -> None:
    async with opened(frames, at=frames.end) as (app, _, _, pilot):
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0


@pytest.mark.parametrize("size", [NARROW, MIDDLE], ids=["80x24", "120x40"])
def test_picture(size: tuple[int, int], frames: Frames, snap_compare: Callable[..., bool]) -> None:
    app, replay = make(frames, Clock(), at=frames.end * 0.6, speed=10.0)
    replay.pause()
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: drawn(app, pilot))


async def drawn(app: ReplayApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: app.watch_screen.picture is not None and "REPLAY" in text_of(app))


async def test_a_file_that_cannot_be_played_is_told(tmp_path: Path) -> None:
    from bringup.core.errors import BringupError

    def read() -> Replay:
        raise BringupError("It is no use.", "Try another.")

    app = ReplayApp(read, title="broken")
    async with app.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: "It is no use." in text_of(app))
        await pilot.press("space", "left", "m", "plus", "end", "q")
