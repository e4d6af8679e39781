"""Time that is left and time that runs out, and the shape of a hang, each as a row of the verdict."""

from __future__ import annotations

from bringup.core.ranks import name_of
from bringup.core.sanitize import clean_text
from bringup.core.verdict import Countdown, Verdict
from bringup.core.words import duration, left, names
from bringup.ui.paint.row import Row, Span
from bringup.ui.picture import Picture

_NEAR = 60.0
"""Seconds before the end of a time limit from which it is marked."""
_HANGS = {
    "waits-for-one": "all others wait for {who}",
    "spinning": "all ranks spin: busy GPUs at the power of idle ones, as in a collective that never completes",
    "stopped": "{who} {was} stopped by a signal (T): SIGCONT lets it go on",
    "uninterruptible": "{who} {is_} stuck in the kernel (D): storage or a driver does not answer",
    "zombie": "{who} {has} ended, and nobody has noticed",
    "gone": "{who} went away without a word: the kernel log may know why",
    "silent": "silence: no channel shows work, and none shows why",
}


def time_left(verdict: Verdict) -> Row:
    """Return the range of time left and what it rests on."""
    if verdict.eta_s is None:
        why = f": {clean_text(verdict.eta_basis)}" if verdict.eta_basis else ""
        return ((f"How long it still takes cannot be told{why}.", "quiet"),)
    basis = clean_text(verdict.eta_basis)
    lead = "" if basis.startswith(("from", "by", "last")) else "from "
    return (
        ("time left ", "quiet"),
        (left(*verdict.eta_s), "strong"),
        (f", {lead}{basis}" if basis else "", "quiet"),
    )


def countdown_row(picture: Picture, countdown: Countdown) -> Row:
    """Return how long until a time limit gives up, and for whom it waits."""
    name = clean_text(countdown.name)
    if countdown.left_s <= 0:
        said: tuple[Span, ...] = (
            (f"{name} ran out", "bad"),
            (f" {duration(-countdown.left_s)} ago, after {duration(countdown.limit_s)}", "quiet"),
        )
    else:
        ink = "bad" if countdown.left_s < _NEAR else "slow" if is_too_short(picture.verdict) else "strong"
        said = ((duration(countdown.left_s), ink), (f" until {name} gives up", "quiet"))
    everyone = len(countdown.waits_for) == len(picture.verdict.ranks) > 1
    who = "all ranks" if everyone else names([name_of(picture.state.attempt, rank) for rank in countdown.waits_for])
    return (("limit ", "quiet"), *said, (f", it waits for {who}" if who else "", "quiet"))


def is_pressing(verdict: Verdict) -> bool:
    """Tell whether a time limit matters now: it is half over, may be too short, or some rank alone holds it up."""
    countdown = verdict.countdown
    if countdown is None:
        return False
    alone = 0 < len(countdown.waits_for) < len(verdict.ranks)
    return alone or countdown.left_s < countdown.limit_s / 2 or is_too_short(verdict)


def is_too_short(verdict: Verdict) -> bool:
    """Tell whether a time limit ends before the start may be through."""
    return verdict.countdown is not None and verdict.eta_s is not None and verdict.countdown.left_s < verdict.eta_s[1]


def hang_row(picture: Picture) -> Row:
    """Return the shape of a hang, with the ranks that make it."""
    verdict = picture.verdict
    ranks = verdict.failed_ranks or tuple(view.rank for view in verdict.ranks if view.trouble or view.straggler)
    who = names([name_of(picture.state.attempt, rank) for rank in ranks]) or "one rank"
    verbs = dict(
        zip(("is_", "was", "has"), ("are", "were", "have") if len(ranks) > 1 else ("is", "was", "has"), strict=True)
    )
    text = _HANGS.get(verdict.hang, verdict.hang).format(who=who, **verbs)
    return (("shape ", "quiet"), (text, "strong"))
