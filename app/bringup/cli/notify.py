"""The operator's own command for when a start has ended: run on this machine, apart from us, and not waited for."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bringup.cli.own_files import complain
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen

_LONGEST = 500


@dataclass(slots=True)
class Notifier:
    """Runs a command with what happened in its environment."""

    command: str
    target: str
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __call__(self, state: str, summary: str) -> None:
        """Tell a state and its sentence; what cannot be run is complained about."""
        self._running = [process for process in self._running if process.poll() is None]
        told = {
            "BRINGUP_TARGET": clean_text(self.target),
            "BRINGUP_STATE": state,
            "BRINGUP_SUMMARY": mask(clean_text(summary))[:_LONGEST],
        }
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", self.command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **told},
                start_new_session=True,
            )
        except OSError as error:
            complain(f"The command of `notify` cannot be run: {error.strerror or error}.")
        else:
            self._running.append(process)


def notifier_of(chosen: Chosen) -> Notifier | None:
    """Return what runs the target's own command, else the general one; None where there is none."""
    command = chosen.configured.notify if chosen.configured is not None else None
    if command is None and chosen.config is not None:
        command = chosen.config.notify
    return Notifier(command, chosen.target.name) if command else None
