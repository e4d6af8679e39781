"""Stopping and restarting: what is shown, what is asked, and what cannot happen by accident."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from ui.acts import advance, serving
from ui.dialogs import ask, begin_stop
from ui.scenes import SCENES
from ui.screen import MIDDLE, NARROW, SIZES, opened, text_of, until

from bringup.core.errors import BringupError
from bringup.core.events import Process
from bringup.session.console import Question, StopPlan
from bringup.ui import orders
from bringup.ui.screens.confirm import RestartDialog, StopDialog
from bringup.ui.screens.dialog import DEAF_FOR
from bringup.ui.screens.question import HostKeyDialog

A_WHILE = 3600.0
"""Seconds, longer than any machine takes for what is typed in a test."""


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_dialog_shows_exactly_what_is_touched(size: tuple[int, int]) -> None:
    async with opened("graphs", size) as (app, console, pilot):
        console.bystanders = (Process(pid=31, ppid=1, start=1, title="tee kimi.log"),)
        dialog = await ask(app, pilot, "K")
        assert dialog.focused is not None
        assert dialog.focused.id == "no", "the focus is on Cancel"
        shown = text_of(app)
        for words in ("gpu-a", "PID 100", "--model-path", "9 processes", "(•) 1 SIGTERM"):
            assert words in shown
        rows = "\n".join("".join(text for text, _ in row) for row in dialog.rows(76))
        for process in console.state.processes:
            assert f"{process.pid} " in rows
        assert "left alone" in rows
        assert "tee kimi.log" in rows
        assert "/var/log/sglang/kimi.log" in rows
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == [], "enter is on Cancel"


async def test_nothing_is_confirmed_that_there_is_no_room_to_read() -> None:
    async with opened("graphs", NARROW) as (app, console, pilot):
        dialog = await ask(app, pilot, "K")
        await pilot.resize_terminal(20, 5)
        await until(pilot, lambda: not dialog.fits)
        await pilot.press("y", "tab", "enter", "y")
        assert app.screen is dialog
        assert "make the" in text_of(app)
        await pilot.resize_terminal(*NARROW)
        await until(pilot, lambda: "Stop this server?" in text_of(app))
        assert console.calls == []
        await pilot.resize_terminal(20, 5)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == []


async def test_typed_ahead_confirms_nothing() -> None:
    async with opened("graphs", NARROW) as (app, console, pilot):
        await pilot.press("K", "y", "y")
        await until(pilot, lambda: isinstance(app.screen, StopDialog) and app.screen.listens_from is not None)
        # What was pressed before it could be read: the time that the key carries counts, not when it is handled.
        app.screen.listens_from += A_WHILE  # type: ignore[operator]
        await pilot.press("y", "tab", "enter", "3", "escape")
        assert isinstance(app.screen, StopDialog)
        assert app.screen.chosen == 0
        assert console.calls == []
        app.screen.listens_from -= A_WHILE + DEAF_FOR  # type: ignore[operator]
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("stop", "TERM")])


@pytest.mark.parametrize(
    ("keys", "signal"),
    [(["y"], "TERM"), (["2", "y"], "INT"), (["3", "y"], "KILL"), (["up", "y"], "KILL"), (["tab", "enter"], "TERM")],
)
async def test_the_chosen_signal_is_sent(keys: list[str], signal: str) -> None:
    async with opened("graphs", MIDDLE) as (app, console, pilot):
        await ask(app, pilot, "K")
        await pilot.press(*keys)
        await until(pilot, lambda: console.calls == [("stop", signal)])


@pytest.mark.parametrize("key", ["escape", "n"])
async def test_no_means_no(key: str) -> None:
    async with opened("graphs", MIDDLE) as (app, console, pilot):
        for order in ("K", "R"):
            await ask(app, pilot, order)
            await pilot.press(key)
            await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == []


async def test_restart_is_confirmed_with_y() -> None:
    async with opened("ready", MIDDLE) as (app, console, pilot):
        await ask(app, pilot, "R")
        assert isinstance(app.screen, RestartDialog)
        await until(pilot, lambda: "command is launched" in text_of(app))
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("restart", 100)])


async def test_what_cannot_be_restarted_offers_no_yes() -> None:
    async with opened("ready", MIDDLE) as (app, console, pilot):
        console.restartable = "Its folder is gone, so the command cannot be launched again."
        dialog = await ask(app, pilot, "R")
        await until(pilot, lambda: "Its folder is gone" in text_of(app))
        assert not dialog.query("#yes")
        await pilot.press("y")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == []


async def test_read_only_hides_and_refuses() -> None:
    console = SCENES["graphs"]()
    console.read_only = True
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: "read-only" in text_of(app))
        assert "restart" not in text_of(app).splitlines()[-1]
        await pilot.press("K", "R")
        await pilot.pause()
        assert app.screen is app.watch_screen
        commands = [command.title for command in app.get_system_commands(app.screen)]
        assert not [title for title in commands if title.startswith(("stop", "restart"))]
        app.watch_screen.action_kill()
        await pilot.pause()
        assert app.screen is app.watch_screen


async def test_a_refusal_is_said_in_a_sentence() -> None:
    async with opened("graphs", MIDDLE) as (app, console, pilot):
        console.refusal = BringupError("The launcher [/x] is not the one that was found.", "Look again.")
        await pilot.press("K")
        await until(pilot, lambda: "is not the one that was found" in text_of(app))
        assert console.calls == []


async def test_an_action_under_way_is_shown_and_not_doubled() -> None:
    async with opened("stopping", NARROW) as (app, console, pilot):
        await until(pilot, lambda: "RESTART  SIGTERM sent to PID 100" in text_of(app))
        await pilot.press("K")
        await until(pilot, lambda: "is under way already" in text_of(app))
        assert console.calls == []


async def test_leaving_in_the_middle_of_an_action_asks_once_more(capsys: pytest.CaptureFixture[str]) -> None:
    async with opened("stopping", MIDDLE) as (app, _, pilot):
        await pilot.press("q")
        await until(pilot, lambda: "Press q again" in text_of(app))
        await pilot.press("q")
    assert "left half done" in capsys.readouterr().err


async def test_where_nothing_runs_there_is_nothing_to_stop() -> None:
    console = SCENES["weights"]()
    console.change(replace(console.state, processes=()))
    async with opened(console, MIDDLE) as (app, _, pilot):
        await pilot.press("K")
        await until(pilot, lambda: "nothing to stop" in text_of(app))
        assert app.screen is app.watch_screen


async def test_the_countdown_goes_on_below_several_dialogs() -> None:
    async with opened(serving(), MIDDLE) as (app, console, pilot):
        ended = await begin_stop(app, console, pilot)
        advance(console, "SIGTERM sent to python (PID 100).", left=10.0)
        await until(pilot, lambda: "10 s left" in text_of(app))
        for left in (7, 4):
            app.push_screen(HostKeyDialog(Question("host-key", "Is it the one?", "ssh-ed25519 abc")))
            await until(pilot, lambda: isinstance(app.screen, HostKeyDialog))
            console.wait(3)
            await until(pilot, lambda left=left: f"{left} s left" in text_of(app))  # type: ignore[misc]
        ended.set()


async def test_on_a_slow_host_it_is_said_that_the_key_was_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "_SLOW", 0.0)
    async with opened("graphs", MIDDLE) as (app, console, pilot):
        answers, plan = asyncio.Event(), console.plan

        async def slowly() -> StopPlan:
            await answers.wait()
            return await plan()

        monkeypatch.setattr(console, "plan", slowly)
        await pilot.press("K")
        await until(pilot, lambda: "The host is asked what that would touch" in text_of(app))
        assert app.screen is app.watch_screen
        await pilot.press("K")
        answers.set()
        await until(pilot, lambda: isinstance(app.screen, StopDialog))
        assert sum(isinstance(screen, StopDialog) for screen in app.screen_stack) == 1
