"""A hang in words: who waits for whom, and the numbers that tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bringup.core.ranks import find, name_of
from bringup.core.words import duration, names

if TYPE_CHECKING:
    from bringup.core.summary import Judged


def hang_words(judged: Judged) -> str:
    """Return what is wrong with a start that hangs, as the end of a sentence with its full stop."""
    shape = judged.shape
    who, one = _named(judged, shape.ranks), len(shape.ranks) == 1
    match shape.name:
        case "stopped":
            return _stopped(judged, shape.ranks)
        case "uninterruptible":
            what = f"waits for {shape.by}" if shape.by else "waits in the kernel"
            channel = f", {shape.wchan}" if shape.wchan else ""
            did = "and did nothing while peers went on" if shape.proven else f"and {_still(judged)}"
            return f"{who} {what if one else what.replace('waits', 'wait', 1)} (state D{channel}) {did}."
        case "waits-for-one":
            return _for_one(judged, who)
        case "spinning":
            return f"{_turning(judged)} and {_still(judged, 'nothing else has moved')}; {_each_other(judged)}."
        case _:
            step = judged.where.step
            whom = f" {_named(judged, step.missing)} not done." if step and step.missing and step.done else ""
            return f"{_still(judged, 'nothing has moved on any channel')}.{whom}"


def _for_one(judged: Judged, who: str) -> str:
    step = judged.where.step
    others = len(step.expected) - 1 if step is not None else len(judged.ranks) - 1
    peers = "the other rank" if others == 1 else f"the other {others} ranks"
    verb, wait = ("is", "waits") if others == 1 else ("are", "wait")
    since = _still(judged)
    match judged.shape.by:
        case "ended":
            return f"{peers} {verb} done and {wait} for {who}; {since}."
        case "begun":
            return f"{peers} {wait} for {who}, which has not begun; {since}."
        case _:
            return f"{peers} spin and {who} does not, so they seem to wait for it; {since}."


def _turning(judged: Judged) -> str:
    number = len(judged.shape.ranks)
    if judged.shape.by == "cpu":
        return "the rank uses a whole core" if number == 1 else f"all {number} ranks use a whole core each"
    watts = power_words(judged, judged.shape.ranks)
    return f"{'the GPU is' if number == 1 else f'all {number} GPUs are'} at 100 % but hardly draw power{watts}"


def held_words(judged: Judged) -> str:
    """Return what ranks wait for in the kernel that are not called stuck yet, without the full stop."""
    held = judged.live.held
    who, longest = _named(judged, tuple(rank.rank for rank, _ in held)), max(quiet for _, quiet in held)
    waits = {rank.process.wchan for rank, _ in held if rank.process is not None}
    channel = f", {waits.pop()}" if len(waits) == 1 and all(waits) else ""
    verb = "has" if len(held) == 1 else "have"
    return f"{who} {verb} waited in the kernel for {duration(longest)} (state D{channel}), which may still end"


def power_words(judged: Judged, ranks: tuple[int, ...]) -> str:
    """Return the power of the GPUs of ranks, in brackets: " (118 to 131 W of 700 W)"; empty where it is not known."""
    indexes = {rank.gpu for number in ranks if (rank := find(judged.state.attempt, number)) is not None}
    gpus = [gpu for gpu in judged.state.gpu.gpus if gpu.index in indexes and gpu.power is not None and gpu.power_limit]
    if not gpus:
        return ""
    low, high = min(gpu.power or 0 for gpu in gpus), max(gpu.power or 0 for gpu in gpus)
    used = f"{low:.0f} W" if round(low) == round(high) else f"{low:.0f} to {high:.0f} W"
    return f" ({used} of {max(gpu.power_limit or 0 for gpu in gpus):.0f} W)"


def _each_other(judged: Judged) -> str:
    if judged.state.attempt.nnodes > 1:
        return "they wait for each other, or for another node"
    return "it waits for what never comes" if len(judged.shape.ranks) == 1 else "they wait for each other"


def _stopped(judged: Judged, ranks: tuple[int, ...]) -> str:
    launcher = judged.live.launcher
    who = [f"the launcher, PID {launcher},"] if launcher is not None else []
    who += [name_of(judged.state.attempt, rank) for rank in ranks]
    return f"{names(who)} {'is' if len(who) == 1 else 'are'} stopped (state T) and will not go on by itself."


def _still(judged: Judged, nothing: str = "nothing moved") -> str:
    """For how long it is silent: of the time before anybody watched, only the log tells anything."""
    live, quiet = judged.live, duration(judged.live.quiet or 0)
    if live.blind:
        return f"the log has been silent for {quiet}"
    if live.watched is not None:
        return f"the log has been silent for {quiet}, and nothing moved in the {duration(live.watched)} watched"
    return f"{nothing} for {quiet}"


def _named(judged: Judged, ranks: tuple[int, ...]) -> str:
    return names([name_of(judged.state.attempt, rank) for rank in ranks])
