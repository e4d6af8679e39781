"""The first sentence of the help: what touches a process, and what is known of that before there is a connection."""

from __future__ import annotations

from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, opened, text_of, until

from bringup.ui.app import BringupApp
from bringup.ui.paint.help import paint_help
from bringup.ui.paint.row import plain


def text(**more: object) -> str:
    return " ".join(" ".join(plain(row) for row in paint_help(72, **more)).split())  # type: ignore[arg-type]


def test_all_keys_that_lead_to_something_done_to_a_process_are_named() -> None:
    said = text(read_only="")
    assert said.startswith("R and K touch the server; u can launch what was cut off, o can end orphans.")
    assert text(read_only="", own={"servers": "F9"}).startswith("R and K touch the server; u can launch")
    assert text(read_only="It is read-only.").startswith("It is read-only.")


async def test_before_the_connection_nothing_is_promised_that_may_be_turned_off() -> None:
    assert text(read_only="", connected=False).startswith("There is no connection yet: no key touches a server.")

    async def connect(_: object) -> FakeConsole:
        return await never(app)

    app = BringupApp(title="gpu-a", connect=connect)
    async with app.run_test(size=MIDDLE) as pilot:
        await until(pilot, lambda: app._watch_screen is not None and app.screen is app.watch_screen)
        await pilot.press("question_mark")
        await until(pilot, lambda: "There is no connection yet" in text_of(app))
        assert "touch the server" not in text_of(app)


async def never(app: BringupApp) -> FakeConsole:
    """A connection that is not made as long as the console is there."""
    import asyncio

    await asyncio.Event().wait()
    return SCENES["ready"]()


async def test_with_one_it_is_said_which_keys_touch_something() -> None:
    async with opened("ready", MIDDLE) as (app, _, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: "R and K touch the server" in text_of(app))
