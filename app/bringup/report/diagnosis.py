"""One file for whoever is asked for help: the verdict with its evidence, the answers of the host, the log's end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean
from bringup.core.verdict import Verdict
from bringup.recordings.private import write_private
from bringup.report.contract import to_json
from bringup.report.harmless import harmless
from bringup.report.stems import stem
from bringup.session.console import Findings


def diagnosis(name: str, verdict: Verdict, findings: Findings) -> str:
    """Return the text of a diagnosis of the host `name`."""
    when = datetime.fromtimestamp(verdict.now, UTC).isoformat(timespec="seconds")
    return "\n".join([f"bringup diagnosis of {harmless(name)}, {when}", "", *_parts(verdict, findings)])


def save(text: str, folder: Path, name: str, now: float) -> Path:
    """Write a diagnosis into a folder, readable by its owner only; returns the file.

    Raises BringupError when it cannot be written.
    """
    path = folder / f"{stem('diagnosis', name, now)}.txt"
    try:
        write_private(path, text)
    except OSError as error:
        raise BringupError(
            f"The diagnosis cannot be written to {path}: {error.strerror}.", "Make room, or the folder writable."
        ) from error
    return path


def _parts(verdict: Verdict, findings: Findings) -> Iterator[str]:
    yield from _part("verdict", f"{verdict.state}: {harmless(verdict.summary)}")
    yield from _part("evidence", "\n".join(harmless(line) for line in verdict.evidence))
    if verdict.cause is not None:
        yield from _part("cause", harmless(f"{verdict.cause.kind}: {verdict.cause.line}\n{verdict.cause.advice}"))
    for section in findings.sections:
        yield from _part(harmless(section.title), "\n".join(map(harmless, section.text.splitlines())))
    lines = "\n".join(harmless(clean(line)) for line in findings.lines)
    yield from _part(f"the last {len(findings.lines)} lines of the log", lines)
    yield from _part("verdict as JSON", to_json(verdict))


def _part(title: str, text: str) -> Iterator[str]:
    yield f"== {title}"
    yield text
    yield ""
