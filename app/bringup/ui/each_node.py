"""The orders of every host of a start: each goes to its own session, is followed there, and ends there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from textual.screen import Screen

from bringup.session.console import Console, Several
from bringup.ui.orders import Orders
from bringup.ui.picture import OtherNode

Whole = Callable[[], Console | None]


@dataclass(frozen=True, slots=True)
class UnderWay:
    """An action that has not ended."""

    node: str
    """The host; "" for the only one."""
    what: str
    step: str
    """The last one that was told; "" where none was yet."""

    @property
    def named(self) -> str:
        """What it is, and where."""
        return f"{self.what} on {self.node}" if self.node else self.what

    @property
    def parting(self) -> str:
        """What is said of it when the console is left."""
        last = f" Its last step: {self.step}" if self.step else ""
        return f"The {self.named} was left half done, nothing more is done from here.{last}"


class EachNode:
    """Has the orders of each host; a start with one host has one, without a name."""

    def __init__(self, screen: Screen[None], title: str, whole: Whole, paint: Callable[[], None]) -> None:
        self._screen = screen
        self._title = title
        self._whole = whole
        self._paint = paint
        self._orders: dict[str, Orders] = {}

    @property
    def here(self) -> Orders:
        """Those of the host that is shown."""
        whole = self._whole()
        return self._of(whole.node if isinstance(whole, Several) else "")

    def follow(self) -> None:
        """Tell what has come of orders since the last time, on whichever host."""
        for node in self._sessions():
            self._of(node).follow()

    def others(self) -> tuple[OtherNode, ...]:
        """Return what is known of the hosts that are not shown."""
        here = self.here
        apart = [(node, session, self._of(node)) for node, session in self._sessions().items()]
        return tuple(
            OtherNode(node, session.state, session.now(), orders.left_over.left, orders.dismissed)
            for node, session, orders in apart
            if orders is not here
        )

    @property
    def under_way(self) -> tuple[UnderWay, ...]:
        """Which actions have not ended, on whichever host."""
        found = (UnderWay(node, *self._of(node).under_way) for node in self._sessions())
        return tuple(each for each in found if each.what)

    @property
    def untouched(self) -> bool:
        """There is a server, and nothing was done to one from here."""
        states = [session.state for session in self._sessions().values()]
        acted = self.under_way or any(state.action is not None for state in states)
        return not acted and any(state.server is not None for state in states)

    def _sessions(self) -> dict[str, Console]:
        whole = self._whole()
        if whole is None:
            return {}
        return dict(whole.sessions) if isinstance(whole, Several) else {"": whole}

    def _of(self, node: str) -> Orders:
        if node not in self._orders:
            title, console = node or self._title, partial(self._session, node)
            self._orders[node] = Orders(self._screen, title, console, self._paint, self._whole)
        return self._orders[node]

    def _session(self, node: str) -> Console | None:
        return self._sessions().get(node)
