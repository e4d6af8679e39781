"""A server that prints the time of another zone than the host's: its failure is its own."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from waiting import eventually

from bringup.core.assess import assess
from bringup.core.events import HostSeen, LogTarget, Server, ServerFound
from bringup.engines.patience import load_policy
from bringup.hosts.local import LocalHost
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture

PATIENCE = 60.0
ARGUMENTS = "server_args=ServerArgs(model_path='/models/tiny', tp_size=1, port=30000)"
FAILURE = "Scheduler hit an exception: Traceback (most recent call last):"
FRAME = '  File "/opt/sglang/srt/managers/scheduler.py", line 9, in run_scheduler_process\n    self.load_model()\n'
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def stamped(at: float, zone: str, text: str) -> str:
    return f"[{datetime.fromtimestamp(at, ZoneInfo(zone)):%Y-%m-%d %H:%M:%S}] {text}\n"


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize(
    ("host", "zone"),
    [("UTC", "UTC"), ("UTC", "America/New_York"), ("UTC", "Asia/Kathmandu"), ("America/New_York", "UTC")],
)
async def test_a_failure_in_a_fresh_log(tmp_path: Path, knowledge: Knowledge, host: str, zone: str, late: bool) -> None:
    now = time.time()
    log = tmp_path / "server.log"
    log.write_text(stamped(now - 30, zone, ARGUMENTS) + stamped(now - 5, zone, FAILURE) + FRAME + OOM + "\n")
    os.utime(log, (now - 5,) * 2)
    picture = Picture("box")
    east = datetime.fromtimestamp(now, ZoneInfo(host)).utcoffset()
    assert east is not None
    seen = HostSeen(at=now, node="box", system="Linux", user="op", utc_offset=east.total_seconds())
    server = Server(pid=7, start=7, engine="sglang", argv=("python3",), started_at=now - 40)
    found = ServerFound(at=now, server=server)
    picture.apply([seen] if late else [seen, found])
    logs = Logs(picture, knowledge, HostClock())
    task = asyncio.create_task(logs.follow(LocalHost(), [LogTarget(str(log), "file")]))
    try:
        await eventually(lambda: len(picture.recent) > 4 and logs.is_level, PATIENCE)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    if late:
        picture.apply([found])
    verdict = assess(picture.state, now, load_policy())
    assert (verdict.state, verdict.cause is not None and verdict.cause.kind) == ("failed", "oom")
    assert verdict.attempt == 1
