"""Asks a host for the actions that nobody ended there, and forgets one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.control.journal import LEASE, Claim, script, unhex
from bringup.hosts.control.launching import last_words
from bringup.hosts.control.processes import Identity, read_identity
from bringup.hosts.control.unfinished import AT_REST, Unfinished

_PORT = re.compile(r"\d{1,5}")


@dataclass(slots=True)
class _Facts:
    """What unfinished.sh told of one action."""

    folder: str
    plain: dict[str, str] = field(default_factory=dict)
    alive: list[Identity] = field(default_factory=list)
    starters: list[Identity] = field(default_factory=list)
    new: Identity | None = None
    new_alive: bool = False


async def all_unfinished(host: Host, *, token: str = "", lease: int = LEASE) -> tuple[Unfinished, ...]:
    """Return all actions of this login that were not ended, the newest first.

    `token` tells which ones this console began itself.
    """
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
    """Forget an action: what was kept of it is removed, and nothing that was begun can launch any more.

    One that has launched a server which runs ends as if it had not been cut off: should the server end before it
    listens on its port, it counts as failed.
    """
    if left.busy:
        raise BringupError(left.sentence, "Nothing was done.")
    ends = "settle.sh" if left.step == "launched" and left.new_alive else "discard.sh"
    done = await host.run(script(ends, left.claim.folder, left.claim.token), limit=4096)
    if b"busy" in done.stdout.split():
        raise BringupError(f"It is being launched on {host.name} at this moment.", "Nothing was discarded.")
    if b"lost" in done.stdout.split():
        raise BringupError(f"Another console took over on {host.name}.", "Nothing was discarded.")


def _take(facts: _Facts, key: str, value: str) -> None:
    identity = read_identity(value)
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
    began = int(plain["began"]) if plain.get("began", "").isdigit() else 0
    theirs = plain.get("token", "")
    handed = plain.get("step") == "launched" and plain.get("ended") == "0" and not facts.new_alive
    return Unfinished(
        claim=Claim(facts.folder, theirs),
        action=plain.get("action", "action"),
        step=plain.get("step", ""),
        about=plain.get("about", "a server"),
        server=_server(facts.folder) or (0, 0),
        engine=plain.get("engine", ""),
        port=_port(plain.get("port", "")),
        who=plain.get("who", ""),
        age=age,
        began=max(age, began),
        # Whoever is asked to decide, or was told of a failure, does nothing: anybody may. A launch goes on by itself.
        busy="launching" in plain
        or (theirs != token and age < lease and "left" not in plain and plain.get("step") not in AT_REST),
        alive=tuple(facts.alive),
        new=None if handed else facts.new,
        new_alive=facts.new_alive,
        status=plain.get("ended", ""),
        said=last_words(unhex(plain.get("said", ""))),
        kept="kept" in plain,
        prepared="prepared" in plain,
        rebooted="rebooted" in plain,
        unseen="unseen" in plain,
        command=plain.get("command", ""),
        launcher=plain.get("launcher", ""),
        says=plain.get("says", ""),
        lives=plain.get("lives", ""),
        at_work=read_identity(plain.get("at-work", "")),
        starters=tuple(facts.starters),
        respawns=plain.get("respawns") == "yes",
    )


def _server(folder: str) -> Identity | None:
    return read_identity(folder.rpartition("/")[2].replace("-", ":"))


def _port(text: str) -> int | None:
    return int(text) if _PORT.fullmatch(text) else None
