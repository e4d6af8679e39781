"""What a screen may ask of a session: the only surface between `ui` and everything below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bringup.core.events import Process, Server
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.hosts.ask import Question as Question
from bringup.hosts.diagnose import Section


@dataclass(frozen=True, slots=True)
class StopPlan:
    """What a stop or restart would touch, to be shown and confirmed before anything is done.

    `members` are proven to belong to the server (in its tree, same start time); `bystanders` share its process group
    without belonging to it and are left alone.
    """

    node: str
    server: Server
    command: str
    """The command line, secrets masked, quoted so that it can be pasted into a shell."""
    members: tuple[Process, ...]
    bystanders: tuple[Process, ...] = ()
    log: str = ""
    """Where a restarted server will write."""
    restartable: str = ""
    """Empty when a restart can repeat the launch; else the sentence why it cannot."""
    swept: tuple[Process, ...] = ()
    """Not the server's, but in its unit or container: its launcher's own stop command ("OWN") ends them too."""
    ways: tuple[str, ...] = ("TERM", "INT", "KILL")
    """How it can be stopped, the right way for its launcher first; "OWN" is `stop_command`."""
    stop_command: str = ""
    start_command: str = ""
    """The launcher's own command, where a restart uses it instead of repeating the launch."""
    log_fate: str = ""
    """What becomes of the old log at a restart, as a sentence."""
    argv: tuple[str, ...] = ()
    """The command line for an editor, secrets masked; () where a restart would not use an edited one."""
    launched_by: str = ""
    """How the server was launched, as a sentence; `server.launcher.sentence` says what that means for a stop."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a diagnosis found: the answers of the host, and the newest lines of the log."""

    sections: tuple[Section, ...]
    lines: tuple[bytes, ...]


class Console(Protocol):
    """A session as the screen sees it. All of it is called on the event loop."""

    @property
    def rev(self) -> int:
        """Grows with every change of state or log; the screen redraws when it moved."""
        ...

    @property
    def state(self) -> State:
        """The newest state."""
        ...

    @property
    def read_only(self) -> bool:
        """Actions on the server are turned off."""
        ...

    def now(self) -> float:
        """Seconds since the epoch on the watched host's clock, as well as it is known."""
        ...

    def verdict(self) -> Verdict:
        """Judge the state now."""
        ...

    def take_lines(self) -> list[bytes]:
        """Return the log lines since the last call: redrawn bars folded to one line, secrets masked, not sanitised."""
        ...

    def open_line(self) -> bytes:
        """Return the unterminated tail of the log: the bar that is being drawn, or b""."""
        ...

    async def plan(self) -> StopPlan:
        """Look again at the server's tree; raises BringupError when there is none."""
        ...

    async def stop(self, plan: StopPlan, signal: str = "TERM") -> None:
        """Stop the server: signal the launcher ("TERM", "INT", "KILL"), wait, kill what is left, wait for the GPUs."""
        ...

    async def restart(self, plan: StopPlan) -> None:
        """Stop the server and launch it again with the same argv, directory, environment and log."""
        ...

    async def diagnose(self) -> Findings:
        """Ask the host for stacks, wait channels, memory and the kernel log; touches nothing."""
        ...

    def choose(self, server: Server) -> None:
        """Watch another of the servers that discovery found."""
        ...
