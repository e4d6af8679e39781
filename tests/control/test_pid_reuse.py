"""A number that was really used again is never signalled, at whatever point of an action that happens."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sshd

TESTS = Path(sshd.__file__).parent
POINTS = ("TERM", "INT", "KILL", "OWN", "TERM kills", "drain", "hurry", "orphan", "kill")


@pytest.mark.long
@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("unshare"), reason="needs a PID namespace of its own")
def test_a_newcomer_lives(tmp_path: Path) -> None:
    # The shell stays PID 1: a Python program there could be the launcher of what is left behind.
    line = f"{sys.executable} {TESTS / 'pidreuse.py'}; exit $?"
    environ = {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'app'}", "HOME": str(tmp_path)}
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", line]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ, timeout=300)
    if "Operation not permitted" in done.stderr and not done.stdout:
        pytest.skip("PID namespaces are not to be had here")
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert done.returncode == 0, done.stderr
    assert tuple(said) == POINTS
    assert {point: words for point, words in said.items() if not words.startswith("lives")} == {}
    assert "had ended before" in said["orphan"]
