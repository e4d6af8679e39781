"""The verdict block: the state as a word and a sign, one sentence, then what it rests on as far as there is room."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.ranks import name_of
from bringup.core.sanitize import clean_text
from bringup.core.verdict import Verdict
from bringup.core.words import left
from bringup.ui.paint.gpus import strangers
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
_MOST_STRANGERS = 3


def paint_verdict(picture: Picture, width: int, height: int) -> list[Row]:
    """Return exactly `height` rows."""
    sign, ink = SIGNS[picture.verdict.state]
    word = picture.verdict.state.upper()
    rows = paint_sentence(f"{sign} {word}", ink, sentence(picture.verdict), width, min(height, _LONGEST_SENTENCE))
    for row in details(picture, width - 3):
        if len(rows) >= height:
            break
        rows.append(clip(((f"{EDGE} ", ink), *row), width))
    return rows + [((EDGE, ink),)] * (height - len(rows))


def wanted_height(picture: Picture, width: int) -> int:
    """Return how many rows all of it would take."""
    word = picture.verdict.state.upper()
    lines = wrapped(clean_text(sentence(picture.verdict)), width - len(word) - 7, _LONGEST_SENTENCE)
    return len(lines) + sum(1 for _ in details(picture, width - 3))


def sentence(verdict: Verdict) -> str:
    """Return the sentence as it stands beside the word of the state: without saying that word again."""
    word, rest = verdict.state.capitalize(), verdict.summary
    for lead in (f"{word}: ", f"{word} "):
        if rest.startswith(lead):
            rest = rest.removeprefix(lead)
            return rest[0].upper() + rest[1:]
    return rest


def details(picture: Picture, width: int) -> Iterator[Row]:
    """Yield what stands below the sentence, most important first; cause and advice may take two rows of `width`."""
    verdict = picture.verdict
    yield from _cause(picture, width)
    for advisory in verdict.warnings:
        if advisory.kind != "channel-missing" and advisory.detail not in verdict.summary:
            yield (("! ", "slow"), (clean_text(advisory.detail), "text"))
    for sentence in strangers(picture.state)[:_MOST_STRANGERS]:
        yield (("! ", "slow"), (sentence, "text"))
    if verdict.eta_s is not None:
        yield time_left(verdict)
    known = f"log line {verdict.cause.line_number}:" if verdict.cause is not None else "\n"
    for line in verdict.evidence:
        if line.startswith(known) or any(advisory.detail in line for advisory in verdict.warnings):
            continue
        yield (("· ", "faint"), (clean_text(line), "quiet"))


def time_left(verdict: Verdict) -> Row:
    """Return the range of time left and what it rests on."""
    if verdict.eta_s is None:
        return (("How long it still takes cannot be told.", "quiet"),)
    return (
        ("time left ", "quiet"),
        (left(*verdict.eta_s), "strong"),
        (f", {clean_text(_from(verdict.eta_basis))}" if verdict.eta_basis else "", "quiet"),
    )


def _from(basis: str) -> str:
    return basis if basis.startswith(("from", "by")) else f"from {basis}"


def _cause(picture: Picture, width: int) -> Iterator[Row]:
    cause = picture.verdict.cause
    if cause is None:
        return
    who = name_of(picture.state.attempt, cause.rank) if cause.rank is not None else ""
    where = f"line {cause.line_number:,}" if cause.line_number is not None else ""
    head = " ".join(filter(None, (who, where)))
    if cause.line:
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
