"""Puts stand-ins for the clients of runtimes on PATH, and writes the log that they show."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakehost import make_program

STANDIN = Path(__file__).with_name("runtime_standin.py")
PROGRAMS = ("docker", "kubectl", "journalctl", "systemctl", "scontrol", "srun")


@dataclass
class Runtime:
    """What the stand-ins know."""

    folder: Path

    @property
    def path(self) -> str:
        """A PATH on which they come first."""
        return f"{self.folder / 'bin'}:{os.environ['PATH']}"

    def say(self, *lines: str, at: int | None = None) -> None:
        """Let the container print lines."""
        with (self.folder / "log").open("a") as file:
            for line in lines:
                file.write(f"{time.time_ns() if at is None else at} {line}\n")

    def tell(self, name: str, text: str = "") -> None:
        """Let the stand-ins know something."""
        # At once: a stand-in that looks at this moment reads the one or the other.
        (self.folder / f"{name}.new").write_text(text)
        (self.folder / f"{name}.new").rename(self.folder / name)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """The stand-ins, on the PATH of this machine as a host."""
    folder = tmp_path / "runtime"
    for name in PROGRAMS:
        make_program(folder / "bin", name, f'exec {sys.executable} -S -E {STANDIN} {folder} {name} "$@"\n')
    made = Runtime(folder)
    (folder / "log").touch()
    made.tell("mainpid", "0")
    monkeypatch.setenv("PATH", made.path)
    return made
