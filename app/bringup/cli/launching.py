"""`bringup watch HOST --launch NAME`: starts a configured target, detached, before the console is opened on it."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from bringup.cli.targets import Chosen, choose, together
from bringup.core.errors import BringupError, UsageError
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text

if TYPE_CHECKING:
    from bringup.config.shapes import Config
    from bringup.hosts.control import LaunchCommand
    from bringup.session.session import Session


def to_launch(name: str, hosts: Sequence[str], config: Config | None, *, port: int | None, log: str | None) -> Chosen:
    """Return the target that is launched, on other hosts than its own where some are named.

    Raises UsageError where there is no such target, or nothing that launches it.
    """
    known = config.targets if config is not None else {}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else "`bringup config path` tells where targets are configured."
        raise UsageError(f"There is no target {clean_text(name)!r} in the configuration.", hint)
    chosen = choose(name, config=config, port=port, log=log)
    if chosen.target.launch is None:
        raise UsageError(f"The target {name} has no launch command.", f'Add launch = "…" to [targets.{name}].')
    if chosen.target.read_only:
        what = f"The configuration says that {name} is read-only: nothing is launched there."
        raise UsageError(what, "Take `read-only` away from the target to allow it.")
    if not hosts or list(hosts) == [name]:
        return chosen
    others = [choose(host, config=config) for host in hosts]
    if any(other.target.read_only for other in others):
        raise UsageError("One of these hosts is a read-only target: nothing is launched there.")
    if len(others) == 1:
        return replace(chosen, host=others[0].host, nodes=others[0].nodes)
    return together(chosen, [other.host for other in others])


def launch(chosen: Chosen, name: str, *, yes: bool) -> None:
    """Launch the target on its hosts; raises BringupError where one of them has it already, or it fails."""
    if not yes and not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        raise UsageError("There is no terminal to confirm a launch at.", "Give --yes to do it without asking.")
    asyncio.run(_launched(chosen, name, yes=yes))


async def _launched(chosen: Chosen, name: str, *, yes: bool) -> None:
    from bringup.cli.headless import connected

    # It is launched on the host itself, whatever way leads to it later.
    nodes = [replace(_narrowed(node), way=None, nodes=()) for node in chosen.nodes or (chosen,)]
    async with AsyncExitStack() as stack:
        sessions: list[tuple[Chosen, Session]] = []
        for node in nodes:
            session, headless = await stack.enter_async_context(connected(node))
            look = await headless.once()
            _refuse_a_second(node, session)
            sessions.append((node, session))
            _say(f"Launches {name} on {look.state.node or node.target.name} ({node.target.name}):")
            _show(node.target.launch)
        if not yes and not _confirmed(name):
            raise BringupError("Nothing was done.")
        await _start(sessions, name)


async def _start(sessions: Sequence[tuple[Chosen, Session]], name: str) -> None:
    done: list[str] = []
    for node, session in sessions:
        if node.target.launch is None:
            continue
        try:
            started = await session.launch(name, node.target.launch)
        except BringupError as error:
            if done:
                raise BringupError(error.what, f"{error.hint} Already launched: {', '.join(done)}.".strip()) from error
            raise
        done.append(f"PID {started.pid} on {node.target.name}")
        _say(f"Launched as {done[-1]}.")


def _narrowed(chosen: Chosen) -> Chosen:
    """Only a server on the port that this one will have counts as the same; without one, any counts."""
    target = chosen.target
    if target.port is not None or target.launch is None:
        return chosen
    return replace(chosen, target=replace(target, port=_port_in(target.launch.command)))


def _port_in(command: str) -> int | None:
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    for word, following in zip(words, [*words[1:], ""], strict=True):
        option, _, value = word.partition("=")
        given = value or following
        if option == "--port" and given.isdigit() and 0 < int(given) < 65536:
            return int(given)
    return None


def _refuse_a_second(node: Chosen, session: Session) -> None:
    state = session.state
    if state.server is None or state.gone_at is not None:
        return
    where = f" on port {state.server.port}" if state.server.port else ""
    what = f"Nothing was launched: a server runs on {node.target.name} already, PID {state.server.pid}{where}."
    hint = "Stop it first, or watch it without --launch."
    if node.target.port is None:
        hint += " Where it is another server, give the target its port."
    raise BringupError(what, hint)


def _show(command: LaunchCommand | None) -> None:
    if command is None:
        return
    rows = {
        "command": command.command,
        "folder": command.cwd or "the home folder",
        "sets": ", ".join(command.env),
        "log": command.log or "none: what it writes is lost",
    }
    for label, text in rows.items():
        if text:
            _say(f"  {label:<8} {mask(clean_text(text))}")


def _confirmed(name: str) -> bool:
    sys.stderr.write(f"Launch {clean_text(name)}? (yes/no) ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() == "yes"


def _say(text: str) -> None:
    from bringup.cli.output import tell

    tell(f"{text}\n")
