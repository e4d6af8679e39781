"""A log that is appended to: what a start before wrote there is not held against the server that lives now."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fakehost import running
from runtimes import Runtime
from runtimes import runtime as runtime
from troubled import TroubledHost, watching
from waiting import eventually

from bringup.core.assess import assess
from bringup.core.events import LogTarget, Server, ServerFound
from bringup.core.verdict import Verdict
from bringup.engines.patience import load_policy
from bringup.hosts.local import LocalHost
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.recording import load_recording
from bringup.hosts.ways import make_way
from bringup.recordings.encoder import Encoder
from bringup.recordings.writer import FORMAT
from bringup.session.clock import HostClock
from bringup.session.headless import Headless
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.player import Player
from bringup.session.waiting import Terms, Wait

PATIENCE = 60.0
IMPORT = b"""Traceback (most recent call last):
  File "/opt/sglang/launch_server.py", line 9, in <module>
    from sglang.srt.entrypoints.http_server import launch_server
ModuleNotFoundError: No module named 'sgl_kernel'
"""
NO_PROGRAM = b"sh: 1: nosuch: not found\n"
USAGE = b"""usage: launch_server.py [-h] --model-path MODEL_PATH
launch_server.py: error: unrecognized arguments: --tpp 8
"""
REQUEST = b"""INFO:     10.0.0.9:5 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error
ERROR:    Exception in ASGI application
Traceback (most recent call last):
  File "/opt/sglang/srt/entrypoints/http_server.py", line 9, in openai_v1_chat_completions
    raise ValueError("no messages")
ValueError: no messages
"""
WARNING = b"/opt/torch/cuda/__init__.py:61: FutureWarning: The pynvml package is deprecated.\n"
LAUNCH = b"[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/models/tiny', tp_size=2, port=30000)\n"


def write(log: Path, data: bytes, age: float = 0.0) -> LogTarget:
    """Append to a log, for the last time some seconds ago."""
    with log.open("ab") as file:
        file.write(data)
    os.utime(log, (time.time() - age,) * 2)
    return LogTarget(str(log), "file")


class Watch:
    """Logs that are followed, of a server that began some seconds ago."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.picture = Picture("box")
        self.logs = Logs(self.picture, knowledge, HostClock())

    def found(self, age: float, pid: int = 7) -> None:
        now = time.time()
        server = Server(pid=pid, start=pid, engine="sglang", argv=("python3",), tp=2, started_at=now - age)
        self.picture.apply([ServerFound(at=now, server=server)])

    def verdict(self) -> Verdict:
        return assess(self.picture.state, time.time(), load_policy())

    async def read(self, lines: int) -> None:
        """Wait until so many lines have been read."""
        await eventually(lambda: len(self.picture.recent) >= lines and self.logs.is_level, PATIENCE)


@asynccontextmanager
async def followed(watch: Watch, targets: Sequence[LogTarget]) -> AsyncIterator[None]:
    task = asyncio.create_task(watch.logs.follow(LocalHost(), targets))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    ("text", "age", "state"), [(IMPORT, 60.0, "starting"), (NO_PROGRAM, 60.0, "starting"), (USAGE, 0.0, "failed")]
)
async def test_a_server_is_attached_to(
    tmp_path: Path, knowledge: Knowledge, text: bytes, age: float, state: str
) -> None:
    """Whether the log was written to since it began is all that tells whose failure it is."""
    watch = Watch(knowledge)
    watch.found(age=20)
    async with followed(watch, [write(tmp_path / "server.log", text, age)]):
        await watch.read(text.count(b"\n"))
        assert watch.verdict().state == state
        assert len(watch.picture.state.earlier) == (state == "starting")
        write(tmp_path / "server.log", WARNING)
        await watch.read(text.count(b"\n") + 1)
        assert watch.verdict().state == state
        write(tmp_path / "server.log", text)
        await watch.read(2 * text.count(b"\n") + 1)
        assert watch.verdict().state == "failed"
        assert watch.verdict().cause is not None
        write(tmp_path / "server.log", LAUNCH)
        await watch.read(2 * text.count(b"\n") + 2)
        assert (watch.verdict().state, watch.verdict().attempt) == ("starting", 1)


async def test_a_traceback_of_its_own_is_no_sequel_to_one_from_before(tmp_path: Path, knowledge: Knowledge) -> None:
    """The server before had just told of a request that failed, which ends no server."""
    watch = Watch(knowledge)
    watch.found(age=20)
    before = LAUNCH + REQUEST
    async with followed(watch, [write(tmp_path / "server.log", before, age=60.0)]):
        await watch.read(before.count(b"\n"))
        assert (watch.verdict().state, watch.verdict().attempt) == ("starting", 2)
        write(tmp_path / "server.log", IMPORT)
        await watch.read(before.count(b"\n") + 4)
        assert (watch.verdict().state, watch.verdict().failed_ranks) == ("failed", ())


async def test_of_two_logs_the_younger_one_counts(tmp_path: Path, knowledge: Knowledge) -> None:
    """The errors go to a file of their own, which was written to; the output has not been since."""
    watch = Watch(knowledge)
    watch.found(age=20)
    errors = write(tmp_path / "err.log", IMPORT, age=1.0)
    output = write(tmp_path / "out.log", WARNING, age=60.0)
    async with followed(watch, [errors]):
        await watch.read(4)
    async with followed(watch, [errors, output]):
        await watch.read(5)
        assert watch.verdict().state == "failed"


async def test_two_logs_of_before(tmp_path: Path, knowledge: Knowledge) -> None:
    watch = Watch(knowledge)
    watch.found(age=20)
    errors = write(tmp_path / "err.log", IMPORT, age=60.0)
    output = write(tmp_path / "out.log", WARNING, age=50.0)
    async with followed(watch, [output, errors]):
        await watch.read(5)
        assert watch.verdict().state == "starting"


async def test_a_failure_that_came_while_another_log_was_read_is_kept(tmp_path: Path, knowledge: Knowledge) -> None:
    watch = Watch(knowledge)
    watch.found(age=20)
    errors = write(tmp_path / "err.log", WARNING, age=60.0)
    async with followed(watch, [errors]):
        await watch.read(1)
        write(tmp_path / "err.log", IMPORT)
        await watch.read(5)
    async with followed(watch, [errors, write(tmp_path / "out.log", WARNING, age=50.0)]):
        await watch.read(6)
        assert watch.verdict().state == "failed"


async def test_a_server_is_found_after_its_log_was_read(tmp_path: Path, knowledge: Knowledge) -> None:
    watch = Watch(knowledge)
    async with followed(watch, [write(tmp_path / "server.log", IMPORT, age=60.0)]):
        await watch.read(4)
        assert watch.verdict().state == "failed"
        watch.found(age=20)
        assert watch.verdict().state == "starting"


async def test_a_container_that_was_started_again(runtime: Runtime, knowledge: Knowledge) -> None:
    """Its runtime dates every line: what the start before printed is older than the process, whatever came since."""
    now = time.time()
    for line in IMPORT.decode().splitlines():
        runtime.say(line, at=int((now - 60) * 1e9))
    runtime.say(WARNING.decode().strip(), at=int((now - 5) * 1e9))
    host = await PrefixedHost.enter(LocalHost("box"), make_way("docker", "llm"))
    watch = Watch(knowledge)
    watch.found(age=20)
    server = watch.picture.state.server
    task = asyncio.create_task(watch.logs.follow(host, [LogTarget(host.log_name, "stream")], server))
    try:
        await watch.read(5)
        assert watch.verdict().state == "starting"
        assert len(watch.picture.state.earlier) == 1
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await host.close()


async def test_a_recording_tells_the_same(tmp_path: Path, knowledge: Knowledge) -> None:
    """The facts are among what is recorded, in their order."""
    watch = Watch(knowledge)
    encoder, rows = Encoder(time.time()), list[bytes]()
    watch.picture.tap = lambda item: rows.extend(encoder.rows(item, time.time()))  # type: ignore[method-assign]
    watch.found(age=20)
    before = LAUNCH + REQUEST
    async with followed(watch, [write(tmp_path / "server.log", before, age=60.0)]):
        await watch.read(before.count(b"\n"))
        write(tmp_path / "server.log", IMPORT)
        await watch.read(before.count(b"\n") + 4)
    tape = tmp_path / "tape.jsonl"
    header = {"recording": FORMAT, "began": encoder.began}
    tape.write_bytes(b"\n".join([json.dumps(header).encode(), *rows, *encoder.close(time.time())]) + b"\n")
    recording = load_recording(tape)
    player = Player(recording, knowledge)
    for t, item in recording.items:
        player.take(t, item)
    for state in (watch.picture.state, player.state):
        assert (state.attempt.number, [line.kind for line in state.attempt.faults]) == (2, ["import"])
        assert [past.number for past in state.earlier] == [1]


@pytest.mark.long
@pytest.mark.parametrize(("age", "ends"), [(60.0, "stopped"), (0.0, "failed")])
async def test_status_and_wait(tmp_path: Path, knowledge: Knowledge, age: float, ends: str) -> None:
    """A real server has printed nothing and starts, until it ends; one that fails while somebody waits has failed."""
    log = tmp_path / "server.log"
    write(log, IMPORT, age)
    with log.open("ab") as output, running(tmp_path, stdout=output, stderr=output) as tree:
        if age == 0.0:
            await asyncio.sleep(0.1)
            write(log, IMPORT)
        async with watching(TroubledHost(), knowledge) as session:
            headless = Headless(session)
            look = await headless.once()
            assert look.verdict.state == ("starting" if ends == "stopped" else "failed")
            assert len(look.state.earlier) == (ends == "stopped")
            # Whose the error is that stood there is not known yet.
            assert not Wait(Terms()).is_over(look)
            if ends == "failed":
                write(log, IMPORT)
                await eventually(lambda: Wait(Terms()).is_over(headless.look()), PATIENCE)
            tree.launcher.do("leave")
            await eventually(lambda: headless.look().verdict.state == ends, PATIENCE)
