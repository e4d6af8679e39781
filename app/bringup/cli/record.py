"""`bringup record HOST -o FILE`: a start into a file, without a screen."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import Host
from bringup.core.errors import BringupError, UsageError

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.session.headless import Look

_LAST = 3.0
"""Seconds for which a start that is over is recorded on, so that a replay shows its end."""


def record(
    host: Host = None,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
) -> int:
    """Record a start into a file until it is over: its log, samples, answers and actions, with secrets masked.

    It ends when the server is ready, has failed or stopped, or with ctrl-c; a stalled start is recorded on. A server
    that is not there yet is waited for. See it again with `bringup replay FILE`.

    Parameters
    ----------
    host
        A target of the configuration, or whatever `ssh HOST` takes. Nothing for this machine.
    output
        The file; it must not be there yet, and is readable for you only.
    log
        Read this log instead of the one the server is found to write.
    port
        The server on this port.
    pid
        The server with this process ID.
    """
    from bringup.cli.output import emit
    from bringup.cli.targets import choose, configuration

    if output is None:
        raise UsageError("It is not said where to record to.", "Give a file: `bringup record HOST -o FILE`.")
    if output.exists():
        raise BringupError(f"{output} is there already.", "Give another name: a recording is never written over.")
    chosen = choose(host, log=log, port=port, pid=pid, config=configuration())
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


class _Run:
    """One recording, and what is to be said of it."""

    def __init__(self, chosen: Chosen, output: Path) -> None:
        self._chosen = chosen
        self._output = output
        self._over_since: float | None = None
        self.said = ""
        """What was recorded, and where it is; empty before anything was."""
        self.trouble = ""

    async def until_over(self) -> None:
        """Record until the start is over; raises BringupError."""
        from bringup.cli.headless import connected
        from bringup.cli.progress import Progress

        progress = Progress()
        try:
            async with connected(self._chosen) as (session, headless), aclosing(headless.looks()) as looks:
                recorder = session.recorder
                if recorder is None:
                    raise BringupError("Nothing can be recorded of this host.")
                await recorder.begin(self._output)
                try:
                    async for look in looks:
                        progress.tell(look)
                        if recorder.trouble or self._is_over(look):
                            break
                finally:
                    self.trouble = recorder.trouble
                    self.said = f"{await recorder.end()} {headless.look().verdict.summary}"
        finally:
            progress.end()

    def _is_over(self, look: Look) -> bool:
        from bringup.session.recorder import OVER

        if not look.settled or look.verdict.state not in OVER:
            self._over_since = None
        elif self._over_since is None:
            self._over_since = look.elapsed
        return self._over_since is not None and look.elapsed - self._over_since >= _LAST
