"""A launcher's own commands: run on the host while the server is proven to be the one that was looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import ceil

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process
from bringup.core.words import names
from bringup.hosts.base import Completed, Host
from bringup.hosts.control.in_time import in_time
from bringup.hosts.control.journal import script as journal_script
from bringup.hosts.control.launching import last_words
from bringup.hosts.control.pace import Pace
from bringup.hosts.control.processes import script
from bringup.hosts.control.steps import Report, Step, count, still_run
from bringup.hosts.control.stopped import named
from bringup.hosts.control.surveying import Survey
from bringup.hosts.shipped import read_script

GRACE = 100.0
"""Seconds that a command may take beyond the drain: systemd kills after 90 s by itself (TimeoutStopSec)."""
START_TIMEOUT = 120.0
"""Seconds that a start command may take until a server is seen."""
_SPARE = 60.0
"""Seconds more, so that it is the one who waits who gives up, and says what was seen."""
TIDYING = 10.0
"""Seconds that it may still be at work when nothing of the server runs any more: docker stop removes networks then."""
EFFECT = 3.0
"""Seconds in which the server ends where a command that failed has had its effect: docker stop gives up before the
daemon does."""
_OTHERWISE = "Choose a signal, or set the command for this target in the configuration."
_MOST = 4
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
        plan: Survey,
        drain: float,
        say: Report,
        left: Callable[[], Awaitable[tuple[Process, ...]]],
        pace: Pace,
    ) -> None:
        self._host = host
        self._server = plan.server
        self._planned = plan.members
        self._command = with_drain(plan.server.launcher.stop, drain)
        self._drain = drain
        self._limit = drain + GRACE
        self._say = say
        self._left = left
        self._hurry = pace.hurry
        self._clock = pace.clock
        self.is_overdue = False
        """It took all of its time: what is left has none."""

    async def run(self, rest: Callable[[], Awaitable[None]]) -> str:
        """Run it until there is nothing more to wait for; return what is to be said of it, as a part of a sentence.

        That is "" where it ended well, or was left for a hurry. Raises ChannelRefused with its own words where it fails
        and the server runs on.
        """
        if not self._command:
            raise ChannelRefused(f"No stop command is known for {self._server.launcher.words}.", "Choose a signal.")
        asked = script("own.sh", self._server.pid, self._server.start, self._command)
        self._say(Step(f"Running on the host: {self._command}", self._drain))
        task = asyncio.ensure_future(self._host.run(asked, timeout=self._limit + _SPARE, limit=1 << 16))
        try:
            note = await self._at_work(task, rest)
            done, slow = await in_time(task, None) if note is None else (None, "")
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if slow:
            return self._overdue()
        failed = failure(self._host, self._command, done) if done is not None else None
        if failed is None:
            return note or ""
        return await self._despite(failed, rest)

    async def _at_work(self, task: asyncio.Future[Completed], rest: Callable[[], Awaitable[None]]) -> str | None:
        """Wait for its end; return instead what is to be said where it is not waited for any longer."""
        begun = self._clock()
        ended: float | None = None
        while not task.done():
            if self._hurry.asked:
                return ""
            left = await self._left()
            await rest()
            now = self._clock()
            ended = None if left else now if ended is None else ended
            if ended is not None and now - ended >= TIDYING:
                return f"{self._command} was still at work {TIDYING:.0f} s after all had ended, and was given up"
            if now - begun >= self._limit:
                return self._overdue()
            self._count_down(left, now - begun, None if ended is None else TIDYING - (now - ended))
        return None

    def _count_down(self, left: tuple[Process, ...], passed: float, tidying: float | None) -> None:
        """Tell how long it is waited for; it may take longer than it was asked to."""
        late = passed >= self._drain
        text = f"{self._command} is {'still ' if late else ''}at work; {still_run(left)}."
        until = self._limit - passed if late else self._drain - passed
        self._say(Step(text, until if tidying is None else min(tidying, self._limit - passed)))

    def _overdue(self) -> str:
        self.is_overdue = True
        return f"{self._command} was still at work after {self._limit:.0f} s, and was given up"

    async def _despite(self, failed: Failure, rest: Callable[[], Awaitable[None]]) -> str:
        """Return how it failed where the launcher ends all the same; raises ChannelRefused where it runs on."""
        begun, launcher = self._clock(), (self._server.pid, self._server.start)
        while True:
            running = {(each.pid, each.start): each for each in await self._left()}
            if launcher not in running:
                return f"{failed.sentence.rstrip('.')}, and the server ended all the same"
            if self._hurry.asked:
                return failed.sentence.rstrip(".")
            waited = self._clock() - begun
            if waited >= EFFECT:
                break
            self._say(Step(f"{failed.sentence} Looking whether the server ends all the same.", EFFECT - waited))
            await rest()
        ended = [each for each in self._planned if (each.pid, each.start) not in running]
        if not ended:
            raise ChannelRefused(failed.sentence, f"Nothing else was done. {_OTHERWISE}", reason="denied")
        left = names([named(each) for each in running.values()], _MOST)
        what = f"{failed.sentence} {count(ended)} ended, {still_run(running.values())}: {left}."
        raise ChannelRefused(what, f"Nothing was signalled from here. {_OTHERWISE}", reason="denied")


@dataclass(frozen=True, slots=True)
class Failure:
    """A launcher's command that ended with another exit status than 0."""

    sentence: str
    status: str
    """"" where it is not known."""
    words: str
    """What it said last; "" for nothing."""


async def run_start(host: Host, folder: str, command: str) -> Failure | None:
    """Run a launcher's start command to its end; return why it failed, in its own words.

    What it says is kept in the folder of the action. A command that nobody waits for any more goes on; as long as it is
    at work it is waited for, and not run once more.
    """
    starter = "\n".join(read_script(f"control/{name}.sh") for name in ("identify", "place", "starter"))
    asked = journal_script("own_start.sh", folder, command, starter)
    done = await host.run(asked, timeout=START_TIMEOUT + _SPARE, limit=1 << 16)
    return failure(host, command, done)


async def says(host: Host, command: str, since: float) -> str:
    """Return what a server said last in the last `since` seconds, as its launcher kept it; "" where it kept nothing."""
    if not command:
        return ""
    asked = command.replace("{since}", str(max(1, ceil(since))))
    try:
        done = await host.run(f"{{ {asked}; }} 2>&1", limit=1 << 14)
    except ChannelRefused as refused:
        return f"what it said could not be read ({refused.what.rstrip('.')})"
    return last_words(done.stdout.decode("utf-8", "replace")) if done.status == 0 else ""


def failure(host: Host, command: str, done: Completed) -> Failure | None:
    """Return why a launcher's command failed; None where it did not, or was not run, for the server had ended."""
    lines = done.stdout.decode("ascii", "replace").split("\n")
    status = next((line.removeprefix("status ") for line in lines if line.startswith("status ")), "")
    if "gone" in lines or status == "0":
        return None
    words = last_words(done.stderr.decode("utf-8", "replace"))
    said = words or "it said nothing"
    return Failure(f"{command} failed on {host.name} with exit status {status or 'unknown'}: {said}.", status, words)
