"""`bringup record HOST -o FILE`: a start into a file, without a screen."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import Hosts
from bringup.cli.which import ANY, Which
from bringup.core.errors import BringupError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bringup.cli.targets import Chosen
    from bringup.session.headless import Look
    from bringup.session.recorder import Recorder
    from bringup.session.session import Session

_LAST = 3.0
"""Seconds for which a start that is over is recorded on, so that a replay shows its end."""


def record(
    *hosts: Hosts,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    which: Which = ANY,
) -> int:
    """Record a start into a file until it is over: its log, samples, answers and actions, with secrets masked.

    It ends when the server is ready, has failed or stopped, or with ctrl-c; a stalled start is recorded on. A server
    that is not there yet is waited for. See it again with `bringup replay FILE`.

    Parameters
    ----------
    hosts
        A target of the configuration, or whatever `ssh HOST` takes; several are the nodes of one start, the head node
        first. Nothing for this machine.
    output
        The file; it must not be there yet, and is readable for you only. Several hosts have one each: start.bringup
        becomes start.node1.bringup and start.node2.bringup.
    """
    from bringup.cli.output import emit

    if output is None:
        raise UsageError("It is not said where to record to.", "Give a file: `bringup record HOST -o FILE`.")
    chosen = which.chosen(hosts)
    _refuse_taken(output, chosen)
    run = _Run(chosen, output)
    try:
        asyncio.run(run.until_over())
    except KeyboardInterrupt:
        if not run.said:
            raise
    if run.trouble:
        raise BringupError(run.trouble, "What came before is in the file.")
    emit(f"{run.said}\n")
    return 0


def _refuse_taken(output: Path, chosen: Chosen) -> None:
    """Raise BringupError for a file that is there or cannot be, before anything is asked of a host."""
    from bringup.recordings.place import one_each

    if output.is_dir():
        raise UsageError(f"{output} is a folder.", "Give -o the name of a file in it.")
    if not output.parent.is_dir():
        raise UsageError(f"There is no folder {output.parent}.", "Make it, or give -o another place.")
    names = [node.target.name for node in chosen.nodes or (chosen,)]
    taken = next((file for file in one_each(output, names) if file.exists()), None)
    if taken is not None:
        raise BringupError(f"{taken} is there already.", "Give another name: a recording is never written over.")


class _Run:
    """One recording, of one host or of each of several, and what is to be said of it."""

    def __init__(self, chosen: Chosen, output: Path) -> None:
        self._chosen = chosen
        self._output = output
        self._over_since: float | None = None
        self.said = ""
        """What was recorded, and where it is; empty before anything was."""
        self.trouble = ""

    async def until_over(self) -> None:
        """Record until the start is over; raises BringupError."""
        from bringup.cli.headless import all_connected
        from bringup.cli.progress import Progress

        progress = Progress()
        try:
            chosen = await self._running()
            async with all_connected(chosen) as (sessions, headless), aclosing(headless.looks()) as looks:
                recorders = await self._begun(sessions)
                try:
                    async for look in looks:
                        progress.tell(look)
                        if any(each.trouble for each in recorders) or self._is_over(look):
                            break
                finally:
                    self.trouble = next((each.trouble for each in recorders if each.trouble), "")
                    told = [await each.end() for each in recorders]
                    self.said = "\n".join([*told[:-1], f"{told[-1]} {headless.look().verdict.summary}"])
        finally:
            progress.end()

    async def _running(self) -> Chosen:
        """Return what is recorded; a job of Slurm is waited for, and told when that for which it waits changes."""
        from bringup.cli.asking import TerminalAsk
        from bringup.cli.jobs import awaited
        from bringup.cli.own_files import complain

        said = ""
        async for found in awaited(self._chosen, TerminalAsk):
            if not isinstance(found, str):
                return found
            if found != said:
                said = found
                complain(found)
        raise AssertionError("a job that is waited for runs at last, or is over")

    async def _begun(self, sessions: Sequence[tuple[str, Session]]) -> list[Recorder]:
        """Begin a file for each host; where one cannot be made, those that were are ended."""
        from bringup.recordings.place import one_each

        files = one_each(self._output, [name for name, _ in sessions])
        recorders: list[Recorder] = []
        try:
            for (name, session), file in zip(sessions, files, strict=True):
                if session.recorder is None:
                    raise BringupError(f"Nothing can be recorded of {name}.")
                await session.recorder.begin(file)
                recorders.append(session.recorder)
        except BringupError:
            for recorder in recorders:
                await recorder.end()
            raise
        return recorders

    def _is_over(self, look: Look) -> bool:
        from bringup.session.recorder import OVER

        if not look.settled or look.verdict.state not in OVER:
            self._over_since = None
        elif self._over_since is None:
            self._over_since = look.elapsed
        return self._over_since is not None and look.elapsed - self._over_since >= _LAST
