"""What is loaded before an answer or a first frame: an operator waits for all of it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from terminal import Terminal

APP = Path(__file__).parents[2] / "app"
LOADED = """
import sys
sys.path.insert(0, {app!r})
from bringup.cli import run
run({argv!r})
print(*sorted(sys.modules), file=sys.stderr)
"""
AT_FIRST_FRAME = """
import sys
from pathlib import Path
sys.path.insert(0, {app!r})
from textual.app import App
from bringup.ui.screens.opening import OpeningScreen
from bringup.ui.app import BringupApp
async def load(self):
    assert isinstance(self.screen, OpeningScreen), self.screen
    Path({file!r} + ".part").write_text(" ".join(sys.modules))
    Path({file!r} + ".part").rename({file!r})
    self.exit(return_code=7)
BringupApp._load = load
from bringup.cli import run
run(["watch", "nobody@192.0.2.1"])
"""


@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["watch", "--help"], ["demo", "--help"]])
def test_help_and_version_load_neither_textual_nor_ssh(argv: list[str]) -> None:
    program = LOADED.format(app=str(APP), argv=argv)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    loaded = done.stderr.split()
    assert done.stdout.strip()
    assert "bringup.cli" in loaded
    assert not {"textual", "asyncssh", "msgspec", "bringup.core.state"} & set(loaded)


def test_the_first_frame_loads_nothing_but_what_it_shows(tmp_path: Path) -> None:
    file = tmp_path / "modules"
    program = AT_FIRST_FRAME.format(app=str(APP), file=str(file))
    with Terminal([sys.executable, "-c", program]) as terminal:
        terminal.wait_for(b"Connecting to nobody@192.0.2.1.", timeout=60)
        until = time.monotonic() + 60
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.02)
    loaded = set(file.read_text().split())
    assert "textual.app" in loaded
    late = {
        "asyncssh",
        "cyclopts",
        "h11",
        "msgspec",
        "bringup.core.events",
        "bringup.core.state",
        "bringup.core.verdict",
        "bringup.hosts.ssh",
        "bringup.session.session",
        "bringup.ui.board",
        "bringup.ui.screens.watch",
    }
    assert not late & loaded
