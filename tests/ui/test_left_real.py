"""A real restart over a real sshd, cut while the server is asked to end: the console itself leads to the launch."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from session_watch import watching
from simulated import family, launchers, needs_linux, said, title
from sshd import Sshd
from sshd import real_sshd as real_sshd
from ui.dialogs import ask, body, heard
from ui.screen import MIDDLE, until

from bringup.demo.host import DemoHost
from bringup.demo.scenarios import Scenario, load
from bringup.report.own_rules import load_rules
from bringup.session.session import Session
from bringup.ui.app import BringupApp
from bringup.ui.screens.left import LeftDialog

pytestmark = needs_linux
TRIES = 3000


def serving(demo: DemoHost) -> list[int]:
    """The launchers of the test's servers, wherever they were launched."""
    all_of_us = {pid: title(pid) for pid in family(os.getpid())}
    ours = [pid for pid, words in all_of_us.items() if words.startswith("python3 -m sglang.launch_server ")]
    return [pid for pid in ours if str(demo.home.root) in all_of_us[pid]]


def step(session: Session) -> str:
    """What is done now."""
    return session.state.action.step if session.state.action is not None else ""


def asks(app: BringupApp, words: str) -> bool:
    """Say whether the dialog about what was left is open and has these words."""
    return isinstance(app.screen, LeftDialog) and words in body(app.screen)


def slow_to_end() -> Scenario:
    """A server that takes minutes to end after it was asked to."""
    found = load("healthy")
    return replace(found, plan=replace(found.plan, durations=replace(found.plan.durations, drain=20_000.0)))


async def test_the_dialog_follows_what_the_host_does_and_launches_once(
    real_sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRINGUP_PLACES", str(tmp_path))
    async with DemoHost(slow_to_end(), speed=20) as demo:
        await said(demo, "fired up")
        old = launchers(demo)[0]
        async with watching(demo, real_sshd, load_rules().knowledge) as session:
            app = BringupApp(session, title="box")
            async with app.run_test(size=MIDDLE, notifications=True) as pilot:
                await until(pilot, lambda: session.state.server is not None and bool(session.state.processes), TRIES)
                await ask(app, pilot, "R")
                await pilot.press("y")
                await until(pilot, lambda: "SIGKILL in" in step(session), TRIES)
                real_sshd.cut()
                await until(pilot, lambda: isinstance(app.screen, LeftDialog), TRIES)
                dialog = await heard(app, pilot)
                assert f"the old server still runs (PID {old}" in body(dialog)
                assert not dialog.query("#yes")
                os.kill(old, signal.SIGKILL)
                await until(pilot, lambda: "no server runs" in body(dialog) and bool(dialog.query("#yes")), TRIES)
                assert serving(demo) == []
                await heard(app, pilot)
                await pilot.press("y")
                # The demo's own supervisor stands above the server.
                await until(pilot, lambda: asks(app, "which had started it"), TRIES)
                assert serving(demo) == []
                await heard(app, pilot)
                await pilot.press("y")
                await until(pilot, lambda: len(serving(demo)) == 1, TRIES)
                await until(pilot, lambda: app.screen is app.watch_screen, TRIES)
                await until(pilot, lambda: app.watch_screen.orders.left_over.left is None, TRIES)
                # What another try would need is laid aside until the new server listens.
                assert not [*tmp_path.glob("*/[0-9]*/claim")]
