"""What a screen may say about the keys it gets."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from textual.events import Key


@runtime_checkable
class Hearing(Protocol):
    """A screen that does not hear every key."""

    def hears(self, event: Key) -> bool:
        """Tell whether the key was pressed by someone who could read what the screen asks."""
        ...
