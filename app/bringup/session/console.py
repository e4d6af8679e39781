"""What a screen may ask of a session: the only surface between `ui` and everything below it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, runtime_checkable

from bringup.core.events import Process, Server
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.core.words import duration
from bringup.hosts.ask import Question as Question
from bringup.hosts.control import Hurry as Hurry
from bringup.hosts.control import LaunchCommand
from bringup.hosts.control import LeftToAnother as LeftToAnother
from bringup.hosts.control import Orphan as Orphan
from bringup.hosts.control import Started as Started
from bringup.hosts.control import Unfinished as Unfinished
from bringup.hosts.control.editing import unmask as unmask
from bringup.hosts.control.own_command import GRACE, with_drain
from bringup.hosts.diagnose import Section as Section


async def _nothing(_: Sequence[str]) -> str:
    return ""


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
    """How it can be stopped, the right way for its launcher first; "OWN" is `stop_command`, "GENTLE" is SIGTERM and
    then `patience` seconds, after which nothing is killed."""
    stop_command: str = ""
    start_command: str = ""
    """The launcher's own command, where a restart uses it instead of repeating the launch."""
    log_fate: str = ""
    """What becomes of the old log at a restart, as a sentence."""
    argv: tuple[str, ...] = ()
    """The command line for an editor, secrets masked; () where a restart would not use an edited one."""
    fixed: str = ""
    """Why it would not, and where the command is edited instead, in a sentence; "" where it would."""
    drain: float = 10.0
    """Seconds between the polite request and SIGKILL."""
    patience: float = 300.0
    """Seconds that the gentle way waits."""
    hurry: Hurry = field(default_factory=Hurry, compare=False)
    """While the plan is carried out: its `now` has what is left killed at once."""
    regardless: bool = False
    """A restart launches the server although what had started it still runs and may start it again."""
    unasked: str = ""
    """Why nobody can tell what holds GPU memory there, as the rest of a sentence; "" where it can be checked."""
    waits_for_gpus: bool = True
    """GPU memory is waited for; False where there are no GPUs, or nobody can tell."""
    refuses: Callable[[Sequence[str]], Awaitable[str]] = field(default=_nothing, compare=False, repr=False)
    """Asks the host why a restart with this edited command (masked as `argv`) would be refused before anything is done,
    as a sentence; "" where nothing is known against it."""
    launched_by: str = ""
    """How the server was launched, as a sentence; `server.launcher.sentence` says what that means for a stop."""
    launch: LaunchCommand | None = None
    """The configured command by which a restart launches it; None where it repeats the launch, or its launcher does."""
    unused: str = ""
    """Why the target's own commands are not used on this server, as a sentence; "" where they are, or it has none."""

    @property
    def waits(self) -> str:
        """What is waited for once the processes have ended, as a part of a sentence; "" for nothing."""
        port = f"port {self.server.port}" if self.server.port is not None else ""
        waited = [part for part in ("GPU memory" if self.waits_for_gpus else "", port) if part]
        return f"its {' and '.join(waited)} {'is' if len(waited) == 1 else 'are'} waited for" if waited else ""

    def kills(self, way: str) -> str:
        """Return as a part of a sentence when what is left after a request is killed; "" for the way that is none."""
        if way in ("GENTLE", "KILL"):
            return "nothing is killed" if way == "GENTLE" else ""
        drain = duration(self.drain)
        if way != "OWN":
            return f"what is left after {drain} is killed"
        # A drain follows a command that has ended, and none follows one that took all of its time.
        longest = duration(self.drain + GRACE)
        return f"the command is given up after {longest}; what is left then, or {drain} after its end, is killed"

    def returns(self, way: str) -> str:
        """Return in a sentence who starts the server again after a stop this way, or may; "" for nobody."""
        launcher, configured = self.server.launcher, self.server.launcher.parent is not None
        if (way == "OWN" and not configured) or launcher.respawns is False or not launcher.kind:
            return ""
        after = "a signal" if way != "OWN" else "the configured command, too"
        does = f"starts it again after {after}" if launcher.respawns else f"may start it again after {after}"
        own = ": its own command keeps it down." if self.stop_command and not configured else "."
        who = launcher.words[0].upper() + launcher.words[1:]
        if launcher.respawns is None and launcher.above:
            who = f"What stands above it (PID {launcher.above[0][0]})"
        return f"{who} {does}{own}"

    def waiting(self, drain: float) -> StopPlan:
        """Return the plan with another drain (seconds), in its stop command, too."""
        return replace(self, drain=drain, stop_command=with_drain(self.server.launcher.stop, drain))


@dataclass(frozen=True, slots=True)
class Kept:
    """The command of a restart that was left in the middle, as its host has kept it, to be edited."""

    plan: StopPlan
    """Its `argv` is the command that ran, that of its `server` what would be launched now."""
    argv: tuple[str, ...]
    """The latter, secrets masked."""


Recorded = Literal["", "by-itself", "asked"]
"""Whether what is seen is recorded now: not at all, as every start is, or because the operator asked for it."""


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

    @property
    def why_read_only(self) -> str:
        """Why they are, and how that is changed, in sentences; "" where they are not."""
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

    async def plan(self, left: Unfinished | None = None) -> StopPlan:
        """Look again at the server's tree, or at what still runs of one that was `left` in the middle.

        Raises BringupError when there is no server.
        """
        ...

    async def stop(self, plan: StopPlan, signal: str = "") -> None:
        """Stop the server one of the plan's ways ("" the first of them), kill what is left, wait for GPUs and port.

        Raises BringupError with what remains.
        """
        ...

    async def restart(self, plan: StopPlan, argv: Sequence[str] | None = None) -> None:
        """Stop the server and launch it again; `argv` is another command line, secrets masked as in the plan's.

        Raises BringupError, with the last words of a server that ended at once.
        """
        ...

    async def orphans(self) -> tuple[Orphan, ...]:
        """Look for workers that live on without their launcher; `why_not` says which of them are not to be cleared."""
        ...

    async def clear(self, chosen: Sequence[Orphan]) -> None:
        """End the chosen orphans; raises BringupError when one of them is left."""
        ...

    async def unfinished(self) -> Unfinished | None:
        """Look for what a lost connection left in the middle."""
        ...

    async def kept(self, left: Unfinished) -> Kept | None:
        """Return the command that can be edited before that is gone on with; None where an edited one would not run."""
        ...

    async def resume(self, left: Unfinished, plan: StopPlan | None = None, argv: Sequence[str] | None = None) -> None:
        """Launch what a restart that was cut off had kept, with `argv` as another command than that of its plan.

        Raises BringupError, with the last words of a server that ended at once.
        """
        ...

    async def discard(self, left: Unfinished) -> None:
        """Forget an action that was cut off, with all that was kept of it."""
        ...

    async def diagnose(self) -> Findings:
        """Ask the host for stacks, wait channels, memory and the kernel log; touches nothing."""
        ...

    def choose(self, server: Server) -> None:
        """Watch another of the servers that discovery found."""
        ...

    @property
    def recorded(self) -> Recorded:
        """Whether what is seen is recorded now."""
        ...

    async def record(self) -> str:
        """Begin to record what is seen, or end it; return in a sentence where it is. Raises BringupError."""
        ...


@runtime_checkable
class Several(Protocol):
    """A console over several hosts: what else a screen may ask of it."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The hosts as the operator named them, the head node first."""
        ...

    @property
    def sessions(self) -> tuple[tuple[str, Console], ...]:
        """Each of them with its own session: what was begun on one goes on there, whichever is shown."""
        ...

    @property
    def node(self) -> str:
        """The host whose log and GPUs are shown."""
        ...

    def show(self, node: str) -> None:
        """Show another one: `take_lines` begins anew with its oldest lines."""
        ...
