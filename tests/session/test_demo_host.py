"""The console's session on the demo's own SSH server: what only the simulated host has."""

from __future__ import annotations

from simulated import needs_linux, ranks
from waiting import eventually

from bringup.demo.host import DemoHost
from bringup.hosts.base import Host
from bringup.hosts.ssh import SshHost
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target

pytestmark = needs_linux


async def test_eight_gpus_hold_the_memory_of_eight_ranks_until_it_is_stopped(knowledge: Knowledge) -> None:
    async with DemoHost("healthy", speed=10) as demo:

        async def connect() -> Host:
            return await SshHost.login("demo", options=demo.options)

        session = Session(connect, Target(name="demo", within=demo.within), knowledge)
        await session.open()
        try:
            await eventually(lambda: session.verdict().state == "ready", 60.0)
            await eventually(lambda: len(session.state.gpu.apps) == 8, 60.0)
            assert {app.pid for app in session.state.gpu.apps} == set(ranks(demo).values())
            assert {view.rank: view.gpu for view in session.verdict().ranks} == {rank: rank for rank in range(8)}
            await eventually(lambda: session.state.http is not None and session.state.http.status == 200, 60.0)
            await session.stop(await session.plan(), "KILL")
            await eventually(lambda: session.state.gpu.apps == (), 60.0)
            assert session.state.action is not None
            assert session.state.action.ended
        finally:
            await session.close()
