"""An application that knows the operator's own keys, for all that shows keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import App
from textual.binding import Keymap

from bringup.ui.own_keys import NO_OWN_KEYS


class KeyedApp(App[None]):
    """Remembers the keys that were given to actions."""

    own_keys: Mapping[str, str] = NO_OWN_KEYS
    """The keys of an action, separated by commas, by the action's name."""

    def set_keymap(self, keymap: Keymap) -> None:
        """Give actions other keys."""
        super().set_keymap(keymap)
        self.own_keys = dict(keymap)


def own_keys_of(app: App[Any]) -> Mapping[str, str]:
    """Return the operator's own keys in an application."""
    return app.own_keys if isinstance(app, KeyedApp) else NO_OWN_KEYS
