"""A look that takes too long is no answer: it is repeated, and what was promised is done all the same."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
from cutting import servers
from engineserver import Place
from placedhost import Placed
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.core.events import Server
from bringup.hosts.base import Completed
from bringup.hosts.control import Pace, Step, claim, stop, survey
from bringup.hosts.shipped import read_script

pytestmark = pytest.mark.long
LOOK = read_script("control/list.sh").strip()
SIGNAL = read_script("control/signal.sh").strip()


class Stuck(Placed):
    """A host on which some scripts hang, and are ended as any are that take too long."""

    def __init__(self, host: Placed, place: Place, hangs: Callable[[str], bool]) -> None:
        super().__init__(host.inner, place.environ)
        self._hangs = hangs
        self.hung = 0

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        if not self._hangs(script):
            return await super().run(script, stdin=stdin, timeout=timeout, limit=limit)
        self.hung += 1
        return await self.inner.run(f"sleep 77\n{script}", stdin=stdin, timeout=0.2, limit=limit)


def pace(drain: float) -> Pace:
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds * 10
        await asyncio.sleep(seconds / 10)

    return Pace(drain=drain, sleep=sleep, clock=lambda: now[0])


async def deaf(host: Placed, place: Place) -> Server:
    place.start(*place.command("--deaf", "--child"))
    await eventually(lambda: len(place.running()) == 2)
    (pid,) = servers(place)
    return await place.see(host, pid)


async def test_one_slow_look_does_not_end_a_stop_in_the_middle(host: Placed, place: Place) -> None:
    server = await deaf(host, place)
    slow = Stuck(host, place, lambda script: LOOK in script and len(said) > 0 and slow.hung < 2)
    said: list[Step] = []
    claimed = await claim(host, server, "stop", token="ours")
    came = await stop(slow, await survey(host, server), report=said.append, pace=pace(40.0), claimed=claimed)
    assert slow.hung == 2
    assert (came.complete, len(came.killed), place.running()) == (True, 2, [])
    texts = [step.text for step in said]
    ended = "A command on box did not end within 0.2 s and was ended."
    assert f"{ended} When last seen, 2 processes still run; it is looked again." in texts
    assert "SIGKILL goes to 2 processes." in texts


async def test_a_stop_on_a_host_that_does_not_answer_ends_with_what_was_last_known(local: Placed, place: Place) -> None:
    server = await deaf(local, place)
    said: list[Step] = []
    slow = Stuck(local, place, lambda _: any("still run" in step.text for step in said))
    came = await stop(slow, await survey(local, server), report=said.append, pace=pace(20.0))
    assert not came.complete
    assert len(came.remains) == 2
    assert re.match(
        r"No process ended .*; 2 ran when last seen \(A command on box did not end .*\): python", came.sentence
    )
    assert any(step.text == "SIGKILL goes to 2 processes." for step in said), "it is tried all the same"


async def test_it_is_told_where_nobody_knows_whether_a_signal_has_arrived(local: Placed, place: Place) -> None:
    server = await deaf(local, place)
    slow = Stuck(local, place, lambda script: SIGNAL in script)
    with pytest.raises(
        ChannelRefused, match="Whether SIGTERM has reached 1 process on box is not known: A command on box"
    ):
        await stop(slow, await survey(local, server), report=lambda _: None, pace=pace(20.0))
