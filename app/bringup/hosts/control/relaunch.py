"""Launching a server again as it was launched: argv, directory, environment, limits and log files.

Everything is taken from /proc/PID while the server still runs and stays on the host: environments hold tokens.
journal.py says where it lies and for how long; from there the new process reads it itself, so that it is in nobody's
command line. A log that was appended to is appended to, one that began with the launch is put aside: the old lines say
why there was a restart. What cannot be repeated (a limit, the control group) is told.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bringup.core.errors import BringupError, ChannelRefused
from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.control.journal import Claim, script, unhex
from bringup.hosts.control.launching import Started, read_launch
from bringup.hosts.control.obstacles import obstacle
from bringup.hosts.control.own_command import PLACE, is_own
from bringup.hosts.discover.candidates import OWN_LAUNCH
from bringup.hosts.shipped import read_script

WATCH = 3
"""Seconds in which a launch that fails at once is noticed."""
TIMEOUT = 30.0
_HEX = ("cwd", "out", "err", "reader", "program")


@dataclass(frozen=True, slots=True)
class Launchable:
    """What is needed to launch a server again, or why that cannot be done."""

    restartable: str = ""
    """Empty when it can be; else the sentence why not."""
    cwd: str = ""
    """For showing, as are the outputs."""
    stdout: str = ""
    stderr: str = ""
    log: str = ""
    """What becomes of the old log, as a sentence."""
    claim: Claim | None = None
    """Where environment and arguments are kept on the host; None where nothing was kept."""
    inside: str = ""
    """The command that runs another one where the server ran (a terminal); "" for a process of its own."""


async def examine(host: Host, server: Server) -> Launchable:
    """Tell whether a server could be launched again, and where it would run and write; keeps nothing."""
    return await _look(host, server, None)


async def capture(host: Host, server: Server, claimed: Claim) -> Launchable:
    """Keep, on the host and before the stop, what a second launch needs; give it to `relaunch`.

    Raises BringupError with the sentence why there can be no second launch.
    """
    found = await _look(host, server, None)
    if not found.restartable:
        found = await _look(host, server, claimed)
    if found.restartable:
        why = found.restartable[0].lower() + found.restartable[1:]
        raise BringupError(f"The server cannot be restarted: {why}", "Nothing was done.")
    return found


async def relaunch(host: Host, kept: Launchable, *, argv: Sequence[str] | None = None, watch: int = WATCH) -> Started:
    """Launch a captured server, detached from the connection; with `argv`, with another command line.

    Launching twice is impossible: what was kept holds one ticket. Raises LaunchFailed with exit status and last words
    when it ends within `watch` seconds; it can be tried again then, and BringupError where nothing was launched.
    """
    if kept.claim is None:
        raise BringupError("There is nothing to launch.", kept.restartable)
    if argv is not None:
        await edit(host, kept.claim, argv)
    return await launch_kept(host, kept.claim, kept.inside, kept.stderr, watch=watch)


async def launch_kept(host: Host, claimed: Claim, inside: str = "", log: str = "", *, watch: int = WATCH) -> Started:
    """Launch what lies in the folder of a claim."""
    folder = claimed.folder
    command = f"sh {shlex.quote(f'{folder}/pane')} {shlex.quote(folder)}"
    child = "\n".join(read_script(f"control/{name}.sh") for name in ("identify", "scheduled", "child"))
    asked = script(
        "launch.sh",
        folder,
        claimed.token,
        watch,
        inside.replace(PLACE, shlex.quote(command)),
        child,
        *(read_script(f"control/{name}") for name in ("pane.sh", "become.pl", "become.py", "become.sh")),
    )
    done = await host.run(_detached(asked), timeout=TIMEOUT + watch, limit=1 << 16)
    return read_launch(host.name, done, log)


def _detached(asked: str) -> str:
    """Return a script that goes on when its connection is lost: in a session of its own it is not ended with it.

    So a launch always comes to its end, and what came of it is written down.
    """
    launches = shlex.quote(OWN_LAUNCH + asked)
    return f"own=setsid; command -v setsid >/dev/null 2>&1 || own=''\n$own sh -c {launches}\nexit $?"


async def edit(host: Host, claimed: Claim, argv: Sequence[str]) -> None:
    """Put another command line in the place of the kept one; it travels on the standard input, not in a command.

    Raises BringupError where the server would not find its program, and nothing is changed then.
    """
    words = b"".join(word.encode("utf-8", "surrogateescape").replace(b"\0", b"") + b"\0" for word in argv)
    done = await host.run(script("edit.sh", claimed.folder, claimed.token, len(words)), stdin=words, limit=4096)
    if done.stdout.strip() == b"missing":
        what = f"{host.name} has no program {clean_text(argv[0])!r} where the server would look for it."
        raise BringupError(what, "Its first word is the program: a path, or a name in the server's own PATH.")
    if done.stdout.strip() != b"kept":
        raise BringupError("The edited command could not be kept on the host.", "Nothing was launched.")


async def _look(host: Host, server: Server, claimed: Claim | None) -> Launchable:
    inside = "" if is_own(server.launcher.start) else server.launcher.start
    asked = script(
        "capture.sh",
        server.pid,
        server.start,
        claimed.folder if claimed is not None else "",
        _copy(server),
        "yes" if inside else "no",
    )
    done = await host.run(asked, timeout=TIMEOUT, limit=1 << 17)
    facts = {}
    for line in done.stdout.decode("ascii", "replace").splitlines():
        key, _, value = line.partition(" ")
        facts[key] = clean_text(unhex(value)) if key in _HEX else value
    if not facts:
        raise ChannelRefused(f"{host.name} could not tell how PID {server.pid} was launched.", reason="other")
    why = obstacle(facts, server)
    if claimed is not None and not why and "kept" not in facts:
        why = "what it was launched with could not be kept on the host: is there room in /tmp and /dev/shm?"
    terminal = "inside" in (facts.get("out-kind"), facts.get("err-kind"))
    return Launchable(
        restartable=f"{why[0].upper()}{why[1:]}" if why else "",
        cwd=facts.get("cwd", ""),
        stdout=facts.get("out", ""),
        stderr=facts.get("err", ""),
        log=_log(facts),
        claim=claimed if not why else None,
        inside=inside if terminal else "",
    )


def _copy(server: Server) -> str:
    """Return the file that the reader of the server's output writes: a new server writes there itself."""
    paths = [target.path for target in server.logs if target.kind == "file" and target.path.startswith("/")]
    return paths[0] if paths and not paths[0].startswith("/proc/") else ""


def _log(facts: Mapping[str, str]) -> str:
    path = facts.get("err", "")
    match facts.get("err-kind"):
        case "file" if facts.get("err-how") == "anew":
            return f"The old log is put aside as {path}.DATE-TIME, and a new one is begun."
        case "file":
            return f"It goes on in {path}, as it did before."
        case "copied":
            return f"Its output went through a pipe to {path}: the new server writes there itself."
        case "deleted":
            return f"Its log {path} was deleted or replaced: the new server goes on in the file of that name."
        case "inside":
            return "It writes to the terminal, as before."
    return ""
