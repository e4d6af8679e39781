"""`bringup watch HOST --launch NAME`: starts a configured target, detached, before the console is opened on it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from bringup.cli.asking import is_terminal
from bringup.cli.protecting import refuse_named, refuse_unnamed, shielded
from bringup.cli.targets import Chosen, choose, together
from bringup.cli.telling import NOT_DONE, Doing, confirmed, cut_off
from bringup.core.errors import BringupError, ConnectionLost, UsageError
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text

if TYPE_CHECKING:
    from bringup.config.shapes import Config
    from bringup.hosts.control import LaunchCommand
    from bringup.hosts.ways import Way
    from bringup.session.session import Session


_CONTAINERS = re.compile(r"\b(?:docker|podman|nerdctl)\b")


def to_launch(
    name: str,
    hosts: Sequence[str],
    config: Config | None,
    *,
    port: int | None = None,
    log: str | None = None,
    way: Way | None = None,
) -> Chosen:
    """Return the target that is launched, on other hosts than its own where some are named.

    What the command line says of the server is said of the one that is launched. Raises UsageError where there is no
    such target, nothing that launches it, or nothing that launches it like this.
    """
    known = config.targets if config is not None else {}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else "`bringup config path` tells where targets are configured."
        raise UsageError(f"There is no target {clean_text(name)!r} in the configuration.", hint)
    chosen = _its_own(choose(name, config=config, port=port, log=log, way=way))
    _refuse_another_port(name, chosen, port)
    refuse_named(name, chosen)
    if not hosts or list(hosts) == [name]:
        return chosen
    others = [choose(host, config=config) for host in hosts]
    for host, other in zip(hosts, others, strict=True):
        refuse_named(host, other)
    places = [node.host for other in others for node in (other.nodes or (other,))]
    if len(places) == 1:
        return replace(chosen, host=places[0], nodes=())
    return together(chosen, places)


def launch(chosen: Chosen, name: str, *, yes: bool) -> None:
    """Launch the target on its hosts; raises BringupError where one of them has it already, or it fails."""
    if not yes and not is_terminal():
        raise UsageError(
            "There is no terminal at which a launch could be confirmed.", "Give --yes to do it without asking."
        )
    chosen = shielded(chosen)
    # It is launched on the host itself, whatever way leads to it later.
    nodes = [replace(_narrowed(node), way=None, nodes=()) for node in chosen.nodes or (chosen,)]
    for node in nodes:
        _command(node, name)
        refuse_unnamed(node)
    asyncio.run(_launched(nodes, name, yes=yes))


async def _launched(nodes: Sequence[Chosen], name: str, *, yes: bool) -> None:
    from bringup.cli.headless import connected

    async with AsyncExitStack() as stack:
        sessions: list[tuple[Chosen, Session]] = []
        for node in nodes:
            session, headless = await stack.enter_async_context(connected(node))
            look = await headless.once()
            await _refuse_a_second(node, session)
            sessions.append((node, session))
            _say(f"Launches {name} on {look.state.node or node.target.name} ({node.target.name}):")
            _show(_command(node, name))
        if not yes and not confirmed(f"Launch {clean_text(name)}?"):
            raise BringupError(NOT_DONE)
        # A question can stand for hours, and somebody else may have launched it meanwhile.
        for node, session in sessions:
            await _refuse_a_second(node, session)
        await _start(sessions, name)


async def _start(sessions: Sequence[tuple[Chosen, Session]], name: str) -> None:
    from bringup.hosts.control import launched_words

    done: list[str] = []
    for node, session in sessions:
        try:
            started = await session.launch(name, _command(node, name))
        except ConnectionLost as lost:
            at = Doing("launch", node.target.name, node.target.port)
            raise cut_off(lost, f"Launching {name}.", at) from lost
        except BringupError as error:
            if done:
                raise BringupError(error.what, f"{error.hint} Already launched: {', '.join(done)}.".strip()) from error
            raise
        done.append(f"PID {started.pid} on {node.target.name}" if started.pid else node.target.name)
        _say(f"{node.target.name}: {launched_words(started)}")


def _command(chosen: Chosen, name: str) -> LaunchCommand:
    command = chosen.target.launch
    if command is None:
        raise UsageError(f"The target {name} has no launch command.", f'Add launch = "…" to [targets.{name}].')
    return command


def _its_own(chosen: Chosen) -> Chosen:
    """Return a target whose own server is meant, whatever else is said of it: it is launched as that."""
    nodes = tuple(_its_own(node) for node in chosen.nodes)
    return replace(chosen, target=replace(chosen.target, by_hand=False), nodes=nodes)


def _refuse_another_port(name: str, chosen: Chosen, port: int | None) -> None:
    """Raise UsageError where the server will not be on the port that the command line names."""
    from bringup.hosts.control.ports import port_of_shell

    command, known = _command(chosen, name).command, chosen.configured
    own = known.port if known is not None else None
    # A container may have its port under another number on the host.
    if own is None and not _CONTAINERS.search(command):
        own = port_of_shell(command)
    if port is not None and own is not None and port != own:
        what = f"{name} is launched on port {own}, and --port names {port}."
        hint = f"Its launch command runs as it stands: leave --port out, or change the port in [targets.{name}]."
        raise UsageError(what, hint)


def _narrowed(chosen: Chosen) -> Chosen:
    """Only a server on the port that this one will have counts as the same; without one, any counts."""
    from bringup.hosts.control.ports import port_of_shell

    target = chosen.target
    if target.port is not None or target.launch is None:
        return chosen
    return replace(chosen, target=replace(target, port=port_of_shell(target.launch.command)))


async def _refuse_a_second(node: Chosen, session: Session) -> None:
    """Raise BringupError where a server runs, or somebody is about to launch one."""
    from bringup.report.commands import command_line
    from bringup.session.left_over import in_the_way

    servers, claims = await session.standing()
    if servers:
        where = f" on port {servers[0].port}" if servers[0].port else ""
        what = f"Nothing was launched: a server runs on {node.target.name} already, PID {servers[0].pid}{where}."
        hint = "Stop it first, or watch it without --launch."
        if node.target.port is None:
            hint += " Where it is another server, give the target its port."
        raise BringupError(what, hint)
    left = in_the_way(claims, node.target.port)
    if left is None:
        return
    name, port = _host_of(node), left.port
    goes_on = f"`{command_line('restart', name, port=port)}` goes on with it"
    if left.busy:
        raise BringupError(left.sentence, f"Nothing was launched. Wait for its end; if it is cut off, {goes_on}.")
    forgets = f"`{command_line('restart', name, '--discard', port=port)}` forgets it"
    raise BringupError(left.sentence, f"Nothing was launched. {forgets if left.unseen else f'{goes_on}, {forgets}'}.")


def _host_of(node: Chosen) -> str:
    """Return what the host is named by in a command: a target that is launched elsewhere leads to its own host."""
    known = node.configured
    own = known is None or node.host in (known.hosts or [known.host or ""])
    return node.target.name if own else node.host


def _show(command: LaunchCommand) -> None:
    rows = {
        "command": command.command,
        "folder": command.cwd or "the home folder",
        "sets": ", ".join(command.env),
        "log": command.log or "a file of its own on the host, in ~/.local/state/bringup",
    }
    for label, text in rows.items():
        if text:
            _say(f"  {label:<8} {mask(clean_text(text))}")


def _say(text: str) -> None:
    from bringup.cli.output import tell

    tell(f"{text}\n")
