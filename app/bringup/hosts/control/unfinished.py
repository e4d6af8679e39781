"""What a lost connection, or a console that ended, left in the middle of an action; said in words after a reconnect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bringup.core.words import duration, names
from bringup.hosts.control.journal import LEASE, UNSEEN, Claim
from bringup.hosts.control.own_command import is_own
from bringup.hosts.control.processes import Identity

Can = Literal["launch", "discard"]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An action that nobody ended."""

    claim: Claim
    action: str
    """"stop", "restart" or "launch"."""
    step: str
    """The last step that was written down: claimed, stopping, killing, waiting, returning, undecided, starting,
    launching, launched, failed."""
    about: str
    """The server, in words."""
    server: Identity
    engine: str = ""
    port: int | None = None
    """On which it was found; None where that was not known."""
    who: str = ""
    age: int = 0
    """Seconds since its last sign."""
    began: int = 0
    """Seconds since it was begun, or taken over by another console."""
    busy: bool = False
    """Its console gave a sign of late and is not this one, or it is being launched: it is under way, not cut off."""
    alive: tuple[Identity, ...] = ()
    """The old server's processes that still run."""
    new: Identity | None = None
    new_alive: bool = False
    status: str = ""
    """Exit status of a launch that failed."""
    said: str = ""
    """Its last words."""
    kept: bool = False
    """What a launch needs is still there."""
    prepared: bool = False
    """That was kept once, be it there still or not: it is not launched by a command of its launcher's own."""
    rebooted: bool = False
    unseen: bool = False
    """It was begun in another PID namespace: what runs of it is not known here."""
    command: str = ""
    """The launcher's own command to start it again, or the place to launch it in; "" for a process of its own."""
    launcher: str = ""
    """What launches it by that, in words."""
    says: str = ""
    """The command that prints the last words of what the launcher has started."""
    lives: str = ""
    """The one that tells whether that lives (lives.sh)."""
    at_work: Identity | None = None
    """The launcher's own start command, begun before and still at work: it is waited for, never run a second time."""
    starters: tuple[Identity, ...] = ()
    """What stood above the server, may start it again and still runs, nearest first."""
    respawns: bool = False
    """One of them does start it again."""
    untouched: bool = False
    """Nothing may be done about it from here: it is watched read-only."""

    @property
    def own(self) -> str:
        """The command by which its launcher starts it again; "" where it is launched in another way."""
        return self.command if is_own(self.command) and not self.prepared else ""

    @property
    def can(self) -> tuple[Can, ...]:
        """What can be done about it: launch what was kept, or forget it."""
        if self.busy or self.untouched:
            return ()
        possible = self.kept or self.own
        free = not self.alive and not self.new_alive and not self.unseen
        return ("launch", "discard") if self.action in _LAUNCHES and possible and free else ("discard",)

    @property
    def sentence(self) -> str:
        """What happened, what runs now, and what can be done."""
        if self.busy:
            who = f" by {self.who}" if self.who else ""
            return f"A {self.action} of {self.about} is under way{who}: {self.doing}."
        if self.failed:
            return f"A {self.action} of {self.about} failed {duration(self.age)} ago; {self.outlook}."
        became = "was left open" if self.step == "undecided" else "was cut off"
        when = self._once(_CUT.get(self.step, ""))
        cut = f"A {self.action} of {self.about} {became} {duration(self.age)} ago {when}"
        return f"{cut.rstrip()}; {self.outlook}."

    @property
    def takeover(self) -> str:
        """When somebody else can go on with it, as a sentence; "" where it is not under way, or goes on by itself."""
        if not self.busy or self.step == "launching":
            return ""
        return f"Unless it gives another sign, it counts as cut off in {duration(max(1, LEASE - self.age))}."

    @property
    def again(self) -> str:
        """What follows the word for its launch: nothing for a target, which is launched for the first time."""
        return "" if self.action == "launch" else " again"

    @property
    def doing(self) -> str:
        """What is done now, while it is under way."""
        return self._once(_DOING.get(self.step, self.step))

    @property
    def handed(self) -> bool:
        """A configured command has ended with exit status 0 and left the server to others, as docker run -d does."""
        return self.step == "launched" and self.status == "0" and not self.new_alive

    @property
    def failed(self) -> bool:
        """It was not cut off: the new server ended at once, and that was written down."""
        return self.step == "failed" and not self.new_alive

    @property
    def outlook(self) -> str:
        """What runs now, and what can be done, as the end of a sentence."""
        if self.unseen:
            return UNSEEN
        parts = ["the machine was started anew since"] if self.rebooted else []
        parts.append(self._now())
        if "launch" in self.can and self.own and self.at_work:
            parts.append("that can be waited for, and is not run a second time")
        elif "launch" in self.can and self.own:
            parts.append(f"it can be started with {self.own}, also once more")
        elif "launch" in self.can:
            parts.append(self._kept())
        elif self.untouched and self.kept:
            parts.append("what it was launched with is kept on the host")
        elif self.action in _LAUNCHES and not self.alive and not self.new_alive and not self.handed:
            parts.append("what it was launched with is not kept any more: launch it as it was launched the first time")
        return "; ".join(parts)

    def _once(self, words: str) -> str:
        """Return what is said of a restart as it is true for this action."""
        return words.replace(" again", self.again)

    def _kept(self) -> str:
        """What is kept, and when to launch it: not beside what starts the server by itself."""
        kept = "what it was launched with is kept on the host"
        if not self.starters:
            return f"{kept}: launch it now, or discard that"
        pids, several = names([str(pid) for pid, _ in self.starters], 6), len(self.starters) > 1
        who = f"PID {pids}, which had started it, still {'run' if several else 'runs'} and"
        if self.respawns:
            return f"{who} {'start' if several else 'starts'} it again: wait for that; {kept}"
        return f"{who} may start it again; {kept}: launch it once that is settled, or discard that"

    def _now(self) -> str:
        if self.new is not None and self.new_alive:
            return f"the new server runs as PID {self.new[0]}"
        if self.alive:
            pids = names([str(pid) for pid, _ in self.alive], 6)
            whole = "the old server still runs" if self.server in self.alive else "a part of the old server still runs"
            nothing = self.new is None and self.action in _LAUNCHES
            return f"{whole} (PID {pids}), and nothing was launched" if nothing else f"{whole} (PID {pids})"
        status = f" with exit status {self.status}" if self.status else ""
        said = f" ({self.said})" if self.said else ""
        if self.handed:
            known = "whether what it started runs is not known here: look for a server before you launch it again"
            return f"the command that launches it has ended with exit status 0{said}; {known}"
        if self.new is not None:
            old = "" if self.action == "launch" else ", and so has the old one"
            return f"the new server (PID {self.new[0]}) has ended{status}{said}{old}: no server runs"
        if self.at_work and self.own:
            return f"the old server has ended, and {self.command} (PID {self.at_work[0]}) is still at work{said}"
        if self.step == "failed" and self.own:
            what = f"failed{status}" if self.status else "brought up no server"
            return f"the old server has ended, and {self.command} {what}{said}: no server runs"
        if self.step == "starting":
            return f"the old server has ended, and whether {self.command} has started the new one was not written down"
        if self.action == "launch":
            return "nothing was launched"
        launched = ", and nothing was launched: no server runs" if self.action == "restart" else ""
        return f"the old server has ended{launched}"


_LAUNCHES = frozenset({"restart", "launch"})
AT_REST = frozenset({"undecided", "failed"})
"""Steps at which nothing is done any more until somebody decides."""
_CUT = {
    "": "before anything was done",
    "claimed": "before anything was done",
    "stopping": "while it was asked to end",
    "killing": "while its processes were being killed",
    "waiting": "while its GPU memory and its port were waited for",
    "returning": "while it was waited whether what had started it starts it again, or ends",
    "launching": "while it was being launched again",
    "launched": "just after it was launched again",
    "failed": "after it could not be launched again",
    "starting": "while its launcher was starting it again",
    "undecided": "after the stop: what had started the server may start it again",
}
_DOING = {
    "": "nothing was done yet",
    "claimed": "nothing was done yet",
    "stopping": "it is asked to end",
    "killing": "its processes are being killed",
    "waiting": "its GPU memory and its port are waited for",
    "returning": "it is waited whether what had started it starts it again, or ends",
    "launching": "it is being launched again",
    "launched": "it was launched again",
    "failed": "it could not be launched again",
    "starting": "its launcher starts it again",
}
