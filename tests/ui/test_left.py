"""After a connection that was cut: what happened is said, with what can be done about it."""

from __future__ import annotations

from timeline import Timeline
from ui.acts import cut
from ui.dialogs import body, heard
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, NARROW, opened, text_of, until

from bringup.core.events import LinkChanged
from bringup.ui.screens.left import LeftDialog


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


async def test_beside_another_server_nothing_is_launched() -> None:
    console = SCENES["ready"]()
    console.left = cut(server=(77, 5))
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "Another server runs here now: PID 100 on port 30000." in body(dialog)
        assert not dialog.query("#yes")
        await pilot.press("f")
        await until(pilot, lambda: console.calls == [("discard", (77, 5))])
        await until(pilot, lambda: "is given up" in text_of(app))


async def test_a_server_that_came_up_while_it_was_asked_stays_alone() -> None:
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
