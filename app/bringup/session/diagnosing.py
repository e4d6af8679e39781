"""What a diagnosis is about: the server as it was found, its processes in the order in which they matter."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from bringup.core.errors import BringupError
from bringup.core.events import Process, Server
from bringup.core.redact import mask_argv
from bringup.core.state import State
from bringup.hosts.base import Host
from bringup.hosts.control import launcher_words
from bringup.hosts.diagnose import Section, diagnose
from bringup.session.console import Findings
from bringup.session.picture import Picture

OTHERS_LINES = 100
"""Lines of each other node's log in a diagnosis."""


async def examine(host: Host, picture: Picture) -> Findings:
    """Ask a host what an expert would ask: the ranks first, then the rest of the server's tree."""
    state = picture.state
    argv = state.server.argv if state.server is not None else ()
    answers = await diagnose(host, _in_order(state), next(iter(argv), ""))
    return Findings((_server(state), *answers), tuple(picture.recent))


def told_here(trouble: BringupError, picture: Picture) -> Findings:
    """Return what is known without the host, and why it could not be asked."""
    sections = (_server(picture.state), Section("the host could not be asked", str(trouble)))
    return Findings(sections, tuple(picture.recent))


def together(found: Sequence[tuple[str, Findings]]) -> Findings:
    """Return what was found on each node as one; the log of the first one stays the log."""
    (_, first), *others = found
    if not others:
        return first
    sections = []
    for node, findings in found:
        sections += [replace(each, title=f"{node}: {each.title}") for each in findings.sections]
        if findings is not first:
            text = "\n".join(line.decode("utf-8", "replace") for line in findings.lines[-OTHERS_LINES:])
            sections.append(Section(f"{node}: the end of its log", text or "nothing"))
    return Findings(tuple(sections), first.lines)


def _in_order(state: State) -> list[Process]:
    ranks = {rank.pid: rank.rank for rank in state.attempt.ranks}
    last = len(ranks) + 1
    return sorted(state.processes, key=lambda each: (each.pid not in ranks, ranks.get(each.pid, last), each.pid))


def _server(state: State) -> Section:
    server = state.server
    if server is None:
        return Section("the server", state.seeks or "No server was found.")
    return Section("the server", "\n".join(_facts(server, state)))


def _facts(server: Server, state: State) -> list[str]:
    gone = "" if state.gone_at is None else ", which has ended"
    version = f" {state.attempt.version}" if state.attempt.version else ""
    facts = [
        f"{server.engine}{version}, PID {server.pid}{gone}, user {server.user or '?'}, port {server.port or '?'}",
        f"command: {shlex.join(mask_argv(server.argv))}",
        f"folder: {server.cwd or 'unknown'}",
        f"launched: {launcher_words(server.launcher) or 'nobody knows how'}",
    ]
    facts += [f"log: {log.path or 'none'} ({log.kind}){f', {log.note}' if log.note else ''}" for log in server.logs]
    facts += [f"PID {each.pid}, below {each.ppid}: {each.title}" for each in _in_order(state)]
    return facts
