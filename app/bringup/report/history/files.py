"""Earlier starts for programs: JSON, and CSV with one row a phase."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from bringup.core.redact import mask
from bringup.history.records import StartRow
from bringup.report.history.comparison import Comparison

SCHEMA = 1
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that begins so for a formula; names come from the watched host."""
COLUMNS = (
    *("number", "host", "target", "engine", "version", "model", "draft_model", "tp", "pp", "dp", "ep", "nnodes"),
    *("began", "outcome", "cause", "seconds", "whole", "phase", "role", "part", "phase_began_s", "phase_seconds"),
    *("phase_ended", "ranks_done"),
)


def to_json(starts: Sequence[StartRow]) -> str:
    """Return starts as JSON, oldest first."""
    return told({"schema": SCHEMA, "starts": [_start(start) for start in starts]})


def comparison_to_json(found: Comparison) -> str:
    """Return a comparison as JSON; `factor` is how many times as long the second start took."""
    phases = [
        {
            "phase": phase.key,
            "first_s": _rounded(phase.first),
            "second_s": _rounded(phase.second),
            "usual_s": _rounded(phase.usual),
            "factor": _rounded(phase.factor, 3),
        }
        for phase in found.phases
    ]
    return told(
        {
            "schema": SCHEMA,
            "first": _start(found.first),
            "second": _start(found.second),
            "same_command": found.alike,
            "phases": phases,
            "remarks": list(found.remarks),
        }
    )


def to_csv(starts: Sequence[StartRow]) -> str:
    """Return starts as CSV (RFC 4180), one row a phase; a start without phases has one row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for start in starts:
        whole = _start(start)
        head = [_cell(whole[name]) for name in COLUMNS[: COLUMNS.index("phase")]]
        for phase in whole["phases"] or [{}]:
            names = ("phase", "role", "part", "began_s", "seconds", "ended", "ranks_done")
            writer.writerow([*head, *(_cell(phase.get(name)) for name in names)])
    return text.getvalue()


def _start(start: StartRow) -> dict[str, Any]:
    key = start.key
    return {
        "number": start.number,
        "host": mask(key.host),
        "target": mask(start.target),
        "engine": key.engine,
        "version": start.version or None,
        "model": mask(key.model),
        "draft_model": mask(key.draft) or None,
        "tp": key.tp,
        "pp": key.pp,
        "dp": key.dp,
        "ep": key.ep,
        "nnodes": key.nnodes,
        "began": datetime.fromtimestamp(start.began_at, UTC).isoformat(timespec="seconds"),
        "outcome": start.outcome,
        "cause": start.cause or None,
        "seconds": _rounded(start.seconds),
        "whole": start.whole,
        "phases": [
            {
                "phase": row.phase,
                "role": row.role or None,
                "part": row.part or None,
                "began_s": _rounded(row.began),
                "seconds": _rounded(row.seconds),
                "ended": row.ended,
                "ranks_done": row.ranks,
            }
            for row in start.phases
        ],
    }


def _rounded(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def told(content: dict[str, Any]) -> str:
    """Return a document as JSON that a person can read, too."""
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"
