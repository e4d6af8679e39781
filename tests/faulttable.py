"""The table of the fault suite: the longest time to notice each fault and to recover from it, printed at the end."""

from __future__ import annotations

import pytest

PROPERTY = "fault"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table where faults were tried."""
    rows = [
        value
        for report in terminalreporter.getreports("passed")
        for name, value in getattr(report, "user_properties", ())
        if name == PROPERTY and report.when == "call"
    ]
    if not rows:
        return
    terminalreporter.section("faults: longest times in seconds")
    terminalreporter.write_line(f"{'fault':32} {'moments':>7} {'noticed':>8} {'recovered':>9}")
    for what, count, noticed, recovered in rows:
        terminalreporter.write_line(f"{what:32} {count:7} {_seconds(noticed):>8} {_seconds(recovered):>9}")


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
