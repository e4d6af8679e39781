"""A simulated server for commands that act on it, behind a real sshd."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adopted import adopting
from headless import Way
from simulated import said

from bringup.demo.host import DemoHost


@asynccontextmanager
async def serving(way: Way) -> AsyncIterator[DemoHost]:
    """A server that is up; what is launched again through the sshd leaves the demo's tree, and is ended here."""
    async with DemoHost("healthy", speed=20) as demo:
        with adopting(str(demo.home.root)):
            await said(demo, "fired up")
            yield demo


def port(demo: DemoHost) -> tuple[str, str]:
    """The options that mean this server and no other one."""
    return "--port", str(demo.server_port)
