"""A simulated server for commands that act on it, behind a real sshd."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from headless import Way
from simulated import family, said, title

from bringup.demo.host import DemoHost
from bringup.demo.prctl import adopt_orphans


@asynccontextmanager
async def serving(way: Way) -> AsyncIterator[DemoHost]:
    """A server that is up; what is launched again through the sshd leaves the demo's tree, and is ended here."""
    adopt_orphans()
    async with DemoHost("healthy", speed=20) as demo:
        try:
            await said(demo, "fired up")
            yield demo
        finally:
            for pid in family(os.getpid()):
                if str(demo.home.root) in title(pid):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            adopt_orphans(adopt=False)


def port(demo: DemoHost) -> tuple[str, str]:
    """The options that mean this server and no other one."""
    return "--port", str(demo.server_port)
