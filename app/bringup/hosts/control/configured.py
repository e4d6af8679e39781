"""Commands that a target's configuration gives instead of what was found out about its launcher."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, UsageError
from bringup.core.events import Launcher, Server
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.control import journal
from bringup.hosts.control.handed import ask_after, ended_already
from bringup.hosts.control.journal import Busy, Claim, unhex
from bringup.hosts.control.launching import LaunchFailed, Started
from bringup.hosts.control.relaunch import WATCH, Launchable, relaunch

_NOT_FOUND = "127"
"""Exit status of a shell that does not find a program (POSIX, 2.8.2)."""
_SIGNALLED = re.compile(r"The processes are signalled[;.] ")
"""Stands in the sentence of a launcher without a stop command (discover/launched.py, launchers.toml)."""
_PLAIN_SHELL = (
    "The command runs in a plain shell that has read none of your start files: name its programs by their whole path,"
    " or set PATH in the target's `env`, as it stands."
)


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """How a target is launched by its configuration: a shell command that is the server, or starts it."""

    command: str
    cwd: str = ""
    """Where it runs; the home folder where it is left out."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of the login."""
    log: str = ""
    """Where it writes, appended; a relative one starts in `cwd`. Without one it has a file of its own on the host:
    bringup/NAME.NODE.log in the login's state folder ($XDG_STATE_HOME, or ~/.local/state), begun anew by each launch;
    those of the last five stay beside it, named by date."""
    name: str = ""
    """The target's."""


def with_stop_command(server: Server, command: str) -> Server:
    """Return the server with the stop command of the configuration in the place of signals or the launcher's own."""
    if not command:
        return server
    known = server.launcher
    # What is told of its own commands is not what happens now.
    detail = known.detail.replace(known.own, "") if known.own else known.detail
    sentence = "" if known.stop or known.own else known.sentence
    if (signalled := _SIGNALLED.match(sentence)) is not None:
        sentence = sentence[signalled.end() :]
        sentence = sentence[0].upper() + sentence[1:]
    launcher = replace(
        known,
        words=known.words or "the configured command",
        detail=f"{' '.join(detail.split())} Its stop command comes from the configuration.".strip(),
        own="",
        sentence=sentence,
        stop=command,
    )
    return replace(server, launcher=launcher)


def launcher_words(launcher: Launcher) -> str:
    """Return how the server was launched, as one sentence for a screen; "" where nobody looked."""
    if not launcher.words:
        return ""
    return " ".join(part for part in (f"Launched by {launcher.words}.", launcher.detail) if part)


async def prepare(host: Host, claimed: Claim, command: LaunchCommand) -> Launchable:
    """Keep, in the folder of a claim, what a launch of a configured command needs; nothing is launched yet.

    The variables travel on the standard input: whoever is on the host can read the command lines there. Raises
    BringupError where it cannot be launched as it is configured.
    """
    words = b"".join(_pair(name, value) for name, value in command.env.items())
    asked = journal.script(
        "prepare.sh",
        *(claimed.folder, claimed.token),
        *(command.cwd, command.log, file_name(command.name), command.command, len(words)),
    )
    done = await host.run(asked, stdin=words, limit=1 << 14)
    word, *rest = done.stdout.decode("utf-8", "replace").split() or [""]
    if word == "kept":
        log = unhex("".join(rest))
        return Launchable(cwd=command.cwd, stdout=log, stderr=log, claim=claimed)
    raise _unprepared(host.name, command, word, rest, clean_text(done.stderr.decode("utf-8", "replace")))


async def launch(
    host: Host, name: str, command: LaunchCommand, *, token: str = "", who: str = "", watch: int = WATCH
) -> Started:
    """Launch a configured target, detached from the connection; two consoles cannot launch the same name at once.

    Raises Busy, BringupError where what was launched by that name before still runs, and LaunchFailed with exit status
    and last words when it ends within `watch` seconds. A command that ends well by then has left the server to others.
    """
    # There is no process yet that could name the folder.
    stand_in = Server(pid=0, start=zlib.crc32(name.encode()), engine=name, argv=())
    claimed = await journal.claim(host, stand_in, "launch", token=token, who=who)
    kept: Launchable | None = None
    try:
        kept = await prepare(host, claimed, replace(command, name=name))
        started, ended = await ask_after(host, await relaunch(host, kept, watch=watch))
        if ended:
            raise ended_already(host.name, started, kept.stdout)
    except BringupError as error:
        # Where the answer of the launch itself is missing, nobody knows what came of it: it stays written down. Else
        # there is nothing to keep for another try: the command is in the configuration.
        unknown = isinstance(error, ChannelRefused) and kept is not None
        if not (unknown or isinstance(error, ConnectionLost)):
            await journal.release(host, claimed)
        if isinstance(error, LaunchFailed) and error.status == _NOT_FOUND:
            raise LaunchFailed(error.what, f"{error.hint} {_PLAIN_SHELL}".strip(), error.status) from error
        raise
    await journal.release(host, claimed)
    return replace(started, log=kept.stdout)


def launched_words(started: Started) -> str:
    """Return in sentences what came of a configured command, and where its log is."""
    log = f" Its log: {clean_text(started.log)}" if started.log else ""
    log += "".join(f" (that of the launch before: {path})" for path in started.aside)
    log += f" But {started.mortal}." if started.mortal else ""
    if started.handed is None:
        return f"Launched as PID {started.pid}.{log}"
    said = f", with the words: {started.handed}" if started.handed else ""
    goes = f"goes on as PID {started.pid}" if started.pid else "is looked for"
    became = f": {started.became}" if started.became else ""
    return f"The command has ended with exit status 0{said}. What it started {goes}{became}.{log}"


def file_name(name: str) -> str:
    """Return the name of a target as a file can be called, unlike that of any other target."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:100].lstrip(".-") or "target"
    return plain if plain == name else f"{plain}-{zlib.crc32(name.encode('utf-8', 'surrogateescape')):08x}"


def _pair(name: str, value: str) -> bytes:
    # A shell passes nothing else on to what it starts (dash; POSIX leaves it open).
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or "\0" in value:
        raise UsageError(
            f"The variable {clean_text(name)!r} of the target's `env` cannot be given to a command.",
            "A name has letters, digits and underscores only, and no value has a NUL. Nothing was done.",
        )
    return f"{name}={value}".encode("utf-8", "surrogateescape") + b"\0"


def _unprepared(node: str, command: LaunchCommand, word: str, rest: Sequence[str], said: str) -> BringupError:
    """Return in a sentence what stood against a launch before anything was done."""
    path, why = (*(clean_text(part) for part in (unhex(rest[0]), *rest[1:2])), "", "")[:2] if rest else ("", "")
    nothing = f"Nothing was launched on {node}"
    if word == "lost":
        return Busy(f"{nothing}: another console has taken over.", "Look at the server first.")
    if word == "running":
        pid = rest[0].partition(":")[0] if rest else ""
        known = f"PID {pid} still runs, which was launched as {clean_text(command.name)} before"
        return BringupError(f"{nothing}: {known}.", "Stop it first, so that there are never two, or watch it.")
    if word in _CLOSED and why in _CLOSED[word]:
        return BringupError(f"{nothing}: {_CLOSED[word][why].format(path)}.", f"Mend `{word}` of the target.")
    reason = said.strip().rstrip(".") or "nothing was said"
    return BringupError(f"The launch could not be prepared on {node}: {reason}.", "Nothing was done.")


_CLOSED: Mapping[str, Mapping[str, str]] = {
    "cwd": {
        "missing": "the folder {} in which it runs does not exist",
        "denied": "the folder {} in which it runs is closed to this login",
    },
    "log": {
        "missing": "the folder of its log {} does not exist",
        "folder": "its log {} is a folder",
        "odd": "its log {} is not a plain file",
        "denied": "its log {} is closed to this login, or on a disk that is full or read-only",
        "full": "the file system of its log {} is full",
    },
}
"""What prepare.sh finds closed, by the setting of the target and by why."""
