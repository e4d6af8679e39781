"""The console over a log of a day, of which it holds nothing: the file is on this machine, and what is read counted."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from textual.pilot import Pilot
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, opened, text_of, until

from bringup.core.errors import ConnectionLost
from bringup.hosts.base import Host, OpenFile
from bringup.hosts.local import LocalHost
from bringup.session.whole_log import WholeLog
from bringup.ui.app import BringupApp
from bringup.ui.screens.whole_log import WholeLogScreen

LINES = 200_000
MIDNIGHT = 1772496000.0
"""After the day of the log."""


def numbered(number: int) -> bytes:
    """A line of a log that is written for a day: its time goes with its number."""
    seconds = number * 86_399 // LINES
    clock = b"%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)
    return b"[2026-03-02 %s TP0] Decode batch %06d%s" % (clock, number, b" a NEEDLE" if number % 50_000 == 7 else b"")


class CountingHost(LocalHost):
    """This machine, counting what is read of its files; can lose its connection."""

    def __init__(self) -> None:
        super().__init__()
        self.moved = 0
        self.lost = False

    async def open(self, path: str) -> OpenFile:
        if self.lost:
            raise ConnectionLost("The connection to gpu-a was lost.")
        file = await super().open(path)
        look = file.look

        async def counted(offset: int, size: int):  # type: ignore[no-untyped-def]
            seen = await look(offset, size)
            self.moved += len(seen.data)
            return seen

        file.look = counted  # type: ignore[method-assign]
        return file


@dataclass
class Reader:
    """The console over a big log of which it holds the end."""

    app: BringupApp
    console: FakeConsole
    pilot: Pilot[None]
    host: CountingHost
    path: Path

    async def sees(self, words: str) -> None:
        await until(self.pilot, lambda: words in text_of(self.app))

    @property
    def screen(self) -> WholeLogScreen:
        assert isinstance(self.app.screen, WholeLogScreen)
        return self.app.screen

    def numbers(self) -> list[int]:
        """The numbers of the lines that are seen."""
        return [int(number) for number in re.findall(r"Decode batch (\d+)", text_of(self.app))]

    async def goes_to(self, place: str) -> None:
        await self.pilot.press("p")
        await until(self.pilot, lambda: self.app.focused is not None and self.app.focused.id == "ask")
        await self.pilot.press(*[{"%": "percent_sign", ":": "colon", ".": "full_stop"}.get(key, key) for key in place])
        await self.pilot.press("enter")
        await until(self.pilot, lambda: not self.screen._busy)


@asynccontextmanager
async def reading_big(path: Path) -> AsyncIterator[Reader]:
    """Open the console over the log."""
    console, host = SCENES["weights"](), CountingHost()
    log = replace(console.state.log, path=str(path), kind="file")
    console.change(replace(console.state, log=log, utc_offset=0.0))
    console.moment = MIDNIGHT

    def reach() -> Host:
        return host

    console.whole_log = WholeLog(reach, lambda: console.state)  # type: ignore[attr-defined]
    async with opened(console, MIDDLE) as (app, _, pilot):
        yield Reader(app, console, pilot, host, path)
