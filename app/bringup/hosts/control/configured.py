"""Commands that a target's configuration gives instead of what was found out about its launcher."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bringup.core.errors import BringupError
from bringup.core.events import Launcher, Server
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.control import journal
from bringup.hosts.control.journal import Claim
from bringup.hosts.control.launching import LaunchFailed, Started
from bringup.hosts.control.relaunch import WATCH, Launchable, relaunch


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """How a target is launched by its configuration: a shell command that is the server, or starts it."""

    command: str
    cwd: str = ""
    """Where it runs; the home folder where it is left out."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of the login."""
    log: str = ""
    """Where it writes, appended; a relative one starts in `cwd`. Without one what it writes is lost."""


def with_stop_command(server: Server, command: str) -> Server:
    """Return the server with the stop command of the configuration in the place of signals or the launcher's own."""
    if not command:
        return server
    known = server.launcher
    launcher = replace(
        known,
        words=known.words or "the configured command",
        detail=f"{known.detail} Its stop command comes from the configuration.".strip(),
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

    The variables travel on the standard input: whoever is on the host can read the command lines there.
    """
    pairs = (f"{name}={value}".replace("\0", "") for name, value in command.env.items())
    words = b"".join(pair.encode("utf-8", "surrogateescape") + b"\0" for pair in pairs)
    asked = journal.script(
        "prepare.sh", claimed.folder, claimed.token, command.cwd, command.log, command.command, len(words)
    )
    done = await host.run(asked, stdin=words, limit=1 << 14)
    if done.stdout.strip() != b"kept":
        said = clean_text(done.stderr.decode("utf-8", "replace")).strip().rstrip(".") or "nothing was said"
        raise BringupError(f"The launch could not be prepared on {host.name}: {said}.", "Nothing was done.")
    return Launchable(cwd=command.cwd, stdout=command.log, stderr=command.log, claim=claimed)


async def launch(
    host: Host, name: str, command: LaunchCommand, *, token: str = "", who: str = "", watch: int = WATCH
) -> Started:
    """Launch a configured target, detached from the connection; two consoles cannot launch the same name at once.

    Raises Busy, and LaunchFailed with exit status and last words when it ends within `watch` seconds.
    """
    # There is no process yet that could name the folder.
    stand_in = Server(pid=0, start=zlib.crc32(name.encode()), engine=name, argv=())
    claimed = await journal.claim(host, stand_in, "launch", token=token, who=who)
    try:
        started = await relaunch(host, await prepare(host, claimed, command), watch=watch)
    except LaunchFailed:
        # The command is in the configuration: there is nothing to keep for another try.
        await journal.release(host, claimed)
        raise
    await journal.release(host, claimed)
    return started
