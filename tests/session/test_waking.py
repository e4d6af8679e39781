"""After a sleep a dead connection is noticed at once, a living one is kept; waits before a new try are spread."""

from __future__ import annotations

import asyncio
from itertools import islice

import pytest

from bringup.core.errors import ChannelRefused, ConnectionLost, Reason
from bringup.hosts.base import Completed
from bringup.session import waking
from bringup.session.backoff import waits
from bringup.session.waking import dead_after_sleep


class Box:
    """A host that answers, or does not."""

    name = "box"

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)

    async def run(self, script: str, **_: object) -> Completed:
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer
        return Completed(0, b"", b"")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "EVERY", 0.001)


def refused(reason: Reason) -> ChannelRefused:
    return ChannelRefused("It did not work.", reason=reason)


async def ends(box: Box, sleeps: list[float]) -> str:
    """Watch a box through looks at the clock that are this late; it must not be asked again after the last answer."""
    now, steps = 0.0, iter(step for sleep in sleeps for step in (0.0, sleep))

    def clock() -> float:
        nonlocal now
        now += next(steps, 0.0)
        return now

    async with asyncio.timeout(60):
        return await dead_after_sleep(box, clock)  # type: ignore[arg-type]


async def test_a_dead_connection_is_noticed_after_a_sleep(quick: None) -> None:
    why = await ends(Box(ConnectionLost("It ended.")), [0.1, 0.1, 300.0])
    assert why == "This machine slept for 5 min, and box does not answer any more."


async def test_no_answer_is_an_answer(quick: None) -> None:
    assert "slept" in await ends(Box(refused("timeout")), [60.0])


async def test_a_living_connection_is_kept(quick: None) -> None:
    box = Box(None, refused("other"), ConnectionLost("It ended."))
    await ends(box, [60.0, 0.1, 60.0, 0.1, 60.0])
    assert box.answers == []


def test_waits_double_and_are_spread() -> None:
    assert list(islice(waits(lambda: 0.0), 7)) == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert list(islice(waits(lambda: 1.0), 3)) == pytest.approx([0.35, 0.7, 1.4])
