"""What launched each server that was found: its kind, its own commands, and what stands above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bringup.core.errors import ChannelRefused
from bringup.core.events import Launcher
from bringup.core.sanitize import clean_text
from bringup.core.words import names
from bringup.hosts.base import Host
from bringup.hosts.discover.candidates import Candidate, Family
from bringup.hosts.discover.described import describe, read_answer
from bringup.hosts.discover.launchers import Above, Around, Found, Kinds
from bringup.hosts.discover.readers import Written
from bringup.hosts.discover.rows import Place
from bringup.hosts.shipped import read_script

ASK_TIMEOUT = 5.0
"""Seconds for docker, systemctl or tmux to say what they know; a daemon that hangs must not hold up the search."""
_LONGEST_COMPLAINT = 160
_SIGNALLED = "The processes are signalled"
PLAIN = f"{_SIGNALLED}; a restart repeats command, folder, environment and log."


def surroundings(process: Candidate, place: Place, family: Family, within: int | None, login: str = "root") -> Around:
    """Return what tells how a process was launched, as far as it is open to `login`; not beyond `within`."""
    above = []
    for each in family.above(process.pid):
        if each.pid in (1, within):
            break
        above.append(Above(each.pid, each.title, each.program))
    environ = place.environ if login in ("root", process.user) else None
    return Around(process.pid, place.cgroup, tuple(above), environ)


async def ask_launchers(
    host: Host, kinds: Kinds, arounds: Sequence[Around]
) -> tuple[dict[int, Launcher], dict[int, Mapping[int, Written]]]:
    """Ask each kind's own tool on the host; return the launchers by PID, and the files of the streams that they told.

    Plain ones are left out.
    """
    found = {around.pid: await _launcher(host, kinds, around) for around in arounds}
    launchers = {pid: known[0] for pid, known in found.items() if known is not None}
    return launchers, {pid: known[1] for pid, known in found.items() if known is not None}


async def _launcher(host: Host, kinds: Kinds, around: Around) -> tuple[Launcher, Mapping[int, Written]] | None:
    for found in kinds.fitting(around):
        answer, said = await _answer(host, found)
        launcher = describe(kinds, found, answer, said)
        if launcher is not None:
            kept = await _kept(host, kinds, found, launcher, answer.get("unit", ""))
            return kept or launcher, _written(found, answer)
    return None


def _written(found: Found, answer: Mapping[str, str]) -> dict[int, Written]:
    """Return the files of the two streams, by descriptor, as far as they were told."""
    told = {}
    for descriptor, key in ((1, "out"), (2, "err")):
        flags, colon, path = answer.get(key, "").partition(":")
        if colon and path.startswith("/"):
            told[descriptor] = Written(found.ancestor, path, flags=flags)
    return told


async def _kept(host: Host, kinds: Kinds, found: Found, launcher: Launcher, unit: str) -> Launcher | None:
    """Return the unit that keeps a container: it starts that again, and so it is what is to be stopped."""
    keeper = kinds.unit(found, unit) if unit.endswith(".service") and launcher.stop else None
    if keeper is None:
        return None
    answer, said = await _answer(host, keeper)
    # Its main process is the container's client or monitor, of which the server is no descendant.
    answer = {**answer, keeper.kind.main: str(found.around.pid)} if answer.get(keeper.kind.main, "0") != "0" else answer
    owner = describe(kinds, keeper, answer, said)
    if owner is None or not owner.stop:
        return None
    return replace(owner, detail=f"It runs {launcher.words}. {owner.detail}".strip())


async def _answer(host: Host, found: Found) -> tuple[Mapping[str, str], str]:
    """Ask the tool that the launcher comes with; return its answer, and the last of what it complained about."""
    if not found.question:
        return {}, ""
    try:
        asked = f"{read_script('discover/written.sh')}\n{found.question}"
        done = await host.run(asked, timeout=ASK_TIMEOUT, limit=1 << 14)
    except ChannelRefused as refused:
        if refused.reason == "timeout":
            return {}, f"it gave no answer in {ASK_TIMEOUT:.0f} s"
        raise
    said = clean_text(done.stderr.decode("utf-8", "replace")).strip().splitlines()
    return read_answer(done.stdout.decode("utf-8", "replace")), said[-1][:_LONGEST_COMPLAINT].rstrip(
        "."
    ) if said else ""


def plain_launcher(process: Candidate, place: Place, supervisor: Candidate | None, kinds: Kinds) -> Launcher:
    """Return the launcher of a server that no unit, container or terminal program launched."""
    if supervisor is not None:
        return supervised(supervisor, place, kinds)
    if "deaf" in place.flags:
        return Launcher("nohup", words="a process started with nohup", sentence=PLAIN)
    if process.sid == process.pid:
        return Launcher("session", words="a process in a session of its own (setsid)", sentence=PLAIN)
    return Launcher("process", words="a plain process", sentence=PLAIN)


def with_bounds(launcher: Launcher, bounds: Sequence[Candidate]) -> Launcher:
    """Return a launcher with what binds the server now, and not what is launched in its place."""
    own = launcher.start and "{command}" not in launcher.start
    if not bounds or own:
        return launcher
    titles = names([clean_text(each.title)[:80] for each in bounds], 3)
    return replace(
        launcher, detail=f"{launcher.detail} It runs under {titles}: a restart does not repeat that.".strip()
    )


def with_starters(launcher: Launcher, above: Sequence[Candidate], supervisor: Launcher | None) -> Launcher:
    """Return a launcher with all that may start the server again: in a pane or a job, too, a script may do that."""
    found = replace(launcher, above=tuple((each.pid, each.start) for each in above))
    # A job's script that starts it again does so in the job.
    found = replace(found, bound="") if supervisor is not None and supervisor.respawns else found
    if supervisor is None or launcher.stop or launcher.parent is not None or launcher.respawns:
        return found
    detail = f"{launcher.detail} {supervisor.sentence.removeprefix(PLAIN).removeprefix(f'{_SIGNALLED}.')}"
    return replace(found, respawns=supervisor.respawns, parent=supervisor.parent, detail=" ".join(detail.split()))


def supervised(supervisor: Candidate, place: Place, kinds: Kinds) -> Launcher:
    """Return the launcher of a server that a script or another program started."""
    title = clean_text(supervisor.title)[:120]
    who = f"The {'script' if supervisor.is_shell else 'program'} above it (PID {supervisor.pid})"
    respawns: bool | None = None
    does = "may start it again after a stop: nothing is launched from here while it still runs, before you say so."
    if supervisor.is_shell and "loops" in place.flags:
        respawns, does = True, "has a loop and can start it again after a stop: a restart leaves the start to it."
    elif supervisor.program in kinds.roles.respawners:
        respawns, does = True, "starts it again after a stop: a restart leaves the start to it."
    return Launcher(
        "supervisor" if respawns else "script",
        name=title,
        words=f"{'the script' if supervisor.is_shell else 'the program'} {title}",
        respawns=respawns,
        parent=supervisor.pid,
        # What is left to it repeats nothing.
        sentence=f"{f'{_SIGNALLED}.' if respawns else PLAIN} {who} {does}",
    )
