"""An error that stood in the log already may be of the start before: a wait for a young server does not end with it."""

from __future__ import annotations

import pytest
from playedsession import Played
from timeline import ROOT, START, Timeline

from bringup.core.events import Fault, LinesRead, LogWritten, ServerGone
from bringup.session.headless import Look
from bringup.session.waiting import YOUNG, Terms, Wait

NEVER = Terms()


def mixed() -> Timeline:
    """Come to a server, 5 s old, with an error in a log that it may have written to."""
    line = Timeline(t=5).found().spawn(2).add(Fault(at=0.0, kind="import", text="ImportError: x"))
    return line.add(LinesRead(at=0.0, size=900, lines=9, unknown=3), LogWritten(at=START + 3, whole=True))


async def waited(line: Timeline, at: int = 0, terms: Terms = NEVER, **does: object) -> Look:
    """Wait until it ends; at one second something happens."""

    def second(number: int) -> None:
        line.fault_in(0).fault_in(1).sample()
        if number == at and "ends" in does:
            line.add(ServerGone(at=line.now, pid=ROOT))
        elif number == at and "fails" in does:
            line.fault("import", "ImportError: y")
        elif number == at and "launches" in does:
            line.launch(tp=2)

    return await Played(line, second).until(Wait(terms).is_over, 150.0)


async def test_an_error_of_its_own_shows_when_nothing_else_comes() -> None:
    line = mixed()
    look = await waited(line)
    assert look.verdict.state == "failed"
    assert YOUNG - 1 < line.t < YOUNG + 2


@pytest.mark.parametrize("does", ["ends", "fails"])
async def test_what_proves_it_ends_the_wait(does: str) -> None:
    look = await waited(mixed(), 10, **{does: True})
    assert look.verdict.state == "failed"
    assert look.elapsed < 12


async def test_the_launch_shows_that_it_was_of_the_start_before() -> None:
    line = mixed()
    with pytest.raises(AssertionError, match=r"still (starting|slow) after 150"):
        await waited(line, 10, launches=True)


async def test_a_timeout_counts_all_the_same() -> None:
    look = await waited(mixed(), terms=Terms(timeout=20))
    assert (look.verdict.state, look.elapsed < 21) == ("failed", True)
