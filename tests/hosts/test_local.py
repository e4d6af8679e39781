"""What is special about this machine as a host; the rest is in test_contract."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import alive, eventually, pid_in

from bringup.core.errors import ChannelRefused
from bringup.hosts.local import LocalHost

WATCHER = """
import asyncio, sys
from bringup.hosts.local import LocalHost
async def main():
    async with LocalHost().stream(f"echo $$ > {sys.argv[1]}; while :; do sleep 1; done") as stream:
        await stream.read()
asyncio.run(main())
"""


def test_it_has_the_name_of_this_machine() -> None:
    assert LocalHost().name == socket.gethostname()
    assert LocalHost("box").name == "box"


async def test_it_cannot_be_lost() -> None:
    waiting = asyncio.ensure_future(LocalHost().closed())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_a_stream_ends_even_when_we_are_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    watcher = subprocess.Popen([sys.executable, "-c", WATCHER, file])
    pid = await pid_in(file)
    assert alive(pid)
    os.kill(watcher.pid, signal.SIGKILL)
    watcher.wait(60)
    await eventually(lambda: not alive(pid))


async def test_a_command_that_ignores_the_signal_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bringup.hosts.local.END_TIMEOUT", 0.2)
    file = tmp_path / "pid"
    script = f"trap '' TERM; echo $$ > {file}; while :; do sleep 0.05; done"
    for timeout in (0.5, 5.0, 25.0):
        with pytest.raises(ChannelRefused, match="did not end within"):
            await LocalHost().run(script, timeout=timeout)
        if file.exists():  # A machine on which it does not even begin within that time is given more.
            break
    pid = await pid_in(file)
    await eventually(lambda: not alive(pid))


async def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(ChannelRefused, match=r"no-such-host\.invalid:80"):
        await LocalHost("box").connect("no-such-host.invalid", 80)
