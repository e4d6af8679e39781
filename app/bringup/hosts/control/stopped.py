"""What came of a stop."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Process
from bringup.hosts.control.steps import count

_LONGEST = 60
_MOST = 4


@dataclass(frozen=True, slots=True)
class Stopped:
    """What ended, what had to be killed, and what stands against a new launch."""

    ended: tuple[Process, ...] = ()
    killed: tuple[Process, ...] = ()
    """Those of them that did not end by themselves."""
    remains: tuple[Process, ...] = ()
    """Still running, although they were sent SIGKILL: another user's, or waiting for a device."""
    gpu_holders: tuple[int, ...] = ()
    """PIDs that ended and whose GPU memory the driver had not taken back after a minute."""
    unasked: str = ""
    """Why nobody could tell whether their GPU memory is back, as the rest of a sentence; "" where it was checked, or
    where there are no GPUs."""
    port: int | None = None
    port_user: str = ""
    """Who still listens on the port; "" where nobody does."""
    again: Process | None = None
    """The server was started again by what stands above it."""
    supervised: bool = False
    """It was not, but what would do that still runs."""
    starters: tuple[Process, ...] = ()
    """What stood above the server and still runs, nearest first: it may start the server again; () where only its kind
    is known."""
    spared: bool = False
    """What remains was asked to end and is left to run: nothing was to be killed."""
    took: float = 0.0
    """Seconds."""

    @property
    def complete(self) -> bool:
        """Nothing is left that would disturb a new launch, as far as could be checked."""
        return not (self.remains or self.gpu_holders or self.port_user or self.again)

    @property
    def sentence(self) -> str:
        """What came of it, in words."""
        parts = [f"{count(self.ended)} ended in {self.took:.1f} s"]
        if self.killed:
            parts.append(f"{len(self.killed)} of them had to be killed")
        if self.remains:
            names = ", ".join(f"{each.comm} (PID {each.pid}, {each.user}, {each.state})" for each in self.remains[:4])
            kept = ", and nothing was killed" if self.spared else ""
            parts.append(f"{len(self.remains)} would not end: {names}{kept}")
        if self.gpu_holders:
            pids = ", ".join(str(pid) for pid in self.gpu_holders[:8])
            parts.append(f"the GPU driver still lists the memory of PID {pids}")
        if self.unasked:
            parts.append(self.unchecked)
        if self.port_user:
            parts.append(f"port {self.port} is still listened on by a process of {self.port_user}")
        if self.again:
            parts.append(f"it was started again as PID {self.again.pid} by what stands above it")
        if self.starters and not self.again:
            parts.append(self.may_come_back)
        return "; ".join(parts) + "."

    @property
    def unchecked(self) -> str:
        """That the GPU memory was not checked, and why, as a part of a sentence; "" where it was."""
        return f"whether its GPU memory is free was not checked, because {self.unasked}" if self.unasked else ""

    @property
    def may_come_back(self) -> str:
        """Who may start the server again, as a part of a sentence; "" where nobody is known who would."""
        if not self.starters:
            return ""
        nearest, *others = self.starters
        who = f"PID {nearest.pid} ({_shown(nearest)})"
        if not others:
            return f"{who}, which had started it, still runs: it may start it again"
        pids = ", ".join(str(each.pid) for each in others[:_MOST])
        return f"{who}, which had started it, and what stands above (PID {pids}) still run: they may start it again"


def _shown(process: Process) -> str:
    """A command line, cut to what fits into a sentence."""
    title = process.title or process.comm
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
