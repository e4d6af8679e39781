"""The host that orders go to: its own session, what it is called, and whether it is the one that is shown."""

from __future__ import annotations

from collections.abc import Callable

from textual.notifications import SeverityLevel
from textual.screen import Screen

from bringup.core.sanitize import clean_text
from bringup.session.console import Console, Several


class Post:
    """One host of what is watched; of several, what is told of one that is not shown begins with its name."""

    def __init__(
        self,
        screen: Screen[None],
        title: str,
        console: Callable[[], Console | None],
        paint: Callable[[], None],
        whole: Callable[[], Console | None],
    ) -> None:
        self._screen = screen
        self._title = title
        self._console = console
        self._paint = paint
        self._whole = whole
        """The console over all hosts; of a single one, its own."""

    @property
    def is_shown(self) -> bool:
        """The log and the GPUs on the screen are of this host, and the keys are about it."""
        whole = self._whole()
        return not isinstance(whole, Several) or whole.node == self._title

    @property
    def is_read_only(self) -> bool:
        """Nothing may be done: several hosts are one start, and are protected as one."""
        whole = self._whole()
        return whole is not None and whole.read_only

    def group(self, work: str) -> str:
        """Return the name of what this host has one worker for at a time."""
        return f"{work} {self._title}"

    def paint(self) -> None:
        """Draw the screen anew."""
        self._screen.call_next(self._paint)

    def tell(self, text: str, severity: SeverityLevel) -> None:
        """Say something for a while."""
        self._screen.notify(clean_text(self.placed(text)), severity=severity, markup=False, timeout=8)

    def placed(self, text: str) -> str:
        """Return what is told, with the name of the host where another one is shown."""
        return text if self.is_shown else f"{self._title}: {text}"

    def called(self, console: Console) -> str:
        """Return what the operator calls the host, and what it calls itself."""
        node = console.state.node
        return self._title if node in ("", self._title) else f"{self._title} ({node})"
