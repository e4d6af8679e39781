"""What a lost connection, or a console that ended, left in the middle of an action; said in words after a reconnect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.hosts.base import Host
from bringup.hosts.control.journal import LEASE, Claim, script, unhex
from bringup.hosts.control.launching import last_words
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
    """The last step that was written down: claimed, stopping, killing, waiting, launching, launched, failed."""
    about: str
    """The server, in words."""
    server: Identity
    who: str = ""
    age: int = 0
    """Seconds since its last sign."""
    busy: bool = False
    """Its console gave a sign of late and is not this one: it is under way, not cut off."""
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
    rebooted: bool = False
    command: str = ""
    """The launcher's own command to start it again, or the place to launch it in; "" for a process of its own."""
    starters: tuple[Identity, ...] = ()
    """What stood above the server, may start it again and still runs, nearest first."""
    respawns: bool = False
    """One of them does start it again."""

    @property
    def can(self) -> tuple[Can, ...]:
        """What can be done about it: launch what was kept, or forget it."""
        if self.busy:
            return ()
        possible = self.kept or is_own(self.command)
        launch = self.action in _LAUNCHES and possible and not self.alive and not self.new_alive
        return ("launch", "discard") if launch else ("discard",)

    @property
    def sentence(self) -> str:
        """What happened, what runs now, and what can be done."""
        if self.busy:
            who = f" by {self.who}" if self.who else ""
            return f"A {self.action} of {self.about} is under way{who}: {_DOING.get(self.step, self.step)}."
        if self.failed:
            return f"A {self.action} of {self.about} failed {duration(self.age)} ago; {self.outlook}."
        became = "was left open" if self.step == "undecided" else "was cut off"
        cut = f"A {self.action} of {self.about} {became} {duration(self.age)} ago {_CUT.get(self.step, '')}"
        return f"{cut.rstrip()}; {self.outlook}."

    @property
    def failed(self) -> bool:
        """It was not cut off: the new server ended at once, and that was written down."""
        return self.step == "failed" and not self.new_alive

    @property
    def outlook(self) -> str:
        """What runs now, and what can be done, as the end of a sentence."""
        parts = ["the machine was started anew since"] if self.rebooted else []
        parts.append(self._now())
        if "launch" in self.can and is_own(self.command):
            parts.append(f"it can be started with {self.command}, also once more")
        elif "launch" in self.can:
            parts.append("what it was launched with is kept on the host: launch it now, or discard that")
        elif self.action in _LAUNCHES and not self.alive and not self.new_alive:
            parts.append("what it was launched with is not kept any more: launch it as it was launched the first time")
        return "; ".join(parts)

    def _now(self) -> str:
        if self.new is not None and self.new_alive:
            return f"the new server runs as PID {self.new[0]}"
        if self.alive:
            pids = ", ".join(str(pid) for pid, _ in self.alive[:6])
            whole = "the old server still runs" if self.server in self.alive else "a part of the old server still runs"
            return f"{whole} (PID {pids}), and nothing was launched" if self.new is None else f"{whole} (PID {pids})"
        if self.new is not None:
            status = f" with exit status {self.status}" if self.status else ""
            old = "" if self.action == "launch" else ", and so has the old one"
            said = f" ({self.said})" if self.said else ""
            return f"the new server (PID {self.new[0]}) has ended{status}{said}{old}: no server runs"
        if self.step == "starting":
            return f"the old server has ended, and whether {self.command} has started the new one was not written down"
        if self.action == "launch":
            return "nothing was launched"
        launched = ", and nothing was launched: no server runs" if self.action == "restart" else ""
        return f"the old server has ended{launched}"


_LAUNCHES = frozenset({"restart", "launch"})
_CUT = {
    "": "before anything was done",
    "claimed": "before anything was done",
    "stopping": "while it was asked to end",
    "killing": "while its processes were being killed",
    "waiting": "while its GPU memory and its port were waited for",
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
    "launching": "it is being launched again",
    "launched": "it was launched again",
    "failed": "it could not be launched again",
    "starting": "its launcher starts it again",
}


@dataclass(slots=True)
class _Facts:
    """What unfinished.sh told of one action."""

    folder: str
    plain: dict[str, str] = field(default_factory=dict)
    alive: list[Identity] = field(default_factory=list)
    starters: list[Identity] = field(default_factory=list)
    new: Identity | None = None
    new_alive: bool = False


async def unfinished(host: Host, *, token: str = "", lease: int = LEASE) -> Unfinished | None:
    """Return the newest action that was not ended; `token` tells which ones this console began itself."""
    found = await all_unfinished(host, token=token, lease=lease)
    return found[0] if found else None


async def all_unfinished(host: Host, *, token: str = "", lease: int = LEASE) -> tuple[Unfinished, ...]:
    """Return all actions of this login that were not ended, the newest first."""
    done = await host.run(script("unfinished.sh"), limit=1 << 18)
    told: list[_Facts] = []
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(" ")
        if key == "folder":
            told.append(_Facts(unhex(value)))
        elif told:
            _take(told[-1], key, clean_text(value))
    found = [_read(facts, token, lease) for facts in told if _server(facts.folder) is not None]
    return tuple(sorted(found, key=lambda each: each.age))


async def discard(host: Host, left: Unfinished) -> None:
    """Forget an action: what was kept of it is removed, and nothing that was begun can launch any more."""
    if left.busy:
        raise BringupError(left.sentence, "Nothing was done.")
    done = await host.run(script("discard.sh", left.claim.folder, left.claim.token), limit=4096)
    if b"lost" in done.stdout.split():
        raise BringupError(f"Another console took over on {host.name}.", "Nothing was discarded.")


def _take(facts: _Facts, key: str, value: str) -> None:
    identity = _identity(value)
    if key == "alive" and identity is not None:
        if identity not in facts.alive:
            facts.alive.append(identity)
    elif key == "starter" and identity is not None:
        facts.starters.append(identity)
    elif key in ("runs", "died"):
        facts.new, facts.new_alive = identity, key == "runs"
    else:
        facts.plain.setdefault(key, value)


def _read(facts: _Facts, token: str, lease: int) -> Unfinished:
    plain = facts.plain
    age = int(plain["age"]) if plain.get("age", "").isdigit() else 0
    theirs = plain.get("token", "")
    return Unfinished(
        claim=Claim(facts.folder, theirs),
        action=plain.get("action", "action"),
        step=plain.get("step", ""),
        about=plain.get("about", "a server"),
        server=_server(facts.folder) or (0, 0),
        who=plain.get("who", ""),
        age=age,
        # Whoever is asked to decide, or was told of a failure, does nothing: anybody may.
        busy=theirs != token and age < lease and plain.get("step") not in ("undecided", "failed"),
        alive=tuple(facts.alive),
        new=facts.new,
        new_alive=facts.new_alive,
        status=plain.get("ended", ""),
        said=last_words(unhex(plain.get("said", ""))),
        kept="kept" in plain,
        rebooted="rebooted" in plain,
        command=plain.get("command", ""),
        starters=tuple(facts.starters),
        respawns=plain.get("respawns") == "yes",
    )


def _identity(text: str) -> Identity | None:
    pid, _, start = text.partition(":")
    return (int(pid), int(start)) if pid.isdigit() and start.isdigit() else None


def _server(folder: str) -> Identity | None:
    return _identity(folder.rpartition("/")[2].replace("-", ":"))
