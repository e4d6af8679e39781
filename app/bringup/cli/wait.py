"""`bringup wait [HOST]`: the health loop done right."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import Hosts
from bringup.cli.which import ANY, Which
from bringup.core.errors import Unreachable, UsageError

if TYPE_CHECKING:
    from bringup.cli.progress import Progress
    from bringup.cli.targets import Chosen
    from bringup.session.headless import Look
    from bringup.session.queued import Looker
    from bringup.session.waiting import Terms

_FRESH = 10
"""Looks, ten of which are a second, after which the host is asked anew what others do to a server that has ended."""


def wait(
    *hosts: Hosts,
    timeout: str | None = None,
    stall: str | None = None,
    appear: str | None = None,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
    which: Which = ANY,
) -> int:
    """Wait until the server is ready, or has failed, stalled or stopped; never give up on one that makes progress.

    Progress goes to standard error, the verdict at the end to standard output. The exit code tells the state: 0 ready,
    1 failed, 2 wrong command line or configuration, 3 stalled, 4 the host cannot be reached, 5 degraded, 6 the time
    that --timeout gives is over, 7 no server came within --appear, 8 stopped, 9 standby.

    Parameters
    ----------
    hosts
        A target of the configuration, or whatever `ssh HOST` takes; several are the nodes of one start, the head node
        first. Nothing for this machine.
    timeout
        Give up after so long, whatever is going on: 90, 90s, 10m, 1h. Without it, never.
    stall
        Call it stalled after so long without any sign of work, instead of what each phase explains.
    appear
        Give up when no server was found after so long. Without it, a server is waited for.
    as_json
        Print the verdict as JSON, schema version 1.
    """
    from bringup.cli.notify import notifier_of
    from bringup.cli.progress import Progress
    from bringup.cli.status import answer
    from bringup.session.waiting import ENDS, Terms

    terms = Terms(_seconds("--timeout", timeout), _seconds("--appear", appear), _seconds("--stall", stall))
    if terms.stall == 0:
        raise UsageError("Nobody shows work all the time: a --stall of 0 cannot be.", "Give --stall 1s or more.")
    chosen = which.chosen(hosts)
    waiter = Waiter(chosen, terms, Progress())
    try:
        look = asyncio.run(waiter.run())
    except KeyboardInterrupt:
        waiter.tell_interrupted()
        raise
    if look.verdict.state in ENDS and (tell := notifier_of(chosen)) is not None:
        tell(look.verdict.state, look.verdict.summary)
    code = answer(look, chosen, as_json=as_json)
    return waiter.missed(look) or code


class Waiter:
    """One wait, and what was known last."""

    def __init__(self, chosen: Chosen, terms: Terms, progress: Progress) -> None:
        from bringup.session.waiting import Wait

        self._chosen = chosen
        self._stall = terms.stall
        self._wait = Wait(terms)
        self._progress = progress
        self._last: Look | None = None
        self._fresh = 0
        """Looks for which the answer of a host about what others do still holds."""
        self._asked = False
        """The host was asked early what others do."""

    async def run(self) -> Look:
        """Return the look with which the wait ended; raises BringupError where it cannot go on."""
        from bringup.cli.headless import watched

        try:
            async with (
                watched(self._chosen, stall=self._stall, watches=True) as looker,
                aclosing(looker.looks()) as looks,
            ):
                async for look in looks:
                    if not self._is_over(look):
                        self._fresh = 0
                        await self._ask_early(looker, look)
                    elif await self._is_the_end(looker, look):
                        return look
        finally:
            self._progress.end()
        raise AssertionError("looks never end by themselves")

    async def _is_the_end(self, looker: Looker, look: Look) -> bool:
        """Say whether it ends with this look: beside a restart by somebody else, the new server is waited for."""
        from bringup.session.waiting import comes_again

        if not self._wait.may_come_again(look):
            return True
        if self._fresh == 0:
            await looker.ask_others()
            self._fresh = _FRESH
            return False
        self._fresh -= 1
        return not comes_again(look)

    async def _ask_early(self, looker: Looker, look: Look) -> None:
        """Ask once before an old log ends it: a restart may be done by then, and its server not found yet."""
        if self._asked or look.state.server is not None or not look.settled or not self._wait.may_come_again(look):
            return
        self._asked = True
        await looker.ask_others()

    def missed(self, look: Look) -> int:
        """Return the exit code for a server that did not come, after saying so; 0 where another end came first."""
        from bringup.cli.exits import BY_STATE
        from bringup.cli.own_files import complain

        if not self._wait.is_missed(look):
            return 0
        if look.verdict.state != "waiting":
            complain("No server was found in the time that --appear gives: what is told is what an old log says.")
        return BY_STATE["waiting"]

    def tell_interrupted(self) -> None:
        """Say on standard error what was known when the operator broke it off."""
        from bringup.cli.own_files import complain

        if self._last is None:
            complain("Broken off before anything was known.")
        else:
            verdict = self._last.verdict
            complain(f"Broken off. The last that was known: {verdict.state}. {verdict.summary}")

    def _is_over(self, look: Look) -> bool:
        self._last = look
        if self._wait.ran_out(look):
            why = look.state.link.why or "It was still being made."
            what = f"The time was over while there was no connection to {self._chosen.target.name}: {why}"
            raise Unreachable(what, f"The last that was known: {look.verdict.state}. {look.verdict.summary}")
        self._progress.tell(look)
        return self._wait.is_over(look)


def _seconds(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    from bringup.config.durations import FORM, read_duration

    try:
        return read_duration(text)
    except ValueError as error:
        raise UsageError(f"{option} takes {FORM}, and {text!r} was given.", "Without a unit it is seconds.") from error
