"""All that the verdict rests on: the sentence, times and limits, every line of evidence, each channel with its age."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.ranks import name_of
from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.ui.paint.bars import SOLID, TRACK
from bringup.ui.paint.channels import paint_channels
from bringup.ui.paint.holders import paint_holders
from bringup.ui.paint.limits import countdown_row, hang_row, time_left
from bringup.ui.paint.measures import clock
from bringup.ui.paint.models import paint_models
from bringup.ui.paint.phase_table import paint_table
from bringup.ui.paint.row import Row, clip, joined, width_of, wrapped
from bringup.ui.paint.sentence import paint_sentence
from bringup.ui.paint.verdict import SIGNS, marked, sentence, word_of
from bringup.ui.picture import Picture

_GAUGE = 24


def paint_evidence(picture: Picture, width: int) -> list[Row]:
    """Return the whole account as rows of at most `width` cells; long lines are wrapped."""
    verdict = picture.verdict
    sign, ink = SIGNS[verdict.state]
    rows = paint_sentence(f"{sign} {word_of(picture)}", ink, sentence(verdict), width, 6, marked(picture))
    rows += _times(picture, width)
    for title, section in _sections(picture, width):
        if section:
            rows += [(), ((title, "title"),), *section]
    return [clip(row, width) for row in rows]


def _sections(picture: Picture, width: int) -> Iterator[tuple[str, list[Row]]]:
    yield "Cause", _cause(picture, width)
    yield "What it rests on", _grounds(picture, width)
    yield "Warnings", _warnings(picture, width)
    yield "How it was launched", _launcher(picture, width)
    yield "Channels", paint_channels(picture, width)
    yield "GPU memory of others", paint_holders(picture, width)
    yield "Models on the disk", paint_models(picture, width)
    yield "Kernel log", _kernel(picture, width)
    yield "Phases", paint_table(picture)
    yield "Earlier launches in this log", _earlier(picture)


def _launcher(picture: Picture, width: int) -> list[Row]:
    server = picture.state.server
    if server is None or not server.launcher.words:
        return []
    launcher = server.launcher
    words = f"{launcher.words[0].upper()}{launcher.words[1:]}."
    told = " ".join(part for part in (words, launcher.detail, launcher.sentence) if part).replace(
        "{drain} s", "a while"
    )
    return [(("  ", "text"), (line, "text")) for line in wrapped(clean_text(told), width - 4, 5)]


def _times(picture: Picture, width: int) -> list[Row]:
    """Time left, the limit that runs (with a gauge where there is room), the shape of a hang."""
    verdict = picture.verdict
    rows: list[Row] = []
    if verdict.eta_s is not None or verdict.state in ("starting", "slow"):
        rows += _hung(time_left(verdict), width)
    if verdict.countdown is not None:
        row = countdown_row(picture, verdict.countdown)
        rows += _hung(row, width)
    if verdict.countdown is not None and verdict.countdown.left_s > 0:
        gone = 1 - max(0.0, verdict.countdown.left_s) / max(1.0, verdict.countdown.limit_s)
        done = round(max(0.0, min(1.0, gone)) * _GAUGE)
        note = clean_text(verdict.countdown.note)
        of = f" of {duration(verdict.countdown.limit_s)}{f'; {note}' if note else ''}"
        gauge: Row = ((SOLID * done, "late"), (TRACK * (_GAUGE - done), "track"), (of, "quiet"))
        rows.append((("  ", "text"), (" " * 10, "text"), *gauge))
    if verdict.hang:
        rows += _hung(hang_row(picture), width)
    return [(), *rows] if rows else []


def _cause(picture: Picture, width: int) -> list[Row]:
    cause = picture.verdict.cause
    if cause is None:
        return []
    rows: list[Row] = []
    who = name_of(picture.state.attempt, cause.rank) if cause.rank is not None else ""
    where = f"log line {cause.line_number:,}" if cause.line_number is not None else ""
    if who or where:
        rows.append((("  ", "text"), *joined([(who, "strong"), (where, "quiet"), (clean_text(cause.kind), "quiet")])))
    rows += _text(cause.line, width, "log-error") if cause.line else []
    return [*rows, *_text(cause.advice, width, "text", "→ ", "key")] if cause.advice else rows


def _grounds(picture: Picture, width: int) -> list[Row]:
    rows: list[Row] = []
    countdown = picture.verdict.countdown
    for line in picture.verdict.evidence:
        if countdown is not None and countdown.name in line:
            continue  # it stands above, with its gauge
        rows += _text(line, width, "text", "· ", "faint")
    return rows


def _warnings(picture: Picture, width: int) -> list[Row]:
    rows: list[Row] = []
    told: set[str] = set()
    for advisory in picture.verdict.warnings:
        # Channels that cannot be had have their own table.
        if advisory.kind == "channel-missing":
            continue
        rows += _text(advisory.detail, width, "text", "! ", "slow")
        if advisory.advice and advisory.advice not in told:
            rows += _text(advisory.advice, width, "quiet", "→ ", "key")
        told.add(advisory.advice)
    return rows


def _kernel(picture: Picture, width: int) -> list[Row]:
    rows: list[Row] = []
    for line in picture.state.kernel:
        at = clock(line.at, picture.state.utc_offset) if line.at else "--:--:--"
        rows += _text(line.text, width, "log-error", f"{at}  ", "quiet")
    return rows


def _earlier(picture: Picture) -> list[Row]:
    return [
        (
            (f"  {past.number}. line {past.line:,}  ", "quiet"),
            (clean_text(past.text) or "ended without an error line", "text"),
        )
        for past in picture.state.earlier
    ]


def _hung(row: Row, width: int) -> list[Row]:
    """A row whose first word stands in a column of its own; what does not fit goes on below."""
    (word, ink), *rest = row
    if not rest:
        return _text(word.strip(), width, ink)
    lead = f"  {word.strip().ljust(10)}"
    if len(lead) + width_of(tuple(rest)) <= width:
        return [((lead, ink), *rest)]
    first, first_ink = rest[0]
    begin, *lines = wrapped("".join(text for text, _ in rest), max(10, width - len(lead)), 5)
    cut = len(first) if begin.startswith(first) else 0
    head: Row = ((lead, ink), (begin[:cut], first_ink), (begin[cut:], "quiet"))
    return [head, *(((" " * len(lead), "text"), (line, "quiet")) for line in lines)]


def _text(text: str, width: int, ink: str, lead: str = "", lead_ink: str = "text") -> list[Row]:
    lines = wrapped(clean_text(text), max(10, width - len(lead) - 2), 8)
    first: Row = ((f"  {lead}", lead_ink), (lines[0], ink))
    return [first, *(((" " * (len(lead) + 2), "text"), (line, ink)) for line in lines[1:])]
