"""A launcher's own commands: run on the host while the server is proven to be the one that was looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process, Server
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Completed, Host
from bringup.hosts.control.launching import last_words
from bringup.hosts.control.pace import Hurry
from bringup.hosts.control.processes import script
from bringup.hosts.control.steps import Report, Step, still_run

GRACE = 100.0
"""Seconds that a command may take beyond the drain: systemd kills after 90 s by itself (TimeoutStopSec)."""
START_TIMEOUT = 120.0
PLACE = "{command}"
"""Stands in a start command for what is to be run: such a command is a place to run in, not the launch itself."""


def is_own(command: str) -> bool:
    """Say whether a start command starts the server all by itself."""
    return bool(command) and PLACE not in command


def with_drain(command: str, drain: float) -> str:
    """Return a command with the seconds that it may wait for a polite end."""
    return command.replace("{drain}", str(max(1, round(drain))))


class OwnStop:
    """One run of a launcher's stop command, with a countdown while it lasts."""

    def __init__(
        self,
        host: Host,
        server: Server,
        drain: float,
        say: Report,
        left: Callable[[], Awaitable[tuple[Process, ...]]],
        hurry: Hurry,
    ) -> None:
        self._host = host
        self._server = server
        self._command = with_drain(server.launcher.stop, drain)
        self._drain = drain
        self._say = say
        self._left = left
        self._hurry = hurry

    async def run(self, rest: Callable[[], Awaitable[None]]) -> None:
        """Run it to its end, or until there is a hurry; raises ChannelRefused with its own words when it fails."""
        if not self._command:
            raise ChannelRefused(f"No stop command is known for {self._server.launcher.words}.", "Choose a signal.")
        asked = script("own.sh", self._server.pid, self._server.start, self._command)
        self._say(Step(f"Running on the host: {self._command}", self._drain))
        limit = self._drain + GRACE
        task = asyncio.ensure_future(self._host.run(asked, timeout=limit, limit=1 << 16))
        try:
            while not task.done():
                if self._hurry.asked:
                    return
                left = await self._left()
                await rest()
                self._say(Step(f"{self._command} is at work; {still_run(left)}.", self._drain))
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        check(self._host, self._command, task.result())


async def run_start(host: Host, command: str) -> None:
    """Run a launcher's start command; raises ChannelRefused with its own words when it fails."""
    done = await host.run(script("own.sh", 1, 0, command), timeout=START_TIMEOUT, limit=1 << 16)
    check(host, command, done)


async def says(host: Host, command: str) -> str:
    """Return the last words of a server, as its launcher kept them; "" where it kept none."""
    if not command:
        return ""
    done = await host.run(f"{{ {command}; }} 2>&1", limit=1 << 14)
    return last_words(done.stdout.decode("utf-8", "replace")) if done.status == 0 else ""


def check(host: Host, command: str, done: Completed) -> None:
    """Raise ChannelRefused where a launcher's command failed."""
    lines = done.stdout.decode("ascii", "replace").split("\n")
    status = next((line.removeprefix("status ") for line in lines if line.startswith("status ")), "")
    if "gone" in lines or status == "0":
        return
    words = last_words(clean_text(done.stderr.decode("utf-8", "replace"))) or "it said nothing"
    raise ChannelRefused(
        f"{command} failed on {host.name} with exit status {status or 'unknown'}: {words}.",
        "Nothing else was done. Choose a signal, or set the command for this target in the configuration.",
        reason="denied",
    )
