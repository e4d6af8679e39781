"""A diagnosis from the screen: the host is asked while the screen goes on, and a file is kept of the answers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from textual.notifications import SeverityLevel
from textual.screen import Screen

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.history.place import data_folder
from bringup.report.diagnosis import FOLDER, diagnosis, save
from bringup.session.console import Console
from bringup.ui.paint.measures import count


class Diagnosing:
    """Makes one diagnosis at a time."""

    def __init__(self, screen: Screen[None], title: str, draw: Callable[[], None]) -> None:
        self._screen = screen
        self._title = title
        self._draw = draw
        self.asking = ""
        """What the host is asked now, in words; "" while none is made."""

    def begin(self, console: Console | None) -> None:
        """Begin a diagnosis, unless one is being made or there is no session."""
        if console is None or self.asking:
            return
        number = len(console.state.processes) if console.state.gone_at is None else 0
        whom = f"the machine and {count(number, 'process', 'processes')}" if number else "the machine"
        self.asking = f"asking {whom} for stacks, wait channels and memory; nothing is touched"
        self._draw()
        self._screen.run_worker(self._make(console), name="diagnose", group="diagnose")

    async def _make(self, console: Console) -> None:
        try:
            findings = await console.diagnose()
            text = diagnosis(self._title, console.verdict(), findings)
            folder = data_folder(os.environ) / FOLDER
            path = await asyncio.to_thread(save, text, folder, self._title, console.now())
        except BringupError as error:
            self._tell(str(error), failed=True)
        else:
            self._tell(f"{count(len(findings.sections), 'answer')} of the host, kept in {path}")
        finally:
            self.asking = ""
            self._draw()

    def _tell(self, text: str, *, failed: bool = False) -> None:
        severity: SeverityLevel = "error" if failed else "information"
        self._screen.notify(clean_text(text), title="diagnosis", severity=severity, markup=False, timeout=30)
