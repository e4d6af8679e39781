"""What is kept of a defect: its traceback and what ran, secrets masked, in a file of the operator's data folder."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bringup.core.redact import mask, mask_argv
from bringup.core.sanitize import clean_text

_PACKAGES = ("textual", "rich", "asyncssh", "cyclopts", "msgspec")
_LONGEST = 1 << 18
"""Letters of a traceback that are kept: a recursion repeats itself, and an exception can hold a whole log."""


def keep(error: BaseException, folder: Path) -> Path:
    """Write the report of a defect into the data folder, readable by its owner only; returns the file.

    Raises OSError where it cannot be written.
    """
    from bringup.recordings.private import write_private

    now = datetime.now(UTC)
    path = folder / f"crash-{now:%Y%m%d-%H%M%S}-{os.getpid()}.txt"
    write_private(path, "".join(f"{line}\n" for line in (*_about(now), "", *told(error))))
    return path


def told(error: BaseException) -> list[str]:
    """Return the traceback of what led to a defect, as lines that a terminal only prints, with secrets masked."""
    text = "".join(traceback.format_exception(error.__cause__ or error))
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n... {len(text) - _LONGEST} letters left out ...\n{text[-_LONGEST // 2 :]}"
    return [mask(clean_text(line)) for line in mask(text).splitlines()]


def _about(now: datetime) -> Iterator[str]:
    yield "bringup failed; this is what to send with a report. Secrets that were known by their shape are masked."
    yield f"when: {now.isoformat(timespec='seconds')}"
    yield f"command: {clean_text(' '.join(mask_argv([Path(sys.argv[0]).name, *sys.argv[1:]])))}"
    yield f"runs on: Python {sys.version.split()[0]}, {' '.join(os.uname()[i] for i in (0, 2, 4))}"
    yield f"packages: {', '.join(_versions())}"
    encodings = [getattr(stream, "encoding", None) for stream in (sys.stdin, sys.stdout, sys.stderr)]
    term = clean_text(os.environ.get("TERM", "none"))[:40]
    yield f"terminal: {term}, encodings {encodings[0]}, {encodings[1]}, {encodings[2]}"


def _versions() -> Iterator[str]:
    from bringup.report.maker import program, version_of

    yield program()
    for package in _PACKAGES:
        yield f"{package} {version_of(package) or 'unknown'}"
