"""While a launcher's own command is at work its time runs down, however often the number of processes changes."""

from __future__ import annotations

import asyncio

from bringup.core.events import Launcher, Process, Server
from bringup.hosts.base import Completed
from bringup.hosts.control import Pace, Step, Survey
from bringup.hosts.control.own_command import GRACE, OwnStop

SERVER = Server(pid=9, start=1, engine="sglang", argv=("python",), launcher=Launcher(stop="systemctl stop llm"))


class Slow:
    """A host whose command ends when it is told to."""

    name = "box"

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def run(self, command: str, **_: object) -> Completed:
        await self.over.wait()
        return Completed(0, b"status 0\n", b"")


async def test_it_never_begins_anew() -> None:
    host, moment = Slow(), [0.0]
    said: list[tuple[str, float | None]] = []
    left = [Process(pid=each, ppid=1, start=1, title="python") for each in range(3)]

    async def running() -> tuple[Process, ...]:
        return tuple(left)

    async def rest() -> None:
        moment[0] += 4.0
        left.pop()
        if not left:
            host.over.set()
        await asyncio.sleep(0)

    def hear(step: Step) -> None:
        said.append((step.text, step.left))

    pace = Pace(clock=lambda: moment[0])
    await OwnStop(host, Survey(SERVER, ()), 10.0, hear, running, pace).run(rest)  # type: ignore[arg-type]
    assert said[:4] == [
        ("Running on the host: systemctl stop llm", 10.0),
        ("systemctl stop llm is at work; 3 processes still run.", 6.0),
        ("systemctl stop llm is at work; 2 processes still run.", 2.0),
        ("systemctl stop llm is still at work; 1 process still runs.", GRACE - 2.0),
    ]
