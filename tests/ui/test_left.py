"""After a connection that was cut: what happened is said, with what can be done about it."""

from __future__ import annotations

import asyncio

import pytest
from timeline import Timeline
from ui.acts import cut
from ui.dialogs import ask, body, heard
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, NARROW, opened, text_of, until

from bringup.core.events import LinkChanged
from bringup.ui import left_over
from bringup.ui.app import BringupApp
from bringup.ui.screens.left import LeftDialog


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "EVERY", 0.1)


def flat(app: BringupApp) -> str:
    """All that is drawn, as running text."""
    return " ".join(text_of(app).split())


def told(app: BringupApp) -> str:
    """All that was said for a while."""
    return " ".join(each.message for each in app._notifications)


def tell_link(console: FakeConsole, status: str) -> None:
    line = Timeline(state=console.state)
    line.add(LinkChanged(at=console.moment, status=status, why="no answer"))  # type: ignore[arg-type]
    console.change(line.state)


async def test_after_a_reconnection_the_launch_can_be_gone_on_with() -> None:
    async with opened("stopped", NARROW) as (app, console, pilot):
        tell_link(console, "lost")
        await until(pilot, lambda: "NO CONNECTION" in text_of(app))
        assert app.screen is app.watch_screen
        console.left = cut()
        tell_link(console, "up")
        dialog = await heard(app, pilot)
        assert isinstance(dialog, LeftDialog)
        for words in ("A restart was cut off", "2 min 20 s ago", "no server runs", "begun by ada@laptop"):
            assert words in body(dialog), words
        assert dialog.focused is not None
        assert dialog.focused.id == "no"
        console.left = None
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("resume", (100, 1))])


async def test_it_can_be_forgotten() -> None:
    console = SCENES["stopped"]()
    console.left = cut()
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("f")
        await until(pilot, lambda: console.calls == [("discard", (100, 1))])


async def test_where_the_old_server_lives_nothing_is_launched() -> None:
    console = SCENES["ready"]()
    console.left = cut(step="claimed", alive=((100, 1),))
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "the old server still runs (PID 100)" in body(dialog)
        assert not dialog.query("#yes")
        await pilot.press("y", "escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == []


async def test_of_another_server_than_the_watched_one_it_is_said_once_and_a_key_shows_it() -> None:
    console = SCENES["ready"]()
    console.left = cut(server=(77, 5))
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: "Another server is watched here; u shows what can be done." in told(app))
        assert app.screen is app.watch_screen
        await pilot.press("u")
        dialog = await heard(app, pilot)
        assert "Another server runs here now: PID 100 on port 30000." in body(dialog)
        assert not dialog.query("#yes")
        await pilot.press("f")
        await until(pilot, lambda: console.calls == [("discard", (77, 5))])
        await until(pilot, lambda: "is given up" in text_of(app))


async def test_a_server_that_came_up_while_it_was_asked_stays_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "EVERY", 60)
    console = SCENES["stopped"]()
    console.left = cut(server=(77, 5))
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        console.change(SCENES["ready"]().state)
        await pilot.press("y")
        await until(pilot, lambda: "nothing was launched." in text_of(app))
        assert console.calls == []


async def test_read_only_says_it_and_offers_nothing() -> None:
    console = SCENES["stopped"]()
    console.left, console.read_only = cut(), True
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert not dialog.query("#yes, #other")
        await pilot.press("y", "f", "escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == []


async def test_what_another_console_does_is_said_without_a_question() -> None:
    console = SCENES["ready"]()
    console.left = cut(busy=True, step="stopping")
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: "A restart of the sglang server" in text_of(app))
        assert app.screen is app.watch_screen


async def test_the_open_dialog_follows_the_host_and_offers_the_launch_once_it_can_be() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="stopping", alive=((100, 1),))
    async with opened(console, NARROW) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "the old server still runs (PID 100)" in body(dialog)
        assert not dialog.query("#yes")
        console.left = cut(step="stopping")
        await until(pilot, lambda: "no server runs" in body(dialog) and bool(dialog.query("#yes")))
        assert app.screen is dialog
        assert dialog.focused is not None
        assert dialog.focused.id == "no", "what was typed for the old offer is no answer to the new one"
        await heard(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("resume", (100, 1))])


async def test_a_new_server_that_runs_closes_the_dialog_and_says_so() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="stopping", alive=((100, 1),))
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        console.left = cut(step="launching", new=(200, 9), new_alive=True)
        await until(pilot, lambda: ("discard", (100, 1)) in console.calls)
        console.left = None
        await until(pilot, lambda: app.screen is app.watch_screen)
        await until(pilot, lambda: "is done: the new server runs as PID 200." in told(app))
        assert console.calls == [("discard", (100, 1))]


async def test_read_only_a_new_server_is_told_and_nothing_is_removed() -> None:
    console = SCENES["stopped"]()
    console.read_only, console.left = True, cut(step="launching", new=(200, 9), new_alive=True)
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: "is done: the new server runs as PID 200." in told(app))
        assert console.calls == []


async def test_after_esc_the_banner_says_how_it_is_and_a_key_leads_back() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="stopping", alive=((100, 1),))
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        await until(pilot, lambda: "the old server still runs (PID 100)" in flat(app))
        assert "u unfinished" in text_of(app).splitlines()[-1]
        assert [each.title for each in app.get_system_commands(app.screen) if "unfinished" in each.title]
        console.left = cut(step="stopping")
        await until(pilot, lambda: "no server runs" in flat(app))
        assert app.screen is app.watch_screen, "it was put aside"
        await pilot.press("u")
        dialog = await heard(app, pilot)
        assert dialog.query("#yes")
        console.left = None
        await until(pilot, lambda: app.screen is app.watch_screen)
        await until(pilot, lambda: "u unfinished" not in text_of(app))
        await pilot.press("u")
        await until(pilot, lambda: "Nothing was left in the middle" in text_of(app))


async def test_it_waits_for_another_dialog_to_close() -> None:
    console = SCENES["ready"]()
    async with opened(console, MIDDLE) as (app, _, pilot):
        stop = await ask(app, pilot, "K")
        console.left = cut(step="claimed", alive=((100, 1),))
        tell_link(console, "lost")
        tell_link(console, "up")
        app.watch_screen.orders.left_over.begin(console)
        await until(pilot, lambda: app.watch_screen.orders.left_over.left is not None)
        await pilot.pause(0.1)
        assert app.screen is stop
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, LeftDialog))


async def test_a_launch_that_failed_is_not_called_cut_off() -> None:
    console = SCENES["stopped"]()
    console.left = cut(step="failed", new=(200, 9), status="2", said="no such flag: --enable-x")
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert body(dialog).startswith("A restart failed ")
        assert "exit status 2 (no such flag: --enable-x)" in body(dialog)
        assert "cut off" not in body(dialog)


async def test_q_leaves_from_the_dialog() -> None:
    console = SCENES["stopped"]()
    console.left = cut()
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("q")
        await until(pilot, lambda: app._exit)
    assert console.calls == []


async def test_it_does_not_take_the_place_of_an_order_that_is_under_way() -> None:
    console = SCENES["ready"]()
    async with opened(console, MIDDLE) as (app, _, pilot):
        console.order = asyncio.Event()
        await ask(app, pilot, "K")
        await pilot.press("y")
        await until(pilot, lambda: bool(console.calls))
        app.watch_screen.orders.discard(console, cut())
        app.watch_screen.orders.resume(console, cut(), None, None)
        await until(pilot, lambda: "is under way already" in told(app))
        assert console.calls == [("stop", "TERM")]
        console.order.set()
