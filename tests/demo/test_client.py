"""The console's own SSH client on the simulated host: every way in that it uses."""

import asyncio

import pytest
from simulated import PATIENCE, family, needs_linux, title
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.demo.host import DemoHost
from bringup.hosts.ssh import SshHost

pytestmark = needs_linux


async def test_the_client_runs_follows_and_connects() -> None:
    async with DemoHost(speed=25) as demo:
        host = await SshHost.login("demo", options=demo.options)
        try:
            done = await host.run("echo here; cat; exit 3", stdin=b"\xff\x00given")
            assert (done.status, done.stdout) == (3, b"here\n\xff\x00given")
            log = await host.open(str(demo.home.log))
            offset, text = 0, b""
            async with asyncio.timeout(PATIENCE):
                while b"fired up and ready to roll!" not in text:
                    look = await log.look(offset, 1 << 16)
                    offset += len(look.data)
                    text += look.data
                    await asyncio.sleep(0.05)
            assert text == demo.home.log.read_bytes()[: len(text)]
            await log.close()
            front = await host.connect("127.0.0.1", demo.server_port)
            await front.write(b"GET /health HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n")
            assert (await front.read()).startswith(b"HTTP/1.1 200 OK\r\n")
            await front.close()
            with pytest.raises(ChannelRefused) as refused:
                await host.connect("192.0.2.1", 80)
            assert refused.value.reason == "forbidden"
        finally:
            await host.close()


async def test_the_client_ends_its_streams_on_the_host() -> None:
    async with DemoHost(launch=False) as demo:
        host = await SshHost.login("demo", options=demo.options)
        try:
            async with host.stream("echo up; sleep 606") as stream:
                assert await stream.read() == b"up\n"
            await eventually(lambda: not any(title(pid) == "sleep 606" for pid in family(demo.within)), PATIENCE)
        finally:
            await host.close()


async def test_the_client_notices_that_the_host_is_gone() -> None:
    demo = DemoHost(launch=False)
    async with demo:
        host = await SshHost.login("demo", options=demo.options)
    try:
        assert await asyncio.wait_for(host.closed(), PATIENCE)
    finally:
        await host.close()
