"""Property tests explore anew on a developer's machine, and try the same examples each time in CI."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from adopted import bury
from faulttable import pytest_terminal_summary as pytest_terminal_summary
from hypothesis import HealthCheck, settings

# Nothing that a test lets happen lands among the history, the recordings and the crash reports of whoever runs it.
os.environ.setdefault("BRINGUP_DATA_DIR", tempfile.mkdtemp(prefix="bringup-tests-"))
# Nor does a test see actions of another worker's tests, or of a console that is really used here.
ACTIONS = tempfile.mkdtemp(prefix="bringup-tests-")
os.environ["BRINGUP_PLACES"] = ACTIONS
# How long an example takes is the machine's affair, and says nothing of what it shows.
settings.register_profile("own", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("own"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "own")


def hear(*_: object) -> None:
    """Go on."""


# A shell that starts the tests in the background, or nohup, lets them ignore what their own servers must hear.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, hear)

LONG = (
    "control/test_cut",
    "cli/test_cut_console.py",
    "control/test_gpu_memory.py",
    "control/test_orphans_serving.py",
    "control/test_left_to_another.py",
    "control/test_actions.py",
    "control/test_kept_secrets.py",
    "control/test_launch_ways.py",
    "control/test_launch_races.py",
    "control/test_restart_ways.py",
    "control/test_own_launch.py",
    "control/test_own_ways.py",
    "control/test_stop_ways.py",
    "control/test_gathered_logs.py",
    "control/test_own_lives.py",
    "control/test_kept_command.py",
    "control/test_ports.py",
    "control/test_shared_memory.py",
    "control/test_late_failures.py",
    "cli/test_two_nodes",
    "cli/test_launching.py",
    "cli/test_acting.py",
    "cli/test_stop_of_several.py",
    "cli/test_left_over.py",
    "cli/test_status.py",
    "cli/test_terminal_commands.py",
    "cli/test_trust.py",
    "cli/test_wait.py",
    "demo",
    "faults",
    "hosts/test_environment.py",
    "hosts/test_nasty_names.py",
    "hosts/test_probe_ends.py",
    "report/test_html_browser.py",
    "session/test_demo_host.py",
    "session/test_fleet.py",
    "session/test_history_watch.py",
    "session/test_real_hangs.py",
    "session/test_real_sshd.py",
    "session/test_recorder.py",
    "session/test_refused.py",
    "session/test_ways.py",
    "ui/test_driving.py",
    "ui/test_left_real.py",
    "ui/test_kinds_of_terminals.py",
)
"""Files and folders whose tests start whole servers or cut connections, and wait for them: `pytest -m long`."""

BY_HAND = (
    "test_cut_console.py::test_it_is_gone_on_with[Keeping command]",
    "test_cut_console.py::test_it_is_gone_on_with[SIGKILL goes]",
    "test_cut_console.py::test_it_is_gone_on_with[SIGTERM sent]",
    "test_cut_console.py::test_it_is_given_up[Keeping command]",
    "test_cut_console.py::test_it_is_given_up[SIGTERM sent]",
    "test_cut_console.py::test_it_is_given_up[SIGKILL goes]",
    "test_cut_launchers.py::test_after_every_command[late]",
    "test_cut_launchers.py::test_after_every_command[deaf]",
    "test_cut_launchers.py::test_in_the_middle_of_the_scripts[loop]",
    "test_cut_launchers.py::test_in_the_middle_of_the_scripts_of_a_real_connection[edited]",
    "test_record.py::test_a_start_that_is_waited_for_is_kept_without_being_asked[1]",
    "test_trust.py::test_no_locale_breaks_an_output[{'LANG': 'POSIX'",
    "test_trust.py::test_no_locale_breaks_an_output[{'PYTHONIOENCODING': 'latin-1'}]",
    "test_cut_launchers.py::test_in_the_middle_of_the_scripts[configured]",
    "test_cut_launchers.py::test_in_the_middle_of_the_scripts[deaf]",
    "test_cut_launchers.py::test_in_the_middle_of_the_scripts[edited]",
    "test_cut_launchers.py::test_in_the_middle_of_the_scripts[late]",
    "test_watched_restart.py::test_one_after_the_other[rotated]",
    "test_watched_restart.py::test_one_that_is_ready_before_it_is_found[dated-",
    "test_watched_restart.py::test_one_that_is_ready_before_it_is_found[undated-rotated]",
    "test_watched_restart.py::test_the_old_verdict_is_never_shown_for_the_new_one[rotated]",
    "test_watched_restart.py::test_one_that_was_left_in_the_middle_and_gone_on_with[rotated]",
    "test_watched_restart.py::test_somebody_else_who_watches_it[rotated]",
)
"""Variants of long tests for which `.ci/run` has no time; so are those on this machine of what is shown over SSH."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that take long, so that the everyday run can leave them to `.ci/run`, or to `pytest -m long`."""
    places = tuple(str(Path(__file__).parent / name) for name in LONG)
    for item in items:
        if str(item.path).startswith(places):
            item.add_marker("long")
        if item.get_closest_marker("long") is not None and (
            _is_twin(item) or any(name in item.nodeid for name in BY_HAND)
        ):
            item.add_marker("by_hand")


def _is_twin(item: pytest.Item) -> bool:
    """Say whether a test is run on this machine, and over SSH as well."""
    spec = getattr(item, "callspec", None)
    return spec is not None and spec.params.get("host") == "local"


@pytest.fixture(autouse=True)
def no_action_outlives_its_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove what a test's own actions kept, before its environment is undone: then no process waits for its hour.

    What has ended without being waited for goes, too.
    """
    yield
    for place in os.environ.get("BRINGUP_PLACES", ACTIONS).split(":"):
        shutil.rmtree(Path(place, f"bringup-{os.getuid()}"), ignore_errors=True)
    bury()


def pytest_unconfigure() -> None:
    """Remove what actions kept that no test has ended: then no process waits for its time to be up."""
    shutil.rmtree(ACTIONS, ignore_errors=True)
