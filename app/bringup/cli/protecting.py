"""Which read-only targets of the configuration protect what a command line has chosen, by whatever name it goes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.config.guards import Guard
    from bringup.core.errors import UsageError
    from bringup.core.events import Server
    from bringup.hosts.addresses import Address
    from bringup.hosts.ways import Way

Guards = Mapping[str, tuple["Guard", tuple[str, ...]]]
"""By target: what it protects, and on which hosts."""


def shielded(chosen: Chosen) -> Chosen:
    """Return what was chosen with all that protects it; raises UsageError where nothing can be done to any of it."""
    from bringup.cli.leaving import Threads
    from bringup.session.protection import Protection, protection_of

    async def look() -> Chosen:
        asyncio.get_running_loop().set_default_executor(Threads())
        return await protected(chosen)

    found = asyncio.run(look())
    for node in found.nodes or (found,):
        protection = protection_of(node.target)
        certain = tuple(guard for guard in protection.guards if guard.is_certain(protection.named))
        _raise(Protection(guards=certain, named=protection.named).why_not())
    return found


async def protected(chosen: Chosen) -> Chosen:
    """Return what was chosen with the read-only targets that are on its hosts, whatever these are called.

    The names are resolved as ssh does it, and nothing is connected to.
    """
    nodes = chosen.nodes or (chosen,)
    guards = _guards(chosen)
    if not guards or all(node.target.guards is not None for node in nodes):
        return chosen
    from bringup.hosts.addresses import address_of

    asked = {name for _, hosts in guards.values() for name in hosts} | {node.host for node in nodes}
    hosts = tuple(asked)
    known = dict(zip(hosts, await asyncio.gather(*map(address_of, hosts)), strict=True))
    found = tuple(_with_guards(node, guards, known) for node in nodes)
    return replace(chosen, nodes=found) if chosen.nodes else found[0]


def refuse_unnamed(chosen: Chosen) -> None:
    """Raise UsageError where what is to be launched on one host may be a protected server, as far as it was named."""
    from bringup.session.protection import protection_of

    _raise(protection_of(chosen.target).why_not())


def refuse_found(chosen: Chosen, server: Server | None) -> None:
    """Raise UsageError where the server that was found on one host is protected by the configuration."""
    from bringup.session.protection import protection_of

    if server is not None:
        _raise(protection_of(replace(chosen.target, read_only=False)).of_server(server))


def refuse_named(name: str, chosen: Chosen) -> None:
    """Raise UsageError where the target that was named is a read-only one itself."""
    from bringup.session.protection import Protection

    if chosen.configured is not None and chosen.configured.read_only:
        guard, _ = _guards(chosen)[name]
        _raise(Protection(guards=(replace(guard, own=True),)).why_not())


def _raise(why: UsageError | None) -> None:
    if why is not None:
        raise why


def _guards(chosen: Chosen) -> Guards:
    targets = chosen.config.targets if chosen.config is not None else {}
    protecting = {name: target for name, target in targets.items() if target.read_only}
    if not protecting:
        return {}
    from bringup.config.folder import config_file
    from bringup.config.guards import guard_of
    from bringup.config.reading import lines_in

    file = config_file(os.environ)
    lines = lines_in(file)

    def place(name: str) -> str:
        line = lines.get(("targets", name, "read-only"))
        return f"{file}, line {line}" if line is not None else ""

    return {
        name: (guard_of(name, target, place(name)), tuple(target.hosts or [target.host or ""]))
        for name, target in protecting.items()
    }


def _with_guards(node: Chosen, guards: Guards, known: Mapping[str, Address]) -> Chosen:
    from bringup.config.guards import Subject

    targets = node.config.targets if node.config is not None else {}
    named = next((name for name in guards if targets[name] is node.configured), None)
    if named is not None:
        found = [replace(guards[named][0], own=True)]
    else:
        inside = Subject(ways=(_named(node.way),) if node.way is not None else ())
        on_host = (
            guard for guard, hosts in guards.values() if any(known[node.host].is_same(known[each]) for each in hosts)
        )
        found = [guard for guard in on_host if guard.covers(inside)]
    return replace(node, target=replace(node.target, guards=tuple(found)))


def _named(way: Way) -> tuple[str, str]:
    """Return a way as the configuration writes it."""
    if way.kind == "slurm":
        return way.kind, "+".join(filter(None, (way.parts["job"], way.parts["component"])))
    return way.kind, ("/" if way.kind == "kube" else "").join(filter(None, way.parts.values()))
