"""Earlier starts for tests: the usual one of a target and its draft on 8 ranks, faster or slower in single phases."""

from __future__ import annotations

from typing import Any

from bringup.history.records import PhaseRow, StartKey, StartRow

KEY = StartKey(host="node-7", engine="sglang", model="/models/big-moe", draft="/models/big-moe-draft", tp=8)
DAY = 1_772_442_000.0
"""2026-03-02 09:00 UTC."""
USUAL: tuple[tuple[str, str, str, float], ...] = (
    ("launch", "", "", 40.0),
    ("distributed", "", "", 6.0),
    ("weights", "target", "", 90.0),
    ("kv-cache", "target", "", 1.0),
    ("graphs", "target", "decode", 30.0),
    ("weights", "draft", "", 10.0),
    ("graphs", "draft", "verify", 8.0),
    ("warmup", "", "", 5.0),
)
GAP = 1.0
"""Seconds between two phases."""


def phases(until: int | None = None, **times: float) -> tuple[PhaseRow, ...]:
    """Return the phases one after the other; `weights=4` makes the weights take four times as long.

    With `until` only so many are over, and the next one runs.
    """
    rows, at = [], 0.0
    for place, (phase, role, part, seconds) in enumerate(USUAL):
        if until is not None and place > until:
            break
        took = seconds * times.get(phase, 1.0)
        ranks = 0 if phase in ("launch", "warmup") else 8
        rows.append(PhaseRow(phase, role, part, at, took, until is None or place < until, ranks))
        at += took + GAP
    return tuple(rows)


def start(number: int = 1, until: int | None = None, times: dict[str, float] | None = None, **more: Any) -> StartRow:
    """Return the start of a day, ready unless something else is said."""
    rows = phases(until, **(times or {}))
    values: dict[str, Any] = {
        "key": KEY,
        "target": "gpu-a",
        "identity": f"{4000 + number}:{number}",
        "began_at": DAY + number * 86400,
        "outcome": "ready",
        "seconds": rows[-1].began + rows[-1].seconds,
        "version": "0.5.9",
        "phases": rows,
        "number": number,
        **more,
    }
    return StartRow(**values)
