"""The client's machine sleeps, the host's disk is full, a log may not be read for a while, a launch has another log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fakehost
import pytest
from connectionfaults import listen_as
from faultwatch import (
    PATIENCE,
    PIECES,
    SFTP,
    TEXT,
    YESTERDAY,
    Run,
    Writer,
    at_each_moment,
    plain_connect,
    play,
    settle,
    tap,
    watched,
)
from sshd import Sshd, start_sshd
from waiting import eventually

from bringup.hosts.base import Host
from bringup.session import logs, room_watch
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target

CLIENT = Path(__file__).resolve().parents[1] / "sleepclient.py"
SLEEP = float(os.environ.get("BRINGUP_SLEEP", "1.2"))
"""Seconds: longer than the keepalive of these tests allows; a minute by hand."""
Tell = Callable[[str, list[Run]], None]
needs_root = pytest.mark.skipif(os.getuid() != 0 or sys.platform != "linux", reason="needs root on Linux to mount")


@pytest.mark.parametrize("name", ["client sleeps", "client sleeps, connection dies"])
async def test_a_client_that_slept_knows_what_it_would_have_known(
    name: str, known: Knowledge, reference: Run, tell: Tell
) -> None:
    async def one(moment: float) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            return await sleeping(Path(folder), moment, dies="dies" in name, like=reference)

    tell(name, await at_each_moment(name, one))


async def sleeping(folder: Path, moment: float, *, dies: bool, like: Run) -> Run:
    """Watch from another process, which is stopped for a while, and compare what it knows."""
    with start_sshd(folder / "server", SFTP) as server:
        writer = Writer(folder / "server.log")
        writer.open()
        writer.step()
        client = await asyncio.create_subprocess_exec(
            sys.executable, str(CLIENT), stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=1 << 22
        )
        assert client.stdin
        assert client.stdout
        given = {"folder": str(server.folder), "port": server.port, "host_key": server.host_key}
        given |= {"client_key": str(server.client_key), "log": str(writer.path)}
        client.stdin.write(json.dumps(given).encode() + b"\n")
        assert json.loads(await client.stdout.readline()) == "begun"

        async def sleep(run: Run) -> None:
            client.send_signal(signal.SIGSTOP)
            if dies:
                server.cut()
            run.later(SLEEP, lambda: client.send_signal(signal.SIGCONT))

        run = Run(folder, server, writer, like.session)
        await play(run, sleep, moment)
        client.stdin.write(f"{len(TEXT)}\n".encode())
        async with asyncio.timeout(PATIENCE + SLEEP):
            answer: dict[str, Any] = json.loads(await client.stdout.readline())
        run.recovered = time.monotonic() - run.injected - SLEEP
        await client.wait()
        writer.close()
    assert answer["got"].encode("latin-1") == TEXT
    assert answer["outcome"] == json.loads(json.dumps(like.outcome()))
    assert [line.encode("latin-1") for line in answer["lines"]] == like.lines
    assert abs(answer["off"]) < 2.0
    assert not dies or "lost" in answer["told"]
    return run


@needs_root
async def test_a_disk_that_is_full_for_a_while(known: Knowledge, reference: Run, tell: Tell) -> None:
    async def one(moment: float) -> Run:
        with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder) / "log"):
            async with watched(Path(folder), known) as run:
                await play(run, full_disk, moment)
                await settle(run)
                return run

    runs = await at_each_moment("disk full", one)
    for run in runs:
        assert run.got == TEXT
        assert run.outcome() == reference.outcome()
    tell("disk full", runs)


@needs_root
async def test_a_full_disk_is_told(known: Knowledge, tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("LOOK", 0.05), ("SILENT", 0.3), ("AGAIN", 0.3)):
        monkeypatch.setattr(room_watch, name, seconds)
    with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder) / "log") as mounted:
        async with watched(Path(folder), known) as run:
            state = run.session._picture

            async def told(run: Run) -> None:
                with filled(run):
                    await eventually(lambda: state.state.log.full == str(mounted), PATIENCE)
                    run.noticed = time.monotonic() - run.injected
                    evidence = run.session.verdict().evidence
                    assert f"log: it cannot grow, the disk of {mounted} is full" in evidence

            await play(run, told, 0.5)
            await settle(run)
            await eventually(lambda: not state.state.log.full, PATIENCE)
            run.lines += run.session.take_lines()
            assert sum(b"is full; what is written" in line for line in run.lines) == 1
            assert sum(b"has room again" in line for line in run.lines) == 1
    tell("disk full, told", [run])


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", folder], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.decode()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


async def full_disk(run: Run) -> None:
    """Somebody fills the disk; the server's writes fail until there is room again."""
    with filled(run):
        await asyncio.sleep(0.4)


@contextlib.contextmanager
def filled(run: Run) -> Iterator[None]:
    """Fill the disk of the log, and let the server write until it cannot; give room again, and let it go on."""
    ballast = run.writer.path.parent / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    left = b""
    with contextlib.suppress(OSError):
        while run.writer.written < len(PIECES):
            left = left or PIECES[run.writer.written]
            left = left[os.write(run.writer.handle, left) :]
            run.writer.written += not left
    yield
    ballast.unlink()
    if left:
        run.writer.write(left)
        run.writer.written += 1


@needs_root
async def test_a_log_that_may_not_be_read_for_a_while(
    known: Knowledge, reference: Run, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "AGAIN", 0.2)

    async def one(moment: float) -> Run:
        theirs: list[Sshd] = []
        ends: list[Callable[[], None]] = []

        async def connect(server: Sshd) -> Host:
            if not theirs:
                started, end = listen_as(server, "watcher")
                theirs.append(started)
                ends.append(end)
            return await plain_connect(theirs[0], username="watcher")

        async def taken_away_and_given_back(run: Run) -> None:
            run.writer.path.chmod(0)
            theirs[0].cut()
            told = "may not be read by"
            await eventually(lambda: told in dict(run.session.state.closed).get("log", ""), PATIENCE)
            run.writer.path.chmod(0o644)

        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            try:
                async with watched(Path(folder), known, connect=connect) as run:
                    await play(run, taken_away_and_given_back, moment)
                    await settle(run)
                    return run
            finally:
                ends[0]()

    runs = await at_each_moment("permissions", one)
    for run in runs:
        assert (run.got, run.moves) == (TEXT, [])
        assert run.outcome() == reference.outcome()
    tell("permissions taken and given", runs)


async def test_another_file_for_another_launch(known: Knowledge, reference: Run, tell: Tell, tmp_path: Path) -> None:
    with start_sshd(tmp_path / "server", SFTP) as server:
        session = Session(lambda: plain_connect(server), Target("box", within=os.getpid()), known)
        run = Run(tmp_path, server, Writer(tmp_path / "second.log"), session)
        tap(run)
        first = (tmp_path / "first.log").open("ab", buffering=0)
        with first, fakehost.running(tmp_path, stdout=first, stderr=first):
            first.write(b"".join(YESTERDAY[:120]))
            await session.open()
            await run.level(len(b"".join(YESTERDAY[:120])))
        run.writer.open()
        try:
            handle = run.writer.handle
            with fakehost.running(tmp_path, stdout=handle, stderr=handle):
                run.injected = time.monotonic()
                await play(run)
                run.expected = b"".join(YESTERDAY[:120]) + TEXT
                await settle(run)
                run.recovered = time.monotonic() - run.injected
                last, wanted = run.outcome()["attempt"], reference.outcome()["attempt"]
                assert run.got == run.expected
                assert last["number"] == 1, "the first launch of that file"
                assert (last["reached"], last["main"], last["model"]) == tuple(
                    wanted[name] for name in ("reached", "main", "model")
                )
                assert session.state.log.path == str(run.writer.path)
        finally:
            await session.close()
            run.writer.close()
    tell("new file, new launch", [run])


async def test_a_deleted_log_is_read_on_after_a_reconnect(known: Knowledge, tmp_path: Path) -> None:
    with start_sshd(tmp_path / "server", SFTP) as server:
        session = Session(lambda: plain_connect(server), Target("box", within=os.getpid()), known)
        run = Run(tmp_path, server, Writer(tmp_path / "server.log"), session)
        tap(run)
        run.writer.open()
        handle = run.writer.handle
        with fakehost.running(tmp_path, stdout=handle, stderr=handle):
            run.writer.write(TEXT[:9000])
            await session.open()
            await run.level(9000)
            run.writer.path.unlink()
            server.cut()
            await eventually(lambda: session.state.link.status != "up", PATIENCE)
            run.writer.write(TEXT[9000:])
            await run.level(len(TEXT))
            await asyncio.sleep(0.5)
            assert run.got == TEXT
            assert session.state.attempt.number == 1
            await session.close()
        run.writer.close()
