"""Property tests explore anew on a developer's machine, and try the same examples each time in CI."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from faulttable import pytest_terminal_summary as pytest_terminal_summary
from hypothesis import settings

# Nothing that a test lets happen lands among the history, the recordings and the crash reports of whoever runs it.
os.environ.setdefault("BRINGUP_DATA_DIR", tempfile.mkdtemp(prefix="bringup-tests-"))
# Nor does a test see actions of another worker's tests, or of a console that is really used here.
ACTIONS = tempfile.mkdtemp(prefix="bringup-tests-")
os.environ.setdefault("BRINGUP_PLACES", ACTIONS)
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI") == "true":
    settings.load_profile("ci")

LONG = (
    "control/test_cut.py",
    "control/test_gpu_memory.py",
    "control/test_left_to_another.py",
    "control/test_actions.py",
    "control/test_kept_secrets.py",
    "control/test_restart_ways.py",
    "cli/test_two_nodes",
    "cli/test_launching.py",
    "cli/test_acting.py",
    "cli/test_stop_of_several.py",
    "cli/test_left_over.py",
    "demo",
    "faults",
    "hosts/test_environment.py",
    "hosts/test_nasty_names.py",
    "report/test_html_browser.py",
    "session/test_demo_host.py",
    "session/test_fleet.py",
    "session/test_history_watch.py",
    "session/test_real_hangs.py",
    "session/test_real_sshd.py",
    "session/test_recorder.py",
    "session/test_ways.py",
    "ui/test_driving.py",
    "ui/test_left_real.py",
    "ui/test_kinds_of_terminals.py",
)
"""Files and folders whose tests start whole servers or cut connections, and wait for them: `pytest -m long`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that take long, so that the everyday run can leave them to `.ci/run`."""
    places = tuple(str(Path(__file__).parent / name) for name in LONG)
    for item in items:
        if str(item.path).startswith(places):
            item.add_marker("long")


def pytest_unconfigure() -> None:
    """Remove what actions kept that no test has ended: then no process waits for its time to be up."""
    shutil.rmtree(ACTIONS, ignore_errors=True)
