"""Actions on a server, written down on its host: one at a time, and to be found after a lost connection.

What lies on the host, and for how long:

* /tmp/bringup-UID (0700), UID being the login's, holds a folder PID-START for each server that is acted on. In it lie
  the claim of whoever acts (made by a hard link, so there is one), how far it is, and what the first launch was like
  but for the next point. It is removed with the end of the action, or by the first look seven days after the last sign.
* /dev/shm/bringup-UID (0700), where /dev/shm is in memory and takes it, else the same folder: the environment and the
  command lines (0600), from just before the stop until the new server has read them, or the action is given up. Where
  neither happens they are removed an hour after that, by a process that waits there for it or by the next look, but not
  while the action still gives signs. What finds a new server again by its command line stays as long as the folder. The
  pages of a tmpfs can be swapped out.
* /tmp/bringup-PID-START.XXXXXX (0644) says to other users who acts on the server, while that lasts.

The folders depend on nothing in the login's environment, so that two consoles cannot miss each other. Every step renews
a claim; one that was not renewed for LEASE seconds was cut off. The stop goes on only while its console is there to
watch it; only the launch, which must not be torn, is one script on the host that outlives the connection.
"""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from bringup.core.errors import BringupError, ChannelRefused
from bringup.core.events import Process, Server
from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.hosts.base import Host
from bringup.hosts.control.processes import script as plain_script
from bringup.hosts.shipped import read_script

LEASE = 30
"""Seconds without a sign after which an action counts as cut off."""
BEAT = 5.0
"""Seconds after which a long step renews its claim."""
_MOST_ABOVE = 16
PLACES = "BRINGUP_PLACES"
"""Names, here and not on the host, other folders than /tmp and /dev/shm there: "FOLDER" or "FOLDER:FOLDER". It is for
tests: consoles with different ones do not see each other."""


class Busy(BringupError):
    """Another action on the same server is under way; nothing was done."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to act on a server, and the folder on the host where that is written down."""

    folder: str
    token: str


def new_token() -> str:
    """Return a word that nobody else uses: by it a console knows its own actions again."""
    return secrets.token_hex(8)


def script(name: str, *arguments: object) -> str:
    """Return a script that may use place.sh and keeping.sh."""
    base, _, memory = os.environ.get(PLACES, "/tmp:/dev/shm").partition(":")
    folders = f"base={shlex.quote(base)} memory={shlex.quote(memory or base)}"
    shared = (read_script("control/place.sh"), read_script("control/keeping.sh"))
    return "\n".join((folders, *shared, plain_script(name, *arguments)))


async def claim(
    host: Host, server: Server, action: str, *, token: str = "", who: str = "", keep: bool = False, lease: int = LEASE
) -> Claim:
    """Begin an action on a server; `who` is shown to others who want to act too.

    What an action that was cut off left is removed unless `keep`. Raises Busy while another action is under way.
    """
    token = token or new_token()
    words = (" ".join(clean_text(text).split())[:1000] for text in (who, about(server), server.launcher.start))
    above = " ".join(f"{pid}:{start}" for pid, start in server.launcher.above[:_MOST_ABOVE])
    again = (above, "yes" if server.launcher.respawns else "no")
    asked = script("claim.sh", server.pid, server.start, action, token, lease, "yes" if keep else "no", *words, *again)
    done = await host.run(asked, limit=1 << 14)
    head, _, rest = done.stdout.decode("utf-8", "replace").partition("\n")
    word, _, value = head.partition(" ")
    if word == "claimed":
        return Claim(unhex(value), token)
    if word == "busy":
        raise _busy(host, server, value, read_facts(rest), lease)
    raise _nowhere(host, value, clean_text(done.stderr.decode("utf-8", "replace")).strip())


async def step(host: Host, claimed: Claim, name: str, members: Iterable[Process] = ()) -> None:
    """Write down how far an action is, and which processes are the server's; raises Busy where it was taken over."""
    pairs = (f"{each.pid}:{each.start}" for each in members)
    done = await host.run(script("step.sh", claimed.folder, claimed.token, name, *pairs), limit=4096)
    if done.stdout.strip() != b"held":
        raise Busy(
            f"Another console has taken over the action on {host.name}, or what was written down of it is gone.",
            "Look at the server before you do more.",
        )


async def release(host: Host, claimed: Claim) -> None:
    """End an action: all that was kept of it on the host is removed."""
    await host.run(script("discard.sh", claimed.folder, claimed.token), limit=4096)


def about(server: Server) -> str:
    """Return what a server is, in words that hold no secret."""
    if not server.pid:
        return f"the target {server.engine}"
    port = f" on port {server.port}" if server.port is not None else ""
    return f"the {server.engine or 'unknown'} server{port} (PID {server.pid})"


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


def _busy(host: Host, server: Server, age: str, facts: dict[str, str], lease: int) -> Busy:
    seconds = int(age) if age.isdigit() else 0
    who = f" by {facts['who']}" if facts.get("who") else ""
    who += f" (logged in as {facts['user']})" if facts.get("user") else ""
    action = facts.get("action") or "action"
    return Busy(
        f"A {action} of PID {server.pid} on {host.name} is under way{who}; its last sign came {duration(seconds)} ago.",
        f"Nothing was done. If it was cut off, this can be tried again in {duration(max(1, lease - seconds))}.",
    )


def _nowhere(host: Host, value: str, said: str) -> ChannelRefused:
    folder, _, owner = value.partition(" ")
    why, hint = said or "nothing was said", "Is there room in /tmp?"
    if owner:
        path = clean_text(unhex(folder))
        why = f"{path} is no folder that only this login can open (it belongs to {clean_text(owner)})"
        hint = f"Look at what it is; as root it can be removed: rm -r {shlex.quote(path)}."
    return ChannelRefused(
        f"{host.name} has no place where an action can be written down: {why}.",
        f"{hint} Nothing was done.",
        reason="other",
    )
