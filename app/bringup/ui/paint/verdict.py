"""The verdict block: the state as a word and a sign, one sentence, then what it rests on as far as there is room."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.ranks import name_of
from bringup.core.sanitize import clean_text
from bringup.core.verdict import Verdict
from bringup.core.words import without_state
from bringup.ui.paint.limits import countdown_row, hang_row, is_pressing, is_too_short, time_left
from bringup.ui.paint.row import Row, clip, width_of, wrapped
from bringup.ui.paint.sentence import EDGE, paint_sentence
from bringup.ui.picture import Picture

SIGNS: dict[str, tuple[str, str]] = {
    "waiting": ("○", "off"),
    "starting": ("◐", "work"),
    "slow": ("◔", "slow"),
    "stalled": ("■", "bad"),
    "failed": ("✕", "bad"),
    "stopped": ("□", "off"),
    "ready": ("●", "ok"),
    "degraded": ("▲", "slow"),
    "standby": ("◌", "ok"),
    "unknown": ("?", "off"),
}
"""Sign and ink of every state; the word beside it says the same without colour."""
_LONGEST_SENTENCE = 3


def paint_verdict(picture: Picture, width: int, height: int) -> list[Row]:
    """Return exactly `height` rows."""
    sign, ink = SIGNS[picture.verdict.state]
    word = word_of(picture)
    most = min(height, _LONGEST_SENTENCE)
    rows = paint_sentence(f"{sign} {word}", ink, sentence(picture.verdict), width, most, marked(picture))
    for row in details(picture, width - 3):
        if len(rows) >= height:
            break
        rows.append(clip(((f"{EDGE} ", ink), *row), width))
    return rows + [((EDGE, ink),)] * (height - len(rows))


def wanted_height(picture: Picture, width: int) -> int:
    """Return how many rows all of it would take."""
    word = word_of(picture)
    lines = wrapped(clean_text(sentence(picture.verdict)), width - len(word) - 7, _LONGEST_SENTENCE)
    return len(lines) + sum(1 for _ in details(picture, width - 3))


def word_of(picture: Picture) -> str:
    """Return the word of the state; a server that is being stopped, from here or elsewhere, has not stopped yet."""
    state, known = picture.verdict.state, (picture.state.action, picture.state.elsewhere)
    lives = picture.state.server is not None and (picture.state.gone_at is None or bool(picture.state.orphans))
    stops = lives and any(action is not None and not action.ended for action in known)
    return "STOPPING" if state == "stopped" and stops else state.upper()


def marked(picture: Picture) -> dict[str, str]:
    """Return the names of ranks that stand out in the sentence, with their inks: who is behind, who is in trouble."""
    if len(picture.verdict.ranks) < 2:
        return {}
    inks = {view.rank: "slow" for view in picture.verdict.ranks if view.straggler}
    inks |= {view.rank: "bad" for view in picture.verdict.ranks if view.trouble and picture.verdict.state != "stopped"}
    return {name_of(picture.state.attempt, rank): ink for rank, ink in inks.items()}


def sentence(verdict: Verdict) -> str:
    """Return the sentence as it stands beside the word of the state: without saying that word again."""
    return without_state(verdict.summary, verdict.state)


def details(picture: Picture, width: int) -> Iterator[Row]:
    """Yield what stands below the sentence, most important first; cause and advice may take two rows of `width`."""
    verdict = picture.verdict
    yield from _cause(picture, width)
    yield from _warnings(verdict, width)
    if verdict.hang:
        yield hang_row(picture)
    yield from _times(picture, width)
    known = f"log line {verdict.cause.line_number}:" if verdict.cause is not None else "\n"
    for line in verdict.evidence:
        if line.startswith(known) or any(advisory.detail in line for advisory in verdict.warnings):
            continue
        if verdict.countdown is not None and verdict.countdown.name in line:
            continue
        yield (("· ", "faint"), (clean_text(line), "quiet"))
    if verdict.countdown is not None and not is_pressing(verdict) and not _says(verdict, verdict.countdown.name):
        yield countdown_row(picture, verdict.countdown)


def _warnings(verdict: Verdict, width: int) -> Iterator[Row]:
    """Warnings that the sentence does not say already; while it is not too late, with what can be done."""
    said = [one for one in verdict.warnings if one.kind != "channel-missing" and one.detail not in verdict.summary]
    if verdict.state != "waiting":
        for advisory in said:
            yield from _two_rows((("! ", "slow"),), advisory.detail, "text", width)
    else:
        # One row each: the rows of the GPUs tell the rest.
        yield from ((("! ", "slow"), (clean_text(advisory.detail), "text")) for advisory in said)
        for advice in dict.fromkeys(one.advice for one in said if one.advice):
            yield from _two_rows((("→ ", "key"),), advice, "quiet", width)


def _says(verdict: Verdict, what: str) -> bool:
    """Whether the sentence says something already, at its beginning or within."""
    return what.lower() in verdict.summary.lower()


def _times(picture: Picture, width: int) -> Iterator[Row]:
    """The time left and the time limit that runs, in one row where both fit."""
    verdict = picture.verdict
    rows = [time_left(verdict)] if verdict.eta_s is not None else []
    if verdict.countdown is not None and is_pressing(verdict) and not _says(verdict, verdict.countdown.name):
        rows.insert(0 if is_too_short(verdict) else len(rows), countdown_row(picture, verdict.countdown))
    if len(rows) == 2 and width_of((*rows[0], *rows[1])) + 3 <= width:
        yield (*rows[0], (" · ", "faint"), *rows[1])
    else:
        yield from rows


def _cause(picture: Picture, width: int) -> Iterator[Row]:
    cause = picture.verdict.cause
    if cause is None:
        return
    who = name_of(picture.state.attempt, cause.rank) if cause.rank is not None else ""
    where = f"line {cause.line_number:,}" if cause.line_number is not None else ""
    head = " ".join(filter(None, (who, where)))
    # What is no line of the log is said by the sentence already.
    if cause.line and (where or cause.line.lower() not in picture.verdict.summary.lower()):
        hint: Row = ((" (", "quiet"), (".", "key"), (" shows it)", "quiet")) if where else ()
        begin: Row = ((head, "strong"), *hint, (": " if head else "", "strong"))
        yield from _two_rows(begin, cause.line, "log-error", width)
    if cause.advice:
        yield from _two_rows((("→ ", "key"),), cause.advice, "text", width)


def _two_rows(begin: Row, text: str, ink: str, width: int) -> Iterator[Row]:
    """A beginning and a text that may go on in a second row."""
    lead = width_of(begin)
    words = clean_text(text)
    lines = wrapped(f"{'x' * lead} {words}" if lead else words, width, 2)
    yield (*begin, (lines[0][lead + 1 :] if lead else lines[0], ink))
    for line in lines[1:]:
        yield (("  ", "text"), (line, ink))
