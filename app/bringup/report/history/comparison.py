"""What differs between two starts, and between one and the usual, phase by phase; with a guess at why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from bringup.core.words import duration
from bringup.history.records import GOOD, StartRow

_NOTABLE = 2.0
"""A phase that took so many times as long, or as short, is worth a remark …"""
SECONDS = 5.0
"""… where it is at least so many seconds as well."""
_FEWEST = 3
"""Of so many starts a median is something else than one of the two that are compared."""
_SLOWER: Mapping[str, str] = {
    "launch": "modules read from a cold disk?",
    "download": "a slower network?",
    "distributed": "a slow network between the ranks, or one that came late?",
    "weights": "cold cache?",
    "kv-cache": "memory taken by another process?",
    "compile": "kernels compiled anew?",
    "graphs": "kernels compiled anew?",
    "warmup": "kernels compiled anew?",
}
_FASTER: Mapping[str, str] = {
    "launch": "modules still in the page cache?",
    "download": "files that were there already?",
    "weights": "files still in the page cache?",
    "compile": "kernels kept from before?",
    "graphs": "kernels kept from before?",
    "warmup": "kernels kept from before?",
}


@dataclass(frozen=True, slots=True)
class PhaseDifference:
    """One phase in two starts; seconds, None where a start did not get through it."""

    key: str
    first: float | None
    second: float | None
    usual: float | None
    """The median of the starts of the second one's command that became ready; None where they are too few."""

    @property
    def factor(self) -> float | None:
        """How many times as long it took in the second one; None where that says nothing."""
        if self.first is None or self.second is None or min(self.first, self.second) <= 0:
            return None
        return self.second / self.first

    @property
    def is_great(self) -> bool:
        """It took more than twice as long in one of them, however short it is."""
        return self.factor is not None and not 1 / _NOTABLE <= self.factor <= _NOTABLE


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two starts side by side."""

    first: StartRow
    second: StartRow
    phases: tuple[PhaseDifference, ...]
    remarks: tuple[str, ...]
    alike: bool
    """They are of the same command on the same host."""


def compare(first: StartRow, second: StartRow, kept: Sequence[StartRow]) -> Comparison:
    """Compare two starts; `kept` are all starts of the second one's command."""
    usual = usual_of(kept, fewest=_FEWEST)
    one, two = took(first), took(second)
    keys = list(dict.fromkeys([*one, *two]))
    phases = tuple(PhaseDifference(key, one.get(key), two.get(key), usual.get(key)) for key in keys)
    alike = first.key == second.key
    told = remarks(second, kept) if alike else []
    if not told:
        than = f"in start {first.number}"
        told = [_remark(key, two[key], one[key], than, guesses=alike) for key in two if key in one]
    return Comparison(first, second, phases, tuple(filter(None, told)), alike)


def remarks(start: StartRow, kept: Iterable[StartRow]) -> list[str]:
    """Say which phases of a start took far longer or shorter than the median of the others of its command."""
    others = [other for other in kept if other.number != start.number and other.outcome in GOOD and other.whole]
    if len(others) < 2 or not start.whole:
        return []
    usual = usual_of(others)
    told = [_remark(key, seconds, usual[key], "the median") for key, seconds in took(start).items() if key in usual]
    return [remark for remark in told if remark]


def usual_of(starts: Iterable[StartRow], *, fewest: int = 1) -> Mapping[str, float]:
    """Return the (low) median of each phase over starts that became ready and were seen whole, in seconds.

    A phase that fewer of them went through than `fewest` has none.
    """
    found: dict[str, list[float]] = {}
    for start in starts:
        if start.whole and start.outcome in GOOD:
            for key, seconds in took(start).items():
                found.setdefault(key, []).append(seconds)
    return {key: median_low(values) for key, values in found.items() if len(values) >= fewest}


def took(start: StartRow) -> Mapping[str, float]:
    """Return what the phases of a start took that are over, in their order."""
    return {row.key: row.seconds for row in start.phases if row.ended}


def _remark(key: str, seconds: float, usual: float, than: str, *, guesses: bool = True) -> str:
    """Return "weights target 4.0 times slower than the median (4 min, not 1 min): cold cache?", or nothing.

    Why a start of another command took longer is nothing to guess at.
    """
    if abs(seconds - usual) < SECONDS or not (seconds > _NOTABLE * usual or usual > _NOTABLE * seconds):
        return ""
    slower = seconds > usual
    factor = seconds / max(usual, 0.1) if slower else usual / max(seconds, 0.1)
    guess = (_SLOWER if slower else _FASTER).get(key.partition("/")[0], "")
    word = "slower" if slower else "faster"
    times = f"{factor:.1f} times" if factor < 100 else "over 100 times"
    told = f"{key.replace('/', ' ')} {times} {word} than {than} ({duration(seconds)}, not {duration(usual)})"
    return f"{told}: {guess}" if guess and guesses else f"{told}."
