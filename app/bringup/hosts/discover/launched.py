"""What launched each server that was found: its kind, its own commands, and what stands above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bringup.core.errors import ChannelRefused
from bringup.core.events import Launcher
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.discover.candidates import Candidate, Family
from bringup.hosts.discover.launchers import Above, Around, Found, Kinds, describe, read_answer
from bringup.hosts.discover.rows import Place

ASK_TIMEOUT = 5.0
"""Seconds for docker, systemctl or tmux to say what they know; a daemon that hangs must not hold up the search."""
PLAIN = "The processes are signalled; a restart repeats command, folder, environment and log."


def surroundings(process: Candidate, place: Place, family: Family, within: int | None) -> Around:
    """Return what tells how a process was launched; not beyond `within`."""
    above = []
    for each in family.above(process.pid):
        if each.pid in (1, within):
            break
        above.append(Above(each.pid, each.title, each.program))
    return Around(process.pid, place.cgroup, tuple(above), place.environ)


async def ask_launchers(host: Host, kinds: Kinds, founds: Sequence[Found]) -> dict[int, Launcher]:
    """Return the launchers by the server's PID, after asking each kind's own tool on the host once."""
    launchers = {}
    for found in founds:
        launcher = describe(kinds, found, await _answer(host, found) if found.question else {})
        if launcher is not None:
            launchers[found.around.pid] = launcher
    return launchers


async def _answer(host: Host, found: Found) -> Mapping[str, str]:
    """Ask the tool that the launcher comes with; without an answer its commands are not offered."""
    try:
        done = await host.run(found.question, timeout=ASK_TIMEOUT, limit=1 << 14)
    except ChannelRefused as refused:
        if refused.reason == "timeout":
            return {}
        raise
    return read_answer(done.stdout.decode("utf-8", "replace"))


def plain_launcher(process: Candidate, place: Place, supervisor: Candidate | None, kinds: Kinds) -> Launcher:
    """Return the launcher of a server that no unit, container or terminal program launched."""
    if supervisor is not None:
        return supervised(supervisor, place, kinds)
    if "deaf" in place.flags:
        return Launcher("nohup", words="a process started with nohup", sentence=PLAIN)
    if process.sid == process.pid:
        return Launcher("session", words="a process in a session of its own (setsid)", sentence=PLAIN)
    return Launcher("process", words="a plain process", sentence=PLAIN)


def with_starters(launcher: Launcher, above: Sequence[Candidate], supervisor: Launcher | None) -> Launcher:
    """Return a launcher with all that may start the server again: in a pane or a job, too, a script may do that."""
    found = replace(launcher, above=tuple((each.pid, each.start) for each in above))
    if supervisor is None or launcher.stop or launcher.parent is not None or launcher.respawns:
        return found
    detail = f"{launcher.detail} {supervisor.sentence.removeprefix(PLAIN)}"
    return replace(found, respawns=supervisor.respawns, parent=supervisor.parent, detail=" ".join(detail.split()))


def supervised(supervisor: Candidate, place: Place, kinds: Kinds) -> Launcher:
    """Return the launcher of a server that a script or another program started."""
    title = clean_text(supervisor.title)[:120]
    who = f"The {'script' if supervisor.is_shell else 'program'} above it (PID {supervisor.pid})"
    respawns: bool | None = None
    does = "may start it again after a stop: nothing is launched from here while it still runs, before you say so."
    if supervisor.is_shell and "loops" in place.flags:
        respawns, does = True, "has a loop and can start it again after a stop: a restart leaves the start to it."
    elif supervisor.program in kinds.respawners:
        respawns, does = True, "starts it again after a stop: a restart leaves the start to it."
    return Launcher(
        "supervisor" if respawns else "script",
        name=title,
        words=f"{'the script' if supervisor.is_shell else 'the program'} {title}",
        respawns=respawns,
        parent=supervisor.pid,
        sentence=f"{PLAIN} {who} {does}",
    )
