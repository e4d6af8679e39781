"""One file for whoever is asked for help: the verdict with its evidence, the answers of the host, the log's end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean
from bringup.core.verdict import RankView, Verdict
from bringup.core.words import count
from bringup.recordings.private import write_private
from bringup.report.contract import to_json
from bringup.report.harmless import harmless
from bringup.report.maker import program
from bringup.report.stems import stem, write_new
from bringup.session.console import Findings

FOLDER = "reports"
"""Folder of the user's data in which diagnoses and reports are kept."""

LONGEST_LINE = 4000
"""Characters of a log line that are kept: a bar that is redrawn for an hour can be one line."""


def diagnosis(name: str, verdict: Verdict, findings: Findings) -> str:
    """Return the text of a diagnosis of the host `name`."""
    when = datetime.fromtimestamp(verdict.now, UTC).isoformat(timespec="seconds")
    head = f"bringup diagnosis of {harmless(name)}, {when}, by {program()}"
    return "\n".join([head, "", *_parts(verdict, findings)])


def save(text: str, folder: Path, name: str, now: float) -> Path:
    """Write a diagnosis into a folder, readable by its owner only, under a name of its own; returns the file.

    Raises BringupError when it cannot be written.
    """
    try:
        return write_new(text, folder, stem("diagnosis", name, now), ".txt")
    except OSError as error:
        what = f"The diagnosis cannot be written to {folder}: {error.strerror or error}."
        raise BringupError(what, "Make room, or the folder writable.") from error


def save_as(text: str, path: Path) -> None:
    """Write a diagnosis where the operator wants it, readable by its owner only; raises BringupError."""
    try:
        write_private(path, text)
    except OSError as error:
        what = f"The diagnosis cannot be written to {path}: {error.strerror or error}."
        raise BringupError(what, "Make room, or give -o another place.") from error


def _parts(verdict: Verdict, findings: Findings) -> Iterator[str]:
    yield from _part("verdict", f"{verdict.state}: {harmless(verdict.summary)}")
    yield from _part("evidence", "\n".join(harmless(line) for line in verdict.evidence) or "none")
    if verdict.cause is not None:
        yield from _part("cause", harmless(f"{verdict.cause.kind}: {verdict.cause.line}\n{verdict.cause.advice}"))
    if verdict.warnings:
        yield from _part("warnings", "\n".join(harmless(f"{each.kind}: {each.detail}") for each in verdict.warnings))
    if verdict.ranks:
        yield from _part("ranks", "\n".join(harmless(_rank(rank)) for rank in verdict.ranks))
    for section in findings.sections:
        yield from _part(harmless(section.title), "\n".join(map(harmless, section.text.splitlines())))
    lines = "\n".join(_cut(harmless(clean(line))) for line in findings.lines)
    number = len(findings.lines)
    title = (
        f"the last {count(number, 'line') if number != 1 else 'line'} of the log" if number else "no line of the log"
    )
    yield from _part(title, lines)
    yield from _part("verdict as JSON", to_json(verdict))


def _cut(line: str) -> str:
    more = len(line) - LONGEST_LINE
    return line if more <= 0 else f"{line[:LONGEST_LINE]}… ({more} characters more)"


def _rank(rank: RankView) -> str:
    told = [
        f"rank {rank.rank}",
        rank.node,
        f"PID {rank.pid}" if rank.pid is not None else "PID unknown",
        f"GPU {rank.gpu}" if rank.gpu is not None else "",
        rank.phase or "no phase",
        f"{rank.progress:.0%} by {rank.source}" if rank.progress is not None else "",
        f"quiet for {rank.quiet_s:.0f} s" if rank.quiet_s is not None else "",
        rank.trouble,
        rank.note,
    ]
    return ", ".join(part for part in told if part)


def _part(title: str, text: str) -> Iterator[str]:
    yield f"== {title}"
    yield text
    yield ""
