"""A wait that is begun while somebody restarts the server, on this machine: the claim is real, and so is the finder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from adopted import adopting
from engineserver import Place
from fakehost import make_smi
from placedhost import Placed
from relaunched import PROGRAM
from sshd import free_port
from waiting import alive, eventually, is_listening

from bringup.cli.progress import Progress
from bringup.cli.targets import Chosen
from bringup.cli.wait import Waiter
from bringup.hosts.base import Host
from bringup.hosts.local import LocalHost
from bringup.session.headless import Headless
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target
from bringup.session.waiting import LATE, Terms

pytestmark = pytest.mark.long


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    monkeypatch.setenv("BRINGUP_PLACES", str(made.folder / "run"))
    with adopting(str(made.folder)):
        yield made
        made.end()


@asynccontextmanager
async def watching(place: Place, knowledge: Knowledge, target: Target) -> AsyncIterator[Session]:
    async def connect() -> Host:
        return Placed(LocalHost("box"), place.environ)

    session = Session(connect, target, knowledge)
    await session.open()
    try:
        yield session
    finally:
        await session.close()


async def test_the_new_server_is_waited_for(
    place: Place, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.folder / "sglang" / "launch_server.py").write_text(PROGRAM)
    (place.folder / "words").write_text("ready")
    port = free_port()
    started = place.start(*place.command("--port", str(port)))
    await eventually(lambda: (place.folder / "pids" / str(started.pid)).exists() and is_listening(started.pid))
    # The driver keeps the memory of the old server until this says something else.
    make_smi(place.folder, "", f"{started.pid}, 9000\n")
    async with watching(place, knowledge, Target("box", port=port)) as theirs:
        await eventually(lambda: theirs.verdict().state == "ready", 60)
        plan = replace(await theirs.plan(), regardless=True)
        restart = asyncio.create_task(theirs.restart(plan))
        try:
            await eventually(lambda: theirs.state.action is not None and theirs.state.action.name == "waiting", 60)
            assert not alive(started.pid)
            target = Target("box", port=port, log=str(place.log))
            async with watching(place, knowledge, target) as session:

                @asynccontextmanager
                async def watched(*_: object, **__: object) -> AsyncIterator[Headless]:
                    yield Headless(session)

                monkeypatch.setattr("bringup.cli.headless.watched", watched)
                waiter = Waiter(cast(Chosen, None), Terms(), Progress())
                wait = asyncio.create_task(waiter.run())
                await asyncio.wait((wait,), timeout=LATE + 8)
                assert not wait.done(), f"it has ended: {wait.result().verdict}"
                assert session.state.server is None
                assert "restarted by" in session.verdict().summary
                (place.folder / "apps.csv").write_text("")
                look = await asyncio.wait_for(wait, 60)
                assert (look.verdict.state, look.state.server and look.state.server.pid) == ("ready", await place.one())
        finally:
            (place.folder / "apps.csv").write_text("")
            await restart
