"""The loop of a shell script that gave up after ten minutes, replaced by `bringup wait`: right on each recording.

Starts that are made here are written in both formats of recordings and played at 20 times.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loggen import sglang_chunks
from waitedrecording import load, waited

from bringup.cli.exits import BY_STATE
from bringup.core.events import LinkChanged
from bringup.recordings.encoder import Encoder, LogPiece
from bringup.recordings.writer import Writer
from bringup.session.knowledge import Knowledge
from bringup.session.waiting import ENDS, Terms, impatient

WALL = 1_772_442_854.0
HEAD = {"recording": 1, "engine": "sglang", "version": "0.5.15", "hardware": "none", "what": "a test", "truth": {}}
COMMAND = ["python3", "-m", "sglang.launch_server", "--model-path", "/models/target", "--tp-size", "2"]
OOM = (
    "[2026-03-02 09:15:30 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/sglang/scheduler.py", line 3, in run\n    load()\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n\n"
    "[2026-03-02 09:15:31] Received sigquit from a child process. It usually means the child failed.\n"
)
TERM = "[2026-03-02 09:15:30] SIGTERM received. signum=None frame=None. Draining requests and shutting down...\n"
Row = dict[str, Any]


class Start:
    """Rows of a recorded start on two ranks, told from its log; `quiet` from a moment on nothing works any more."""

    def __init__(self, until: str, length: float, quiet: float = 1e9, **log: Any) -> None:
        chunks = sglang_chunks("0.5.15", tp=2, until=until, **log)
        self.end = chunks[-1][0]
        """When its last line came."""
        self.rows: list[Row] = [{"t": 0.0, "event": {"ev": "start", "pid": 10, "wall": WALL, "cmd": COMMAND}}]
        self.rows += [{"t": t, "log": data.decode("latin-1")} for t, data in chunks]
        self._gone: dict[int, float] = {}
        self._length = self.end + length
        self._quiet = self.end + quiet

    def say(self, text: str, after: float) -> Start:
        self.rows.append({"t": self.end + after, "log": text})
        return self

    def answer(self, after: float) -> Start:
        for second in range(int(self.end + after), int(self._length)):
            self.rows.append({"t": float(second), "http": {"path": "/health", "status": "200", "took": 0.01}})
        return self

    def kill(self, *pids: int, after: float) -> Start:
        self._gone |= dict.fromkeys(pids, self.end + after)
        self.rows += [{"t": self.end + after, "event": {"ev": "proc-", "pid": pid}} for pid in pids]
        return self

    def told(self) -> list[Row]:
        """Return all rows in their order, with the processes twice a second."""
        rows = list(self.rows)
        for half in range(int(2 * self._length)):
            t, work = half / 2, int(5000 * min(half, 2 * self._quiet))
            tree = [(10, 1, " ".join(COMMAND), "S", 0), *((11 + rank, 10, f"sglang::scheduler_TP{rank}", "R", work)
                    for rank in range(2))]  # fmt: skip
            for pid, ppid, title, state, faults in tree:
                if t < self._gone.get(pid, 1e9):
                    asleep = "S" if t >= self._quiet else state
                    proc = {"pid": pid, "ppid": ppid, "cmd": title, "state": asleep, "minflt": faults}
                    rows.append({"t": t, "proc": proc})
        return sorted(rows, key=lambda row: float(row["t"]))


STARTS = {
    "ready": lambda: Start("ready", 20).answer(1),
    "slow-then-ready": lambda: Start("ready", 20, slow_rank=1, shards=40).answer(1),
    "failed": lambda: Start("distributed", 30).say(OOM, 5).kill(10, 11, 12, after=6),
    "killed": lambda: Start("distributed", 60).kill(12, after=9),
    "stalled": lambda: Start("distributed", 3600, quiet=5),
    "stopped": lambda: Start("distributed", 30).say(TERM, 8).kill(11, 12, after=9).kill(10, after=9.4),
}
EXPECTED = {"ready": 0, "slow-then-ready": 0, "failed": 1, "killed": 1, "stalled": 3, "stopped": 8}


def first_format(folder: Path, name: str) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (HEAD, *STARTS[name]().told())))
    return path


def second_format(folder: Path, name: str, knowledge: Knowledge) -> Path:
    """Write what a session would have recorded of it."""
    recording, path = load(first_format(folder, name), knowledge), folder / f"{name}.bringup"
    writer, encoder = Writer(path, {"host": "gpu-a"}, WALL), Encoder(WALL)
    writer.add(encoder.rows(LinkChanged(at=WALL, status="up"), WALL))
    for t, item in recording.items:
        seen = LogPiece("/var/log/server.log", item, WALL + t) if isinstance(item, bytes) else item
        writer.add(encoder.rows(seen, WALL + t))
    writer.add(encoder.close(WALL + recording.end))
    writer.close()
    return path


@pytest.mark.parametrize("form", [1, 2])
@pytest.mark.parametrize("name", STARTS)
async def test_the_wait_ends_with_the_right_answer(name: str, form: int, tmp_path: Path, knowledge: Knowledge) -> None:
    path = first_format(tmp_path, name) if form == 1 else second_format(tmp_path, name, knowledge)
    recording = load(path, knowledge)
    assert not recording.trouble
    look = await waited(recording, knowledge)
    assert BY_STATE[look.verdict.state] == EXPECTED[name], look.verdict.summary
    assert look.elapsed > 20, "not before anything happened"


async def test_a_limit_of_the_one_who_waits_ends_it_while_it_goes_on(tmp_path: Path, knowledge: Knowledge) -> None:
    recording = load(first_format(tmp_path, "slow-then-ready"), knowledge)
    look = await waited(recording, knowledge, Terms(timeout=30.0))
    assert BY_STATE[look.verdict.state] == 6
    assert 30 <= look.elapsed < 33


async def test_less_patience_ends_a_stall_sooner(tmp_path: Path, knowledge: Knowledge) -> None:
    recording = load(first_format(tmp_path, "stalled"), knowledge)
    usual = await waited(recording, knowledge)
    hasty = replace(knowledge, policy=impatient(knowledge.policy, 30.0))
    sooner = await waited(recording, hasty)
    assert (usual.verdict.state, sooner.verdict.state) == ("stalled", "stalled")
    assert sooner.elapsed < usual.elapsed - 30


@pytest.mark.parametrize("name", ["ready", "failed"])
def test_the_command_says_the_same_of_the_recording(name: str, tmp_path: Path, knowledge: Knowledge) -> None:
    path = second_format(tmp_path, name, knowledge)
    done = subprocess.run(
        [sys.executable, "-m", "bringup", "replay", "--json", str(path)], capture_output=True, check=True, timeout=120
    )
    states = [json.loads(line)["state"] for line in done.stdout.splitlines()]
    ends = [state for state in states if state in ENDS]
    assert BY_STATE[ends[0]] == EXPECTED[name]
