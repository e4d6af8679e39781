"""How the console may speak up while nobody looks at it. Loads nothing: the first frame of the program waits for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Voice:
    """What is sent to the terminal when a start is decided."""

    bell: bool = True
    notify: bool = True
    """A notification of the desktop, by OSC 9."""
    tmux: bool = False
    """The terminal is a pane of tmux, which has to be asked to hand such a sequence on."""
    tell: Callable[[str, str], None] | None = None
    """Called with the state and its sentence: the operator's own way to be told."""


MUTE = Voice(bell=False, notify=False)


def voice_for(
    environment: Mapping[str, str],
    *,
    bell: bool = True,
    notify: bool = True,
    tell: Callable[[str, str], None] | None = None,
) -> Voice:
    """Return the voice for the terminal of this environment."""
    return Voice(bell, notify, tmux=bool(environment.get("TMUX")), tell=tell)
