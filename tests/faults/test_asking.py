"""The console on a real host that lets us in no more: it says so, tries nothing by itself, and `r` tries again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from connectionfaults import listen
from faultwatch import LOGIN, SFTP, TEXT
from sshd import Sshd, start_sshd, write_key
from textual.pilot import Pilot
from ui.screen import MIDDLE, text_of, until

from bringup.cli.console import make_console
from bringup.session.target import Target
from bringup.ui.app import BringupApp

SETTLES = 3.0
"""Seconds in which a console that tries by itself would have tried twice."""


@dataclass
class Seen:
    app: BringupApp
    pilot: Pilot[None]
    server: Sshd
    log: Path

    async def sees(self, words: str) -> None:
        await until(self.pilot, lambda: words in text_of(self.app), tries=1000)

    async def goes_on(self) -> None:
        """What is written from now on is seen."""
        await until(self.pilot, lambda: "NO CONNECTION" not in text_of(self.app), tries=1000)
        with self.log.open("ab") as file:
            file.write(b"\n[2026-03-02 14:50:00] written after it\n")
        await self.sees("written after it")

    def tries(self) -> int:
        """How often somebody came to the server."""
        return (self.server.folder / "sshd.log").read_text().count("Connection from")


@asynccontextmanager
async def console(folder: Path, **options: object) -> AsyncIterator[Seen]:
    with start_sshd(folder / "server", SFTP, "LogLevel VERBOSE") as server:
        log = folder / "server.log"
        log.write_bytes(TEXT[:20_000])
        given = server.options(connect_timeout=LOGIN, **options)
        app, _ = make_console("box", Target("box", log=str(log)), options=given)
        async with app.run_test(size=MIDDLE, notifications=True) as pilot:
            seen = Seen(app, pilot, server, log)
            await seen.sees("server.log")
            await until(pilot, lambda: app.watch_screen.console is not None)
            await until(pilot, lambda: app.watch_screen.picture is not None)
            yield seen


async def test_a_revoked_key_is_told_and_tried_again_by_a_key(tmp_path: Path) -> None:
    async with console(tmp_path) as it:
        before = text_of(it.app)
        keys = it.server.folder / "authorized_keys"
        hidden = keys.rename(keys.with_suffix(".away"))
        it.server.cut()
        await it.sees("r tries again")
        shown = text_of(it.app)
        assert "NO CONNECTION" in shown
        assert "what you see is" in shown or "server.log" in shown
        assert before.splitlines()[-3] in shown, "the last picture stays"
        tries = it.tries()
        await asyncio.sleep(SETTLES)
        assert it.tries() == tries, "a login that was refused is not tried again by itself"
        await it.pilot.press("r")
        await until(it.pilot, lambda: it.tries() > tries, tries=1000)
        await it.sees("r tries again")
        hidden.rename(keys)
        await it.pilot.press("r")
        await it.goes_on()


async def test_another_host_key_is_never_taken(tmp_path: Path) -> None:
    async with console(tmp_path) as it:
        old = it.server.folder / "host_key"
        kept = old.read_bytes()
        end = restarted(it.server, lambda: write_key(old))
        try:
            await it.sees("r tries again")
            assert "host key" in text_of(it.app)
        finally:
            end()
        old.write_bytes(kept)
        end = listen(it.server)
        try:
            await it.pilot.press("r")
            await it.goes_on()
        finally:
            end()


def restarted(server: Sshd, change: Callable[[], object]) -> Callable[[], None]:
    """Start the server again after a change; returns what ends it."""
    from connectionfaults import stop_listening

    change()
    stop_listening(server)
    return listen(replace(server))


@pytest.mark.parametrize("key", ["r"])
async def test_a_lost_connection_is_tried_at_once_by_a_key(tmp_path: Path, key: str) -> None:
    async with console(tmp_path) as it:
        restarted(it.server, lambda: None)()
        await it.sees("NO CONNECTION")
        await it.sees("it will be tried again")
        end = listen(it.server)
        try:
            await it.pilot.press(key)
            await it.goes_on()
        finally:
            end()
