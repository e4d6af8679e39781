"""Attaching to a large log: `python tests/bench/bench_attach.py [GB] [ssh]`, beside one grep over the same file.

Makes a log of a server that has served for a long time (2 GB unless told, 10 by hand), a real file without holes, and
tells how long the end takes to show and the start-up to be known, and how many bytes of the log came here for it.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE.parent / "app"), str(HERE)]

from faultwatch import SFTP, TEXT, Run, Writer, knowledge, tap  # noqa: E402
from sshd import start_sshd  # noqa: E402
from waiting import eventually  # noqa: E402

from bringup.hosts.base import Host  # noqa: E402
from bringup.hosts.local import LocalHost  # noqa: E402
from bringup.hosts.ssh import SshHost  # noqa: E402
from bringup.session.session import Connect, Session  # noqa: E402
from bringup.session.target import Target  # noqa: E402

SERVING = (
    b"[2026-03-02 %02d:%02d:%02d TP0] Decode batch, #running-req: 4, #token: 5120, token usage: 0.00, accept len: 2.80,"
    b" cuda graph: True, gen throughput (token/s): 398.11, #queue-req: 0\n"
    b'[2026-03-02 %02d:%02d:%02d] INFO:     10.0.0.30:41200 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
)
PATIENCE = 600.0


def make_log(path: Path, size: int) -> None:
    """Write a start, then serving until the file has its size."""
    block = b"".join(SERVING % (10, n // 60 % 60, n % 60, 10, n // 60 % 60, n % 60) for n in range(20_000))
    with path.open("wb") as file:
        file.write(TEXT)
        while file.tell() < size:
            file.write(block)


def grep(path: Path) -> float:
    """Return how long one grep over the file takes, the second time."""
    for _ in range(2):
        begun = time.monotonic()
        subprocess.run(["grep", "-c", "server_args=", path], check=True, stdout=subprocess.PIPE)
    return time.monotonic() - begun


async def attach(name: str, connect: Connect, path: Path, pass_over: float) -> None:
    """Watch the log from nothing and print what took how long."""
    session = Session(connect, Target("box", log=str(path), within=os.getpid()), knowledge())
    run = Run(path.parent, None, Writer(path), session)  # type: ignore[arg-type]
    tap(run)
    begun = time.monotonic()
    await session.open()
    connected = time.monotonic() - begun
    await eventually(lambda: len(run.lines.__iadd__(session.take_lines())) > 5, PATIENCE)
    shown = time.monotonic() - begun
    await eventually(lambda: session.verdict().phase == "serving" and session.is_level, PATIENCE)
    known = time.monotonic() - begun
    state = session.state
    assert state.attempt.model == "/models/target"
    assert len(state.attempt.ranks) == 8
    assert state.log.size == path.stat().st_size
    await session.close()
    print(
        f"{name:10} {connected:9.2f} {shown:7.2f} {known:9.2f} {known / pass_over:10.2f} {len(run.got) / 1e6:8.1f}",
        flush=True,
    )


async def main() -> None:
    size = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        path = Path(folder) / "server.log"
        make_log(path, int(size * 1e9))
        pass_over = grep(path)
        print(f"{size:g} GB, {path.stat().st_size:,} bytes; one grep over it: {pass_over:.2f} s")
        print(f"{'host':10} {'connected':>9} {'end':>7} {'start-up':>9} {'of a grep':>10} {'MB moved':>8}")

        async def here() -> Host:
            return LocalHost()

        await attach("local", here, path, pass_over)
        with start_sshd(Path(folder) / "sshd", SFTP) as server:
            await attach("sshd", lambda: SshHost.login("box", options=server.options()), path, pass_over)


if __name__ == "__main__":
    asyncio.run(main())
