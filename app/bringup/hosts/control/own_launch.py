"""A launch by the launcher's own command: a server has to come up and to stay; if not, it is said and written down."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bringup.core.errors import ChannelRefused
from bringup.core.events import Launcher
from bringup.hosts.base import Host
from bringup.hosts.control import journal, processes
from bringup.hosts.control.journal import Claim, read_facts, script
from bringup.hosts.control.launching import LaunchFailed, Started, refuse
from bringup.hosts.control.lives import Life, life
from bringup.hosts.control.own_command import START_TIMEOUT, Failure, run_start, says
from bringup.hosts.control.pace import Pace
from bringup.hosts.control.processes import Identity, read_identity
from bringup.hosts.control.steps import Report, Step

APPEAR = 20.0
"""Seconds for a server to be seen after its launcher's own start command; START_TIMEOUT where what it started runs."""
SURE = 3
"""Looks in a row by which what was started has ended: a supervisor may be about to start it again."""
LOOK = 0.5
"""Seconds between two looks."""
_HINT = "It can be tried again: what is started is the same as before."
_LATER = "It may still come up: the console and `bringup status` find it then. Look there before you try it again."
_GOES_ON = "It goes on there: whoever goes on with this waits for it, and does not run it a second time."
_SILENT = "it said nothing since"


@dataclass(frozen=True, slots=True)
class OwnLaunch:
    """A launcher that starts the server by a command of its own."""

    command: str
    says: str = ""
    """Prints the last words of what it has started, of the last {since} seconds; "" where nothing does."""
    words: str = ""
    """What the launcher is, in words: "the docker container llm"."""
    lives: str = ""
    """Tells whether what it has started lives; "" where nothing does."""
    at_work: bool = False
    """The command was run before and is still at work: that one is waited for."""


def own_launch(launcher: Launcher) -> OwnLaunch:
    """Return how a launcher starts its server."""
    return OwnLaunch(launcher.start, launcher.says, launcher.words, launcher.lives)


async def remember(host: Host, claimed: Claim) -> None:
    """Keep the command line of the server that is acted on: by it, the one that its launcher starts is known.

    Raises BringupError where it cannot be kept; nothing was done then.
    """
    done = await host.run(script("remember.sh", claimed.folder, claimed.token), limit=4096)
    if done.stdout.strip() != b"kept":
        raise ChannelRefused(
            f"What the server was launched with could not be kept on {host.name}.",
            "Nothing was done. Is there room in /tmp and /dev/shm, and does the server still run?",
            reason="other",
        )


async def start_by_own(
    host: Host, claimed: Claim, launch: OwnLaunch, *, report: Report, pace: Pace, watch: float
) -> Started:
    """Run a launcher's start command, and watch the server that comes of it for `watch` seconds.

    A server that stays is a success although the command is still at work, which goes on then. Raises BringupError
    where a server runs already, and LaunchFailed, which is written down on the host, where the command fails, no server
    appears, it ends at once, or the host does not tell.
    """
    refuse(host.name, await _standing(host, claimed))
    await journal.step(host, claimed, "starting")
    start = _Start(host, claimed, launch, report, pace)
    try:
        found = await start.run(watch)
        return Started(*found, noted=start.notes)
    except _Failed as failed:
        words, status, error = failed.words, failed.status, LaunchFailed(failed.sentence, failed.hint)
    except ChannelRefused as refused:
        what = f"{launch.command} was run on {host.name}, but what came of it could not be seen: {refused.what}"
        words, status, error = refused.what.rstrip("."), "", LaunchFailed(what, _LATER)
    await _fail(host, claimed, words, status)
    raise error


class _Failed(Exception):
    """A start that is given up: in a sentence for the operator, and in the words that are written down."""

    def __init__(self, sentence: str, words: str, status: str = "", hint: str = _HINT) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.words = words
        self.status = status
        self.hint = hint


class _Start:
    """One run of a launcher's start command, and the look for what comes of it."""

    def __init__(self, host: Host, claimed: Claim, launch: OwnLaunch, report: Report, pace: Pace) -> None:
        self._host = host
        self._claimed = claimed
        self._launch = launch
        self._report = report
        self._pace = pace
        self._begun = pace.clock()
        self._failed: Failure | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the command where a server came up, each as a part of a sentence."""
        failed = self._failed
        return () if failed is None else (f"{failed.sentence.rstrip('.')}, and the server came up all the same",)

    async def run(self, watch: float) -> Identity:
        """Return the server that has come up and stayed; raises _Failed."""
        command = self._launch.command
        begins = f"Running on the host: {command}"
        if self._launch.at_work:
            begins = f"{command} is still at work since before: it is waited for, and not run a second time."
        self._tell(begins, START_TIMEOUT)
        task = asyncio.ensure_future(run_start(self._host, self._claimed.folder, command))
        try:
            found = await self._at_work(task) or await self._appeared()
            if not await _stays(self._host, found, self._pace, watch):
                words = await self._says()
                what = f"The new server on {self._host.name} ended at once: {words or _SILENT}."
                raise _Failed(what, words)
            return found
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _at_work(self, task: asyncio.Future[Failure | None]) -> Identity | None:
        """Wait for the command or for a server, whichever comes first; return that one."""
        command = self._launch.command
        while not (await asyncio.wait({task}, timeout=LOOK))[0]:
            found = await self._look()
            if found is not None:
                return found
            left = START_TIMEOUT - (self._pace.clock() - self._begun)
            if left <= 0:
                words = await self._says()
                what = f"{command} is still at work on {self._host.name} after {START_TIMEOUT:.0f} s"
                raise _Failed(f"{what}, and no server appeared: {words or _SILENT}.", words, hint=_GOES_ON)
            self._tell(f"{command} is at work: no server has appeared yet.", left)
        failed = task.result()
        return None if failed is None else await self._despite(failed)

    async def _despite(self, failed: Failure) -> Identity | None:
        """Return the server that a command which failed has started all the same; None where it may still come up."""
        self._tell(f"{failed.sentence} Looking whether a server comes of it all the same.", SURE * LOOK)
        self._failed = failed
        for _ in range(SURE):
            found = await self._look()
            if found is not None:
                return found
            if (await life(self._host, self._launch.lives)).state == "runs":
                return None
            await self._pace.sleep(LOOK)
        raise _Failed(failed.sentence, failed.words, failed.status)

    async def _appeared(self) -> Identity:
        """Return the server that has come up since the action began, as soon as there is one."""
        self._tell(f"{self._launch.command} is done: waiting for the server to appear.", APPEAR)
        begun, ended = self._pace.clock(), 0
        while (found := await self._look()) is None:
            became = await life(self._host, self._launch.lives)
            ended = ended + 1 if became.state == "ended" else 0
            limit = START_TIMEOUT if became.state == "runs" else APPEAR
            left = limit - (self._pace.clock() - begun)
            if ended >= SURE or left <= 0:
                raise await self._never_came(became, limit)
            if became.state:
                self._tell(f"{self._who} {became.became}: its server has not appeared yet.", left)
            await self._pace.sleep(LOOK)
        return found

    async def _never_came(self, became: Life, limit: float) -> _Failed:
        """Return why nothing is waited for any more: what has become of what was started, and what it said last."""
        said = await self._says()
        what = f"{self._who} was started on {self._host.name}"
        if became.state == "ended":
            what += f", and it {became.became}"
        else:
            what += f", but no server appeared within {limit:.0f} s"
            what += f": it {became.became}" if became.state else ""
        hint = _HINT if became.state == "ended" else _LATER
        if self._failed is not None:
            what = f"{self._failed.sentence} {what}"
        words = ": ".join(part for part in (became.words, said) if part)
        return _Failed(f"{what}: {said or _SILENT}.", words, hint=hint)

    @property
    def _who(self) -> str:
        """Who starts the server, at the beginning of a sentence."""
        who = self._launch.words or "the launcher"
        return who[0].upper() + who[1:]

    def _tell(self, text: str, left: float) -> None:
        self._report(Step(text, left, name="starting"))

    async def _look(self) -> Identity | None:
        """Return the new server, where there is one; the look renews the claim."""
        told = await _standing(self._host, self._claimed)
        found = read_identity(told.pop("again", ""))
        if found is None:
            refuse(self._host.name, told)
        return found

    async def _says(self) -> str:
        """Return what was said since the command began."""
        return await says(self._host, self._launch.says, self._pace.clock() - self._begun)


async def _stays(host: Host, found: Identity, pace: Pace, watch: float) -> bool:
    """Say whether a server still runs after `watch` seconds."""
    begun, (pid, start) = pace.clock(), found
    while pace.clock() - begun < watch:
        await pace.sleep(LOOK)
        row = (await processes.list_processes(host, [pid])).get(pid)
        if row is None or row.start != start or row.ended:
            return False
    return True


async def _standing(host: Host, claimed: Claim) -> dict[str, str]:
    done = await host.run(script("standing.sh", claimed.folder, claimed.token), limit=4096)
    return read_facts(done.stdout.decode("utf-8", "replace"))


async def _fail(host: Host, claimed: Claim, words: str, status: str = "") -> None:
    data = words.encode("utf-8", "surrogateescape")
    await host.run(script("failed.sh", claimed.folder, claimed.token, status, len(data)), stdin=data, limit=4096)
