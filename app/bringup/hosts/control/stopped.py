"""What came of a stop."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Process
from bringup.hosts.control.steps import count


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
    port: int | None = None
    port_user: str = ""
    """Who still listens on the port; "" where nobody does."""
    again: Process | None = None
    """The server was started again by what stands above it."""
    supervised: bool = False
    """It was not, but what would do that still runs."""
    took: float = 0.0
    """Seconds."""

    @property
    def complete(self) -> bool:
        """Nothing is left that would disturb a new launch."""
        return not (self.remains or self.gpu_holders or self.port_user or self.again)

    @property
    def sentence(self) -> str:
        """What came of it, in words."""
        parts = [f"{count(self.ended)} ended in {self.took:.1f} s"]
        if self.killed:
            parts.append(f"{len(self.killed)} of them had to be killed")
        if self.remains:
            names = ", ".join(f"{each.comm} (PID {each.pid}, {each.user}, {each.state})" for each in self.remains[:4])
            parts.append(f"{len(self.remains)} would not end: {names}")
        if self.gpu_holders:
            pids = ", ".join(str(pid) for pid in self.gpu_holders[:8])
            parts.append(f"the GPU driver still lists the memory of PID {pids}")
        if self.port_user:
            parts.append(f"port {self.port} is still listened on by a process of {self.port_user}")
        if self.again:
            parts.append(f"it was started again as PID {self.again.pid} by what stands above it")
        return "; ".join(parts) + "."
