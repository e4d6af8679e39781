"""Progress bars as tqdm writes them into a file: a carriage return before each state, a line feed only at the end.

Facts: tqdm 4.70 with output redirected to a file, as SGLang 0.5.10+ uses it (bar formats, 0.1 s between two states,
an exponential average of the rate).
"""

from __future__ import annotations

import time
from collections.abc import Callable

BLOCKS = " ▏▎▍▌▋▊▉"
INTERVAL = 0.1
"""Seconds between two states of a bar (tqdm's mininterval)."""
SMOOTHING = 0.3
WIDTH = 10


class Bar:
    """One bar. The last state comes twice, as in the original: by the last update and by closing."""

    def __init__(self, total: int, emit: Callable[[str], None], *, label: str = "", blocks: bool = True) -> None:
        self._total = total
        self._emit = emit
        self._label = label
        self._blocks = blocks
        self._began = self._stepped = self._drawn = time.monotonic()
        self._done = 0
        self._rate: float | None = None
        self._draw()

    def name(self, label: str) -> None:
        """Change the text before the bar and draw it at once."""
        self._label = label
        self._draw()

    def advance(self) -> None:
        """Count one more; drawn only when the last state is old enough."""
        now = time.monotonic()
        self._done += 1
        step = max(1e-6, now - self._stepped)
        self._stepped = now
        rate = 1.0 / step
        self._rate = rate if self._rate is None else SMOOTHING * rate + (1 - SMOOTHING) * self._rate
        if now - self._drawn >= INTERVAL or self._done == self._total:
            self._draw()

    def close(self) -> None:
        """Draw the last state again and end the line."""
        self._draw("\n")

    def _draw(self, end: str = "") -> None:
        self._drawn = time.monotonic()
        share = self._done / self._total
        label = f"{self._label}: " if self._label else ""
        middle = f"{share:4.0%}|{_blocks(share)}| " if self._blocks else f"{share:4.0%} Completed | "
        self._emit(f"\r{label}{middle}{self._done}/{self._total} [{self._times()}]{end}")

    def _times(self) -> str:
        elapsed = time.monotonic() - self._began
        if self._rate is None:
            return f"{clock(elapsed)}<?, ?it/s"
        rate = f"{self._rate:5.2f}it/s" if self._rate >= 1 else f"{1 / self._rate:5.2f}s/it"
        return f"{clock(elapsed)}<{clock((self._total - self._done) / self._rate)}, {rate}"


def clock(seconds: float) -> str:
    """Return MM:SS, or H:MM:SS from an hour on."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def _blocks(share: float) -> str:
    full, eighths = divmod(int(share * WIDTH * 8), 8)
    text = "█" * full + (BLOCKS[eighths] if full < WIDTH else "")
    return text.ljust(WIDTH)
