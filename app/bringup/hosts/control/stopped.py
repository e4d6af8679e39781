"""What came of a stop."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Process
from bringup.core.words import names
from bringup.hosts.control.steps import count

_LONGEST = 60
_MOST = 4
_MOST_HOLDERS = 8
_ALL_OF = {1: "it", 2: "both"}
_STATES = {
    "D": "waiting for a device (D)",
    "T": "stopped (T)",
    "t": "stopped by a debugger (t)",
    "Z": "ended, but not yet collected by its parent (Z)",
}
"""States of a process that explain why it does not end, by the letters of proc_pid_stat(5)."""


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
    """What stood above the server and still runs, nearest first: it has started the server again, or may do so; ()
    where only its kind is known."""
    unseen: str = ""
    """Why what remains is what ran when it was last seen, as a sentence; "" where it was seen at last."""
    notes: tuple[str, ...] = ()
    """What is to be said of the launcher's own command, each as a part of a sentence."""
    spared: bool = False
    """What remains was asked to end and is left to run: nothing was to be killed."""
    left_alone: tuple[str, ...] = ()
    """What was chosen and must not be ended any more, each as a part of a sentence that says why."""
    before: tuple[int, ...] = ()
    """PIDs that were chosen and had ended by then."""
    took: float = 0.0
    """Seconds until they had ended, without those in which GPUs, port and a new start were waited for."""

    @property
    def complete(self) -> bool:
        """Nothing is left that would disturb a new launch, as far as could be checked."""
        return not (self.remains or self.gpu_holders or self.port_user or self.again or self.left_alone)

    @property
    def sentence(self) -> str:
        """What came of it, in words."""
        parts = [f"{count(self.ended) if self.ended else 'No process'} ended in {self.took:.1f} s"]
        if self.before:
            parts.append(f"PID {names([str(pid) for pid in self.before], _MOST_HOLDERS)} had ended before")
        parts += (*self.left_alone, *self.notes)
        if self.killed:
            parts.append(f"{self._those_killed} had to be killed")
        if self.remains:
            left = names([named(each) for each in self.remains], _MOST)
            kept = ", and nothing was killed" if self.spared else ""
            more = " more" if self.ended else ""
            would = f"ran when last seen ({self.unseen.rstrip('.')})" if self.unseen else "would not end"
            parts.append(f"{len(self.remains)}{more} {would}: {left}{kept}")
        if self.gpu_holders:
            pids = names([str(pid) for pid in self.gpu_holders], _MOST_HOLDERS)
            parts.append(f"the GPU driver still lists the memory of PID {pids}")
        if self.unasked:
            parts.append(self.unchecked)
        if self.port_user:
            parts.append(f"port {self.port} is still listened on by a process of {self.port_user}")
        if self.again:
            parts.append(f"it was started again as PID {self.again.pid} by what stands above it{self._end_first}")
        if self.starters and not self.again:
            parts.append(self.may_come_back)
        return "; ".join(parts) + "."

    @property
    def _those_killed(self) -> str:
        """Who had to be killed, of those that ended."""
        if len(self.killed) < len(self.ended):
            return f"{len(self.killed)} of them"
        return _ALL_OF.get(len(self.killed), f"all {len(self.killed)}")

    @property
    def unchecked(self) -> str:
        """That the GPU memory was not checked, and why, as a part of a sentence; "" where it was."""
        return f"whether its GPU memory is free was not checked, because {self.unasked}" if self.unasked else ""

    @property
    def _end_first(self) -> str:
        """What is to be ended before the server, so that it stays down; "" where nobody knows."""
        if not self.starters:
            return ""
        nearest, *others = self.starters
        above = f", and above that PID {names([str(each.pid) for each in others], _MOST_HOLDERS)}" if others else ""
        return f": end PID {nearest.pid} ({_shown(nearest)}) first{above}, then stop the server again"

    @property
    def may_come_back(self) -> str:
        """Who may start the server again, as a part of a sentence; "" where nobody is known who would."""
        if not self.starters:
            return ""
        nearest, *others = self.starters
        who = f"PID {nearest.pid} ({_shown(nearest)})"
        if not others:
            return f"{who}, which had started it, still runs: it may start it again"
        pids = names([str(each.pid) for each in others])
        return f"{who}, which had started it, and what stands above (PID {pids}) still run: they may start it again"


def named(process: Process) -> str:
    """A process that is left, with its state where that explains why."""
    state = _STATES.get(process.state)
    return f"{process.comm} (PID {process.pid}, {process.user}{f', {state}' if state else ''})"


def _shown(process: Process) -> str:
    """A command line, cut to what fits into a sentence."""
    title = process.title or process.comm
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
