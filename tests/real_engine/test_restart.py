"""A real engine started, watched to ready, restarted and stopped through a real sshd. Takes minutes; run by hand:

    BRINGUP_REAL_LAUNCH='V/bin/vllm serve MODEL --port {port} ...' pytest -n 0 -s tests/real_engine

The command is run by a shell in the current folder, with the current environment; `{port}` becomes a free port.
"""

from __future__ import annotations

import os
import shlex
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from session_watch import watching_own
from sshd import Sshd
from waiting import alive, eventually

from bringup.core.verdict import Verdict
from bringup.hosts.ssh import SshHost
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session

LAUNCH = os.environ.get("BRINGUP_REAL_LAUNCH", "")
PATIENCE = 900.0
pytestmark = pytest.mark.skipif(not LAUNCH, reason="BRINGUP_REAL_LAUNCH names no engine")


class Story:
    """Prints every change of the verdict with its time, and refuses what must never be said on the way."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._began = time.monotonic()
        self._said = ""
        self.states: list[str] = []

    def look(self) -> Verdict:
        verdict = self._session.verdict()
        told = f"{verdict.state:9} {verdict.phase or '-':12} {verdict.summary}"
        if told != self._said:
            self._said = told
            print(f"{time.monotonic() - self._began:7.1f} s  {told}")
        if self.states[-1:] != [verdict.state]:
            self.states.append(verdict.state)
        return verdict

    async def until(self, holds: Callable[[Verdict], bool]) -> Verdict:
        await eventually(lambda: holds(self.look()), PATIENCE)
        return self.look()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def launch(server: Sshd, log: Path, port: int) -> None:
    """Start the engine as an operator would who logs in and leaves again."""
    host = await SshHost.login("box", options=server.options())
    exports = "".join(
        f"export {name}={shlex.quote(value)}\n"
        for name, value in os.environ.items()
        if name.isidentifier() and name not in ("_", "PWD", "SHLVL")
    )
    command = LAUNCH.format(port=port)
    script = f"cd {shlex.quote(str(Path.cwd()))}\n{exports}nohup {command} >{shlex.quote(str(log))} 2>&1 </dev/null &\n"
    await host.run(script)
    await host.close()


async def test_started_watched_restarted_stopped(real_sshd: Sshd, knowledge: Knowledge, tmp_path: Path) -> None:
    log, port = tmp_path / "server.log", free_port()
    async with watching_own(real_sshd, knowledge, mark=str(port)) as session:
        story = Story(session)
        await story.until(lambda verdict: verdict.state == "waiting")
        await launch(real_sshd, log, port)
        ready = await story.until(lambda verdict: verdict.state in ("ready", "failed"))
        assert ready.state == "ready", log.read_text(errors="replace")[-3000:]
        assert not {"stalled", "failed", "degraded", "stopped"} & set(story.states)
        first = session.state.server
        assert first is not None
        before = log.read_bytes()

        print("--- restart")
        await session.restart(await session.plan())
        again = await story.until(lambda verdict: verdict.state in ("ready", "failed") and verdict.attempt >= 2)
        second = session.state.server
        assert again.state == "ready"
        assert second is not None
        assert second.pid != first.pid
        assert second.argv == first.argv
        assert not alive(first.pid)
        kept = [path for path in tmp_path.iterdir() if path.read_bytes().startswith(before[:4096])]
        assert kept, "the log of the first launch is gone"

        print("--- stop")
        members = [process.pid for process in session.state.processes]
        await session.stop(await session.plan())
        await story.until(lambda verdict: verdict.state == "stopped")
        assert not [pid for pid in members if alive(pid)]
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
