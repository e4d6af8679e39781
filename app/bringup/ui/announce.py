"""Tells that something was decided to an operator who looks elsewhere: the terminal's bell, and a notification (OSC 9).

OSC 9 is shown by iTerm2, Ghostty, WezTerm, kitty and others; a terminal that does not know it ignores it. Under tmux it
is wrapped so that tmux hands it on, where `allow-passthrough` is on (tmux(1)).
"""

from __future__ import annotations

from collections.abc import Callable

from bringup.core.redact import mask
from bringup.core.sanitize import clean_text
from bringup.core.state import State
from bringup.core.verdict import StateName, Verdict
from bringup.ui.paint.row import shorten
from bringup.ui.voice import Voice

BELL = "\x07"
_ESC = "\x1b"
_END = f"{_ESC}\\"
_LONGEST = 200
_NEWS: tuple[StateName, ...] = ("ready", "failed", "stalled")
_AFTER_READY: tuple[StateName, ...] = ("degraded",)
_SETTLING = 5.0
"""Seconds after the connection in which what has no time of its own counts as found, not as happened."""


class Announcer:
    """Listens to one session's verdicts, and returns what the terminal is to be sent when one of them is news."""

    def __init__(self, voice: Voice, title: str, send: Callable[[str], None]) -> None:
        self._voice = voice
        self._title = title
        self._send = send
        self._since: float | None = None
        self._last: StateName | None = None

    def begin(self, now: float) -> None:
        """Listen to a session from now (on the host's clock) on: what it finds is no news."""
        self._since, self._last = now, None

    def hear(self, state: State, verdict: Verdict) -> None:
        """Take the next verdict; tell it where it is news."""
        before, self._last = self._last, verdict.state
        if before is None or before == verdict.state or self._since is None:
            return
        if verdict.state not in _NEWS and not (verdict.state in _AFTER_READY and before == "ready"):
            return
        at = happened_at(state, verdict)
        if at < self._since or (at >= verdict.now and verdict.now < self._since + _SETTLING):
            return
        told = sequences(self._voice, f"{self._title}: {verdict.state.upper()}. {verdict.summary}")
        if told:
            self._send(told)
        if self._voice.tell is not None:
            self._voice.tell(verdict.state, verdict.summary)


def happened_at(state: State, verdict: Verdict) -> float:
    """Return when the state of a verdict began, where something tells it; else now."""
    attempt = state.attempt
    moments: list[float] = []
    if verdict.state == "ready":
        moments = [at for name, at in attempt.reached if name == "ready"]
    elif verdict.state in ("failed", "stopped"):
        moments = [line.at for line in attempt.faults] + [line.at for line in attempt.endings]
        moments += [at for at in (state.gone_at, *(rank.gone_at for rank in attempt.ranks)) if at is not None]
    return max(moments, default=verdict.now)


def sequences(voice: Voice, text: str) -> str:
    """Return what a terminal is sent for a text: harmless, on one line, and short, whatever the host said."""
    told = ""
    if voice.notify:
        message = shorten(" ".join(mask(clean_text(text)).split()), _LONGEST)
        told = f"{_ESC}]9;bringup {message}{_END}"
        if voice.tmux:
            told = f"{_ESC}Ptmux;{told.replace(_ESC, _ESC * 2)}{_END}"
    return told + (BELL if voice.bell else "")
