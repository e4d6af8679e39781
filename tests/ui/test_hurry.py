"""What is asked while something ends: a question that is none any more closes by itself, and its yes harms nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from timeline import ROOT, START, Timeline
from ui.acts import advance, serving
from ui.dialogs import ask, begin_drain, body, heard
from ui.fakes import FakeConsole
from ui.screen import MIDDLE, NARROW, opened, text_of, until

from bringup.core.events import ActionStep, ServerGone
from bringup.core.reduce import reduce
from bringup.session.console import Question, StopPlan
from bringup.ui.app import BringupApp
from bringup.ui.screens.confirm import HurryDialog, RestartDialog, StopDialog
from bringup.ui.screens.question import HostKeyDialog


@asynccontextmanager
async def draining(size: tuple[int, int] = MIDDLE) -> AsyncIterator[tuple[BringupApp, FakeConsole, Pilot[None]]]:
    """A stop that waits for nine processes to end."""
    async with opened(serving(), size) as (app, console, pilot):
        ended = await begin_drain(app, console, pilot)
        yield app, console, pilot
        ended.set()
        await until(pilot, lambda: not app.watch_screen.orders.is_busy)


def plan_of(app: BringupApp) -> StopPlan:
    """What the stop under way touches."""
    plan = app.watch_screen.orders.plan
    assert plan is not None
    return plan


def told(app: BringupApp) -> str:
    """All that was said for a while."""
    return " ".join(each.message for each in app._notifications)


async def test_the_question_lists_what_is_left_by_now() -> None:
    async with draining(NARROW) as (app, console, pilot):
        dialog = await ask(app, pilot, "K")
        assert isinstance(dialog, HurryDialog)
        assert "9 processes with SIGKILL" in body(dialog)
        for process in plan_of(app).members:
            assert f"{process.pid} " in body(dialog)
        advance(console, "1 process still runs; SIGKILL in 9 s.", left=9.0, pids={103})
        await until(pilot, lambda: "1 process with SIGKILL, and what it starts meanwhile" in body(dialog))
        assert "103 " in body(dialog)
        assert "105 " not in body(dialog)
        await until(pilot, lambda: "1 process with SIGKILL" in text_of(app))


@pytest.mark.parametrize("goes_on", ["killing", "ended"])
async def test_it_closes_by_itself_once_it_is_no_question_any_more(goes_on: str) -> None:
    async with draining() as (app, console, pilot):
        dialog = await ask(app, pilot, "K")
        name, ended = ("", True) if goes_on == "ended" else (goes_on, False)
        step = ActionStep(at=console.now(), action="stop", step="It goes on.", name=name, ended=ended)
        console.change(reduce(console.state, step))
        await until(pilot, lambda: app.screen is app.watch_screen)
        # What was pressed for it at the last moment reaches a dialog that is gone.
        assert isinstance(dialog, HurryDialog)
        dialog.action_accept()
        await pilot.press("y")
        await pilot.pause()
        assert app.screen is app.watch_screen
        assert not plan_of(app).hurry.asked


async def test_a_yes_that_comes_too_late_kills_nothing_and_says_so() -> None:
    async with draining() as (app, console, pilot):
        await ask(app, pilot, "K")
        # The screen has not been drawn since: the key comes before the dialog could close.
        step = ActionStep(at=console.now(), action="stop", step="Waiting for the memory.", name="waiting")
        console._state = reduce(console.state, step)
        await pilot.press("y")
        await until(pilot, lambda: "It was over by then: that key killed nothing." in told(app))
        assert not plan_of(app).hurry.asked


async def test_pressed_twice_it_is_asked_once() -> None:
    async with draining() as (app, _, pilot):
        orders = app.watch_screen.orders
        orders.begin("stop")
        orders.begin("stop")
        await until(pilot, lambda: isinstance(app.screen, HurryDialog))
        await pilot.pause()
        assert sum(isinstance(screen, HurryDialog) for screen in app.screen_stack) == 1


async def test_it_closes_as_soon_as_nothing_stands_above_it() -> None:
    async with draining() as (app, console, pilot):
        await ask(app, pilot, "K")
        app.push_screen(HostKeyDialog(Question("host-key", "Is it the one?", "ssh-ed25519 abc")))
        advance(console, "SIGKILL goes to 9 processes.", name="killing")
        await until(pilot, lambda: "SIGKILL goes to 9 processes" in text_of(app))
        assert isinstance(await heard(app, pilot), HostKeyDialog)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)


@pytest.mark.parametrize(("key", "kind"), [("K", StopDialog), ("R", RestartDialog)])
async def test_a_server_that_ends_while_it_is_asked_about_is_not_asked_about_any_more(key: str, kind: type) -> None:
    async with opened(serving(), MIDDLE) as (app, console, pilot):
        dialog = await ask(app, pilot, key)
        assert isinstance(dialog, kind)
        line = Timeline(state=console.state, t=console.moment - START)
        line.add(ServerGone(at=line.now, pid=ROOT))
        console.change(line.state)
        await until(pilot, lambda: app.screen is app.watch_screen)
        await until(pilot, lambda: "The server (PID 100) has ended while you were asked" in told(app))
        await pilot.press("y")
        await pilot.pause()
        assert console.calls == []


async def test_what_is_left_of_a_server_that_had_ended_can_be_stopped() -> None:
    console = serving()
    line = Timeline(state=console.state, t=console.moment - START)
    line.add(ServerGone(at=line.now, pid=ROOT, orphans=(103,)))
    console.change(line.state)
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await ask(app, pilot, "K")
        console.wait(2)
        console.change(console.state)
        await until(pilot, lambda: app.watch_screen.picture is not None)
        await pilot.pause(0.3)
        assert app.screen is dialog
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("stop", "TERM")])


@pytest.mark.parametrize(
    ("orphans", "said"),
    [
        ((), "All processes of this server have ended: there is nothing to stop."),
        ((103,), "Its launcher has ended; PID 103 of it lives on. o shows what lives on, and can end it."),
        ((103, 105), "Its launcher has ended; PID 103 and 105 of it live on. o shows what lives on, and can end it."),
    ],
)
async def test_what_lives_on_of_a_server_is_not_said_to_have_ended(orphans: tuple[int, ...], said: str) -> None:
    console = serving()
    console.planned = {"members": ()}
    line = Timeline(state=console.state, t=console.moment - START)
    line.add(ServerGone(at=line.now, pid=ROOT, orphans=orphans))
    console.change(line.state)
    async with opened(console, MIDDLE) as (app, _, pilot):
        await pilot.press("K")
        await until(pilot, lambda: said in told(app))
        assert app.screen is app.watch_screen


async def test_the_drain_of_a_launchers_own_command_can_be_cut_short_too() -> None:
    async with draining() as (app, console, pilot):
        advance(console, "systemctl stop sglang.service is at work; 9 processes still run.", left=25.0)
        await until(pilot, lambda: "is at work" in text_of(app))
        assert "K: kill now?" in text_of(app)
