"""The operator's own keys, shown wherever keys are shown: in the help, the footer and the palette."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from bringup.ui.keys import Key

_SHORT = {
    "escape": "esc", "pageup": "PgUp", "pagedown": "PgDn", "up": "↑", "down": "↓", "left": "←", "right": "→",
    "minus": "-", "plus": "+",
}  # fmt: skip
"""What Unicode has no name for, or a longer one."""


NO_OWN_KEYS: Mapping[str, str] = MappingProxyType({})


def renamed(keys: Iterable[Key], own: Mapping[str, str]) -> tuple[Key, ...]:
    """Return keys as the operator has them."""
    return tuple(
        replace(key, keys=own[key.id], shown=" ".join(key_name(name.strip()) for name in own[key.id].split(",")))
        if key.id in own
        else key
        for key in keys
    )


def key_name(name: str) -> str:
    """Return Textual's name of a key as an operator reads it: `question_mark` is `?`."""
    *modifiers, last = name.split("+")
    if last in _SHORT:
        last = _SHORT[last]
    elif len(last) > 1:
        # What Unicode does not know is a name of its own: f5, enter, home.
        with suppress(KeyError):
            last = unicodedata.lookup(last.replace("_", " "))
    return "+".join([*modifiers, last])
