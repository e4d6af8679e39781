"""Actions on a server, written down on its host: one at a time, and to be found after a lost connection.

What lies on the host, and for how long:

* /tmp/bringup-UID (0700), UID being the login's, holds a folder PID-START for each server that is acted on. In it lie
  the claim of whoever acts (made by a hard link, so there is one), how far it is, and what the first launch was like
  but for the next point. It is removed with the end of the action, or by the first look seven days after the last sign.
* /dev/shm/bringup-UID (0700), where /dev/shm is in memory and takes it, else the same folder: the environment and the
  command lines (0600), from just before the stop until the new server has read them, or the action is given up. Where
  neither happens they are removed an hour after that, by the process that waits there for it (one for each action, no
  longer than there is something to remove) or by the next look, but not while the action still gives signs. What finds
  a new server again by its command line stays as long as the folder. The pages of a tmpfs can be swapped out.
  Containers may share that memory and not /tmp: each /tmp/bringup-UID has a folder of its own there, named by device
  and inode of its file .place. What another one has left is removed an hour after nobody watches over it there, and
  its command lines after seven days.
* After a launch that was repeated none of that is a file now. Until the new server listens on its port, for an hour
  at most, a process of the login (outlast in keeping.sh) has environment and command lines open, which are removed by
  then: where the server ends before, they are put back, and can be launched or edited again. What is no secret lies in
  /tmp/bringup-UID/.laid.PID:START meanwhile. Any action on the new server ends that.
* /tmp/bringup-UID/NAME.launched is PID and start of what was launched last as the configured target NAME, so that it
  is not launched twice; where the login can have no state folder, the log of such a target lies beside it.
* /tmp/bringup-UID/PID:START.begins is where the log ended at that launch, so that what is older is told from what is
  its own: of the last 64 launches, and till seven days after a process of it was seen.
* /tmp/bringup-UID/PID:START.ended says who has stopped or restarted that server, for consoles of the same login that
  look only then: of the last 64 servers, and for seven days.
* /tmp/bringup-PID-START.XXXXXX (0644) says to other users who acts on the server, while that lasts.

The folders depend on nothing in the login's environment, so that two consoles cannot miss each other. Every step renews
a claim; one that was not renewed for LEASE seconds was cut off. The stop goes on only while its console is there to
watch it; only the launch, which must not be torn, is one script on the host that outlives the connection (in a session
of its own), and of those there is one at a time, whichever consoles ask for it. A host's clock may be set meanwhile:
nothing is removed within the first hour of an action by the time that the machine is up. Where /tmp is shared with a
container, the processes of an action that was begun there have other numbers here (a claim tells its PID namespace):
whether they live is not known, and it is neither taken over nor launched from here.

Where /tmp is full or read-only, or /tmp/bringup-UID is somebody else's, a restart is refused, and a stop is done after
saying that it is not written down.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost
from bringup.core.events import Process, Server
from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.hosts.base import Completed, Host
from bringup.hosts.control.processes import script as plain_script
from bringup.hosts.control.steps import Report, Step
from bringup.hosts.discover import DEFAULT_PORTS
from bringup.hosts.shipped import read_script

LEASE = 30
"""Seconds without a sign after which an action counts as cut off."""
LAST_WORD = 2.0
"""Seconds in which whoever is broken off says so on the host."""
BEAT = 5.0
"""Seconds after which a long step renews its claim."""
UNSEEN = (
    "it was begun in another PID namespace (that of a container, or of the machine around this one), and what runs of"
    " it cannot be seen from here: go on with it there, or discard it where that container is gone"
)
"""Why nothing is launched, as a part of a sentence."""
_MOST_ABOVE = 16
_NOWHERE = "{} has no place where an action can be written down: {}."
PLACES = "BRINGUP_PLACES"
"""Names, here and not on the host, other folders than /tmp and /dev/shm there: "FOLDER" or "FOLDER:FOLDER". It is for
tests: consoles with different ones do not see each other."""


class Unwritten(ChannelRefused):
    """Nothing can be written down on the host, as where /tmp is full, or has no folder of ours; nothing was done."""


class Busy(BringupError):
    """Another action on the same server is under way; nothing was done."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to act on a server, and the folder on the host where that is written down."""

    folder: str
    token: str
    unwritten: Report | None = field(default=None, compare=False)
    """Told where a step cannot be written down, and then it is gone on all the same; None: then it is not."""


def new_token() -> str:
    """Return a word that nobody else uses: by it a console knows its own actions again."""
    return secrets.token_hex(8)


def script(name: str, *arguments: object) -> str:
    """Return a script that may use place.sh, keeping.sh, prompt.sh and scheduled.sh."""
    base, _, memory = os.environ.get(PLACES, "/tmp:/dev/shm").partition(":")
    folders = f"base={shlex.quote(base)} memory={shlex.quote(memory or base)}"
    shared = (read_script(f"control/{each}.sh") for each in ("place", "keeping", "prompt", "scheduled"))
    return "\n".join((folders, *shared, plain_script(name, *arguments)))


async def claim(
    host: Host, server: Server, action: str, *, token: str = "", who: str = "", keep: bool = False, lease: int = LEASE
) -> Claim:
    """Begin an action on a server; `who` is shown to others who want to act too.

    What an action that was cut off left is removed unless `keep`. Raises Busy while another action is under way.
    """
    token = token or new_token()
    keeps = "yes" if keep else "no"
    begun = (server.pid, server.start, action, token, lease, keeps, _line(who))
    asked = script("claim.sh", *begun, *(f"{key} {_line(value)}" for key, value in _facts(server).items()))
    done = await host.run(asked, limit=1 << 14)
    head, _, rest = done.stdout.decode("utf-8", "replace").partition("\n")
    word, _, value = head.partition(" ")
    if word == "claimed":
        return Claim(unhex(value), token)
    if word == "busy":
        raise _busy(host, server, value, read_facts(rest), lease)
    raise _nowhere(host, value, _said(done))


async def claim_a_stop(host: Host, server: Server, report: Report, *, token: str = "", who: str = "") -> Claim | None:
    """Begin a stop; None where it cannot be written down, which is told: nothing has to be launched after it.

    Raises Busy while another action is under way.
    """
    try:
        return replace(await claim(host, server, "stop", token=token, who=who), unwritten=report)
    except Unwritten as refused:
        report(Step(f"{refused.what} It is stopped all the same, and other consoles are not told.", name="stopping"))
        return None


async def step(host: Host, claimed: Claim, name: str, members: Iterable[Process] = ()) -> None:
    """Write down how far an action is, and which processes are the server's; raises Busy where it was taken over."""
    pairs = (f"{each.pid}:{each.start}" for each in members)
    done = await host.run(script("step.sh", claimed.folder, claimed.token, name, *pairs), limit=4096)
    if done.stdout.strip() == b"unwritten":
        what = f"How far the action is could not be written down on {host.name}: {_said(done)}."
        if claimed.unwritten is not None:
            claimed.unwritten(Step(f"{what} It goes on all the same.", name=name))
            return
        raise ChannelRefused(
            f"{what} It was not gone on with.",
            "See that there is room in /tmp, and look at the server: what was written down before is still there.",
            reason="other",
        )
    if done.stdout.strip() != b"held":
        raise Busy(
            f"Another console has taken over the action on {host.name}, or what was written down of it is gone.",
            "Look at the server before you do more.",
        )


async def take_over(host: Host, claimed: Claim, token: str, who: str = "") -> Claim:
    """Go on with an action that another console left.

    Raises Busy where one more console does that already, Unwritten, and BringupError where it was begun in another PID
    namespace.
    """
    if token == claimed.token:
        return claimed
    done = await host.run(script("take.sh", claimed.folder, claimed.token, token, _line(who)), limit=4096)
    came = done.stdout.strip()
    if came == b"unseen":
        raise BringupError(f"{UNSEEN[0].upper()}{UNSEEN[1:]}.", f"Nothing was done on {host.name}.")
    if came == b"unwritten":
        what = f"That this console goes on with it could not be written down on {host.name}: {_said(done)}."
        raise Unwritten(what, "See that there is room in /tmp. Nothing was done from here.", reason="other")
    if came != b"held":
        raise Busy(f"Another console sees to it already on {host.name}.", "Nothing was done from here.")
    return Claim(claimed.folder, token)


@asynccontextmanager
async def held(host: Host, claimed: Claim | None) -> AsyncIterator[None]:
    """Do something under a claim; where that is broken off or fails, others may go on at once instead of after LEASE.

    Of what was not written down nobody is told.
    """
    try:
        yield
    except ConnectionLost:
        raise
    except (asyncio.CancelledError, BringupError):
        if claimed is None:
            raise
        # Where even that cannot be told, it counts as cut off once the lease is over.
        with suppress(BringupError, TimeoutError):
            await asyncio.wait_for(host.run(script("leave.sh", claimed.folder, claimed.token), limit=4096), LAST_WORD)
        raise


async def settle(host: Host, claimed: Claim) -> None:
    """End an action that has launched a server: should that end before it listens on its port, it counts as failed."""
    await host.run(script("settle.sh", claimed.folder, claimed.token), limit=4096)


async def release(host: Host, claimed: Claim | None) -> None:
    """End an action: all that was kept of it on the host is removed."""
    if claimed is None:
        return
    await host.run(script("discard.sh", claimed.folder, claimed.token), limit=4096)


def about(server: Server) -> str:
    """Return what a server is, in words that hold no secret."""
    if not server.pid:
        return f"the target {server.engine}"
    port = f" on port {server.port}" if server.port is not None else ""
    return f"the {server.engine or 'unknown'} server{port} (PID {server.pid})"


def _facts(server: Server) -> dict[str, str]:
    """Return what is written down of a server, keyed as in claim.sh."""
    launcher = server.launcher
    return {
        "engine": server.engine if server.pid else "",
        "port": "" if server.port is None else str(server.port),
        "usual": str(DEFAULT_PORTS.get(server.engine, "")) if server.pid else "",
        "about": about(server),
        "command": launcher.start,
        "above": " ".join(f"{pid}:{start}" for pid, start in launcher.above[:_MOST_ABOVE]),
        "respawns": "yes" if launcher.respawns else "no",
        "launcher": launcher.words,
        "says": launcher.says,
        "lives": launcher.lives,
    }


def read_facts(text: str) -> dict[str, str]:
    """Return keyed lines; the first of each key, sanitised."""
    facts: dict[str, str] = {}
    for line in text.splitlines()[:200]:
        key, _, value = line.partition(" ")
        facts.setdefault(key, clean_text(value))
    return facts


def unhex(text: str) -> str:
    """Return text that travelled as hexadecimal digits; "" for what is none."""
    try:
        return bytes.fromhex(text).decode("utf-8", "surrogateescape")
    except ValueError:
        return ""


def _line(text: str) -> str:
    return " ".join(clean_text(text).split())[:1000]


def _busy(host: Host, server: Server, age: str, facts: dict[str, str], lease: int) -> Busy:
    seconds = int(age) if age.isdigit() else 0
    who = f" by {facts['who']}" if facts.get("who") else ""
    who += f" (logged in as {facts['user']})" if facts.get("user") else ""
    action = f"A {facts['action']}" if facts.get("action") else "An action"
    what = f"PID {server.pid}" if server.pid else about(server)
    return Busy(
        f"{action} of {what} on {host.name} is under way{who}; its last sign came {duration(seconds)} ago.",
        f"Nothing was done. If it was cut off, this can be tried again in {duration(max(1, lease - seconds))}.",
    )


def _said(done: Completed) -> str:
    """Return why a script could not write, in its own words."""
    return clean_text(done.stderr.decode("utf-8", "replace")).strip().rstrip(".") or "nothing was said"


def _nowhere(host: Host, value: str, said: str) -> Unwritten:
    folder, _, owner = value.partition(" ")
    if owner:
        path = clean_text(unhex(folder))
        why = f"{path} is no folder that only this login can open (it belongs to {clean_text(owner)})"
        hint = f"Look at what it is; as root it can be removed: rm -r {shlex.quote(path)}. Nothing was done."
        return Unwritten(_NOWHERE.format(host.name, why), hint, reason="other")
    hint = "Is there room in /tmp, and can it be written to? Nothing was done."
    return Unwritten(_NOWHERE.format(host.name, said), hint, reason="other")
