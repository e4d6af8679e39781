"""What still runs of a server whose stop was cut off is planned from what was written down, and ended."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from simulated import needs_linux
from waiting import eventually

from bringup.hosts.control import Claim, Unfinished
from bringup.hosts.control.left_open import all_unfinished
from bringup.hosts.local import LocalHost
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.target import Target

pytestmark = needs_linux


def start_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


@contextmanager
def sleeping(*, apart: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not outlive the test, whatever becomes of it."""
    with subprocess.Popen(["sleep", "600"], start_new_session=apart) as made:
        try:
            yield made
        finally:
            made.kill()


async def test_exactly_the_rest_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRINGUP_PLACES", str(tmp_path))
    with sleeping(apart=True) as part, sleeping() as other:
        identity = (part.pid, start_of(part.pid))
        about = "the vllm server on port 31979 (PID 9)"
        known = {"engine": "vllm", "port": 31979, "alive": (identity,)}
        left = Unfinished(Claim("", ""), "stop", "stopping", about, (4194305, 1), **known)  # type: ignore[arg-type]
        host = LocalHost()
        actions = Actions(Target("box"), Picture("box"), HostClock(), Knowledge((), None, None))  # type: ignore[arg-type]
        plan = await actions.plan(host, Picture("box").state, left)
        assert [(each.pid, each.start) for each in plan.members] == [identity]
        assert (plan.server.engine, plan.server.port) == ("vllm", 31979)
        assert plan.restartable, "there is nothing to launch it again from"
        await actions.stop(host, plan)
        await eventually(lambda: part.poll() == -signal.SIGTERM)
        assert other.poll() is None
        assert await all_unfinished(host) == ()
