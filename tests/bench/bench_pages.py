"""Reading a whole log from any place of it: `python tests/bench/bench_pages.py [GB]`, over SSH, beside grep.

Makes a log of a server that has served for a long time (2 GB unless told, 10 by hand), and a sparse one with a hole of
that size, and tells how long each step takes and how many bytes of the log came here for it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE.parent / "app"), str(HERE), str(HERE / "bench")]

from bench_attach import grep, make_log  # noqa: E402
from faultwatch import SFTP, TEXT  # noqa: E402
from sshd import start_sshd  # noqa: E402

from bringup.hosts import whole_log  # noqa: E402
from bringup.hosts.base import FileLook, OpenFile  # noqa: E402
from bringup.hosts.follow import Chunk, Follower  # noqa: E402
from bringup.hosts.pages import LogPages  # noqa: E402
from bringup.hosts.ssh import SshHost  # noqa: E402
from bringup.session.places import time_of  # noqa: E402

NEEDLE = b"[2026-03-02 10:30:00 TP3] one needle in the hay\n"
NOW = 1772496000.0


class Counted:
    """An open file whose bytes are counted."""

    def __init__(self, file: OpenFile, counts: list[int]) -> None:
        self._file = file
        self._counts = counts

    async def look(self, offset: int, size: int) -> FileLook:
        look = await self._file.look(offset, size)
        self._counts[0] += len(look.data)
        return look

    async def close(self) -> None:
        await self._file.close()


async def step(name: str, counts: list[int], work: Awaitable[object]) -> None:
    counts[0] = 0
    begun = time.monotonic()
    await work
    print(f"{name:34} {time.monotonic() - begun:8.2f} {counts[0] / 1e6:9.2f}", flush=True)


async def through_hole(host: SshHost, path: Path) -> None:
    """Follow a log that is a hole and a start-up, until that is read."""
    got = b""
    async for item in Follower(host, str(path)).items():
        if isinstance(item, Chunk):
            got += item.data.replace(b"\0", b"")
        if len(got) >= len(TEXT):
            break
    assert got == TEXT


async def measure(host: SshHost, path: Path, sparse: Path) -> None:
    counts, size, opened = [0], path.stat().st_size, host.open

    async def counted(name: str) -> OpenFile:
        return Counted(await opened(name), counts)

    host.open = counted  # type: ignore[method-assign]
    pages = LogPages(lambda: host, str(path))
    place = int(size * 0.42)
    dated = partial(time_of, near=NOW, utc_offset=0.0)
    print(f"{'step':34} {'seconds':>8} {'MB moved':>9}")
    await step("the end", counts, pages.last())
    await step("42 %", counts, pages.at(place))
    await step("the page after", counts, pages.after((await pages.at(place)).end))
    await step("a time, by halving", counts, pages.at_time(NOW - 13.3 * 3600, dated))
    await step("search forward, to the end", counts, whole_log.find(host, str(path), "needle", place, 1))
    await step("search back, near", counts, whole_log.find(host, str(path), "Decode", place, -1))
    await step("search back, to the beginning", counts, whole_log.find(host, str(path), "server_args=", place, -1))
    await step("search all, newest lines", counts, whole_log.search(host, str(path), "needle"))
    await step("a hole, passed over by following", counts, through_hole(host, sparse))
    await step("a hole, searched behind", counts, whole_log.search(host, str(sparse), "server_args="))
    await pages.close()


async def main() -> None:
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 2.0) * 1e9)
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        path, sparse = Path(folder) / "server.log", Path(folder) / "sparse.log"
        make_log(path, size)
        with path.open("ab") as file:
            file.write(NEEDLE)
        with sparse.open("wb") as file:
            file.seek(size)
            file.write(TEXT)
        print(f"{path.stat().st_size:,} bytes; one grep over them: {grep(path):.2f} s")
        with start_sshd(Path(folder) / "sshd", SFTP) as server:
            host = await SshHost.login("box", options=server.options())
            await measure(host, path, sparse)
            await host.close()


if __name__ == "__main__":
    asyncio.run(main())
