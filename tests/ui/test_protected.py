"""The console on a host with a read-only target: keys touch the servers that it does not protect, and only those."""

from __future__ import annotations

from dataclasses import replace

from ui.dialogs import ask
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, opened, text_of, until

from bringup.config.guards import Guard
from bringup.session.protection import Protection

PORT = 30000
PROTECTION = Protection(guards=(Guard("production", "/c/config.toml, line 4", port=PORT),))


def shows(console: FakeConsole, port: int) -> None:
    """Let a server on this port be the one that is watched, as a session judges it."""
    server = console.state.server
    assert server is not None
    console.change(replace(console.state, server=replace(server, port=port)))
    console.why_read_only = str(PROTECTION.of_server(console.state.server) or "")


async def test_keys_come_and_go_with_the_server_that_is_watched() -> None:
    console = SCENES["graphs"]()
    shows(console, PORT)
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: "read-only" in text_of(app))
        await pilot.press("K", "R")
        await until(pilot, lambda: len([*app._notifications]) == 2)
        assert {each.message for each in app._notifications} == {console.why_read_only}
        assert app.screen is app.watch_screen
        await pilot.press("question_mark")
        await until(pilot, lambda: "The target production is read-only" in text_of(app))
        assert "[targets.production], /c/config.toml, line 4," in text_of(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        shows(console, PORT + 1)
        await until(pilot, lambda: "read-only" not in text_of(app).splitlines()[-1])
        await ask(app, pilot, "K")
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("stop", "TERM")])
