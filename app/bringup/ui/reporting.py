"""A report from the screen: what was seen so far of this start as one page, kept in a file of the operator's own."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from textual.notifications import SeverityLevel
from textual.screen import Screen

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.report.diagnosis import FOLDER
from bringup.session.series import Point, Series
from bringup.ui.picture import Picture


class Reporting:
    """Keeps samples of what is drawn, and writes one page at a time."""

    def __init__(self, screen: Screen[None], title: str) -> None:
        self._screen = screen
        self._title = title
        self._series = Series()
        self._writing = False

    def see(self, picture: Picture) -> None:
        """Take a sample of what is drawn, once a second."""
        self._series.add(picture.state, picture.verdict)

    def begin(self, picture: Picture | None, lines: list[bytes]) -> None:
        """Begin to write a page about a moment, unless one is being written or there is no session."""
        if picture is None or self._writing:
            return
        self._writing = True
        # In a replay that was moved back, what comes later is not said yet.
        points = tuple(point for point in self._series.points if point.at <= picture.now)
        self._screen.run_worker(self._make(picture, points, lines), name="report", group="report")

    async def _make(self, picture: Picture, points: tuple[Point, ...], lines: list[bytes]) -> None:
        try:
            path = await asyncio.to_thread(_write, self._title, picture, points, lines)
        except BringupError as error:
            self._tell(str(error), failed=True)
        else:
            self._tell(f"A page about this start is in {path}")
        finally:
            self._writing = False

    def _tell(self, text: str, *, failed: bool = False) -> None:
        severity: SeverityLevel = "error" if failed else "information"
        self._screen.notify(clean_text(text), title="report", severity=severity, markup=False, timeout=30)


def _write(title: str, picture: Picture, points: tuple[Point, ...], lines: list[bytes]) -> Path:
    # Loaded by who asks for it: the first frame must not wait for it.
    from dataclasses import replace

    from bringup.history.place import data_folder
    from bringup.report.accounts import of_host
    from bringup.report.html.page import page
    from bringup.report.maker import program
    from bringup.report.saving import keep

    account = of_host(title, picture.state, picture.verdict, points, lines)
    return keep(page(replace(account, maker=program())), data_folder(os.environ) / FOLDER, title, picture.now)
