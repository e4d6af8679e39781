"""Launching a server again as it was launched: argv, directory, environment, umask and log files.

Everything is taken from /proc/PID while the server still runs and stays on the host: environments hold tokens. The log
is appended to, also where the first launch had truncated it: the old lines say why there was a restart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bringup.core.errors import BringupError, ChannelRefused
from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.control.processes import script

WATCH = 2
"""Seconds in which a launch that fails at once is noticed."""
TIMEOUT = 20.0
_FOLDER = re.compile(r"/[^\0\n]*/bringup-launch\.[A-Za-z0-9]+")
_HEX = ("cwd", "out", "err", "reader", "folder")
OUTPUTS: Mapping[str, str] = {
    "deleted": "its log {path} was deleted or replaced, so a new launch could not go on in it",
    "readonly": "its log {path} may not be written to by us",
    "pipe": "its output goes through a pipe{reader}, which ends together with it",
    "socket": "its output goes to a socket, as under systemd: restart it there (systemctl restart)",
    "terminal": "its output goes to the terminal {path}: restart it there",
    "other": "its output cannot be seen ({path})",
}
"""Why what an output is stands against a second launch, by its kind; "file" and "null" do not."""


@dataclass(frozen=True, slots=True)
class Launchable:
    """What is needed to launch a server again, or why that cannot be done."""

    restartable: str = ""
    """Empty when it can be; else the sentence why not."""
    cwd: str = ""
    """For showing, as are the outputs."""
    stdout: str = ""
    stderr: str = ""
    folder: str = ""
    """Where environment and arguments are kept on the host; "" where nothing was kept."""


@dataclass(frozen=True, slots=True)
class Started:
    """A new process: its identity."""

    pid: int
    start: int


async def examine(host: Host, server: Server) -> Launchable:
    """Tell whether a server could be launched again, and where it would run and write; keeps nothing."""
    return await _look(host, server, keep=False)


async def capture(host: Host, server: Server) -> Launchable:
    """Keep, on the host and before the stop, what a second launch needs; give it to `relaunch` or `discard`.

    Raises BringupError with the sentence why there can be no second launch.
    """
    found = await _look(host, server, keep=True)
    if found.restartable:
        await discard(host, found)
        why = found.restartable[0].lower() + found.restartable[1:]
        raise BringupError(f"The server cannot be restarted: {why}", "Nothing was done.")
    if not _FOLDER.fullmatch(found.folder):
        raise BringupError(
            f"What the server was launched with could not be kept on {host.name}.",
            "Is there room in XDG_RUNTIME_DIR or /tmp? Nothing was done.",
        )
    return found


async def relaunch(host: Host, launchable: Launchable, *, watch: int = WATCH) -> Started:
    """Launch a captured server, detached from the connection; what was kept of it is removed.

    Raises BringupError with exit status and last words when it ends within `watch` seconds.
    """
    if not launchable.folder:
        raise BringupError("There is nothing to launch.", launchable.restartable)
    done = await host.run(script("launch.sh", launchable.folder, watch), timeout=TIMEOUT + watch, limit=1 << 16)
    lines = [line.split() for line in done.stdout.decode("ascii", "replace").splitlines()]
    told = {line[0]: line[1:] for line in lines if line}
    said = clean_text(done.stderr.decode("utf-8", "replace")).strip()
    started = told.get("started", [])
    if len(started) != 2 or not all(word.isdigit() for word in started):
        raise BringupError(f"The server was not launched on {host.name}: {said or 'its command line is gone'}.")
    if "ended" in told:
        status, words = told["ended"][0], _unhex("".join(told["ended"][1:]))
        last = " / ".join(clean_text(line).strip() for line in words.strip().splitlines()[-3:])
        raise BringupError(
            f"The new server ended at once with exit status {status}: {last or said or 'it said nothing'}.",
            f"See {launchable.stderr or 'its log'}.",
        )
    return Started(int(started[0]), int(started[1]))


async def discard(host: Host, launchable: Launchable) -> None:
    """Remove what was kept of a launch that will not be."""
    if _FOLDER.fullmatch(launchable.folder):
        await host.run(script("discard.sh", launchable.folder))


async def _look(host: Host, server: Server, *, keep: bool) -> Launchable:
    asked = script("capture.sh", server.pid, server.start, "yes" if keep else "no")
    done = await host.run(asked, timeout=TIMEOUT, limit=1 << 17)
    facts = {}
    for line in done.stdout.decode("ascii", "replace").splitlines():
        key, _, value = line.partition(" ")
        facts[key] = _unhex(value) if key in _HEX else value
    if not facts:
        raise ChannelRefused(f"{host.name} could not tell how PID {server.pid} was launched.", reason="other")
    obstacle = _obstacle(facts, server)
    return Launchable(
        f"{obstacle[0].upper()}{obstacle[1:]}." if obstacle else "",
        *(facts.get(key, "") for key in ("cwd", "out", "err", "folder")),
    )


def _obstacle(facts: Mapping[str, str], server: Server) -> str:
    """Return what stands against a second launch, "" where nothing does."""
    if "gone" in facts:
        return f"its launcher (PID {server.pid}) has ended, and what it was launched with went with it"
    if "user" in facts:
        return f"it belongs to {facts['user']}: log in as {facts['user']} to restart it"
    if "space" in facts:
        return "it runs in a container: restart it from there (docker restart, kubectl)"
    if not server.argv or (" " in server.argv[0] and not any(server.argv[1:])):
        return "it has replaced its command line by a title, so what it was launched with is not known"
    if "environ" in facts:
        return "its environment cannot be read"
    if "cwd-gone" in facts:
        return f"its directory {facts.get('cwd', '')} is gone"
    for output in ("out", "err"):
        words = OUTPUTS.get(facts.get(f"{output}-kind", "other"))
        if words is not None:
            reader = facts.get("reader", "").strip().replace("\n", ", ")
            path = facts.get(output, "").removesuffix(" (deleted)")
            return words.format(path=path, reader=f" to {reader}" if reader else "")
    return ""


def _unhex(text: str) -> str:
    try:
        return bytes.fromhex(text).decode("utf-8", "replace")
    except ValueError:
        return ""
