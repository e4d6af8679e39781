"""Holes of NULs in a log: found without reading through them, passed over, and read where a next server fills them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from following import following

from bringup.core.errors import ChannelRefused
from bringup.hosts import holes
from bringup.hosts.base import Completed, FileLook, Host
from bringup.hosts.follow import Chunk, Follower
from bringup.hosts.holes import Hole, find_hole
from bringup.hosts.local import LocalHost

GB = 1 << 30
LINES = b"".join(b"[old %06d] last words\n" % number for number in range(500))
NEXT = b"".join(b"[new %06d] loading\n" % number for number in range(300))


class Writer:
    """A server that writes at its own offset, whatever became of the file meanwhile."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        os.lseek(self.handle, offset, os.SEEK_SET)

    def write(self, data: bytes) -> None:
        assert os.write(self.handle, data) == len(data)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "it's the log.txt"


@pytest.fixture
def writer(log: Path) -> Iterator[Writer]:
    made = Writer(log)
    yield made
    os.close(made.handle)


def skip(writer: Writer, size: int) -> None:
    """Let a writer have an offset as if it had written so much, and the file been truncated since."""
    os.lseek(writer.handle, size, os.SEEK_CUR)


async def test_a_hole_is_found_to_the_block(host: Host, log: Path, writer: Writer) -> None:
    skip(writer, 10 * GB + 5)
    writer.write(LINES)
    hole = await find_hole(host, str(log))
    assert hole == Hole(0, 10 * GB), "it ends with the block in which text begins"


async def test_a_hole_behind_text_is_found(log: Path, writer: Writer) -> None:
    writer.write(LINES)
    skip(writer, 3 * GB)
    writer.write(LINES)
    hole = await find_hole(LocalHost(), str(log))
    assert hole is not None
    assert len(LINES) <= hole.begin < len(LINES) + 8192
    assert 3 * GB + len(LINES) - 8192 < hole.end <= 3 * GB + len(LINES)


@pytest.mark.parametrize("written", [b"", LINES])
async def test_what_was_written_has_no_hole(log: Path, writer: Writer, written: bytes) -> None:
    writer.write(written * 100)
    assert await find_hole(LocalHost(), str(log)) is None


async def test_nuls_that_were_written_are_compared_on_the_host(log: Path, writer: Writer) -> None:
    writer.write(bytes(8 << 20))
    writer.write(b"hidden")
    writer.write(bytes(8 << 20))
    writer.write(LINES)
    assert await find_hole(LocalHost(), str(log)) == Hole(0, 8 << 20), "text between two holes is not passed over"


async def test_a_file_that_ends_in_nuls_is_a_hole_to_its_end(log: Path, writer: Writer) -> None:
    os.truncate(log, 2 * GB)
    assert await find_hole(LocalHost(), str(log)) == Hole(0, 2 * GB)


async def test_a_host_that_cannot_tell_has_none(log: Path) -> None:
    class Dumb(LocalHost):
        async def run(self, script: str, **_: object) -> Completed:
            raise ChannelRefused("No command can be run here.")

    assert await find_hole(Dumb(), str(log)) is None


async def test_many_gb_of_nuls_are_passed_over(host: Host, log: Path, writer: Writer) -> None:
    """Less than 20 MB are moved, and the text behind the hole is read from its first byte."""
    moved = 0
    opened = host.open

    class Counted:
        def __init__(self, file: object) -> None:
            self._file = file

        async def look(self, offset: int, size: int) -> FileLook:
            nonlocal moved
            look: FileLook = await self._file.look(offset, size)  # type: ignore[attr-defined]
            moved += len(look.data)
            return look

        async def close(self) -> None:
            await self._file.close()  # type: ignore[attr-defined]

    async def counted(path: str) -> Counted:
        return Counted(await opened(path))

    host.open = counted  # type: ignore[assignment, method-assign]
    skip(writer, 10 * GB)
    writer.write(LINES)
    got, passed = b"", 0
    follower = Follower(host, str(log))
    async with asyncio.timeout(60):
        async for item in follower.items():
            if isinstance(item, Chunk):
                got += item.data
            else:
                assert item.how == "padded"
                passed += item.size
            if got.endswith(LINES):
                break
    assert got.replace(b"\0", b"") == LINES
    assert passed + len(got) == 10 * GB + len(LINES)
    assert moved < 20_000_000


@pytest.mark.parametrize("least", [holes.LEAST, 1 << 16])
async def test_the_next_server_fills_the_hole(
    log: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    """`server > log` while the one before still says its last words at its old offset."""
    monkeypatch.setattr(holes, "LEAST", least)
    skip(writer, 200_000)
    writer.write(LINES)
    successor = Writer(log)
    async with following(LocalHost(), log) as watch:
        assert watch.logs[-1].replace(b"\0", b"") == LINES
        for number in range(0, len(NEXT), 1000):
            successor.write(NEXT[number : number + 1000])
            await watch.looks(2)
        assert watch.logs[-1] == NEXT
        assert watch.moves[-1] == "replaced"
        assert watch.follower.is_level


async def test_a_launcher_s_words_before_the_hole_are_read_once(log: Path, writer: Writer) -> None:
    head = b"launching the server, this line is longer than a fingerprint of sixty-four bytes\n"
    writer.write(head)
    skip(writer, 100_000)
    writer.write(LINES)
    successor = Writer(log, len(head))
    got, moves = b"", []
    async with asyncio.timeout(60):
        async for item in Follower(LocalHost(), str(log)).items():
            if isinstance(item, Chunk):
                got += item.data.replace(b"\0", b"")
                if got == head + LINES:
                    successor.write(NEXT)
            else:
                moves.append(item.how)
            if len(got) >= len(head + LINES + NEXT):
                break
    assert got == head + LINES + NEXT
    assert moves == ["replaced"]


async def test_a_log_that_is_padded_again_is_read_to_its_end(log: Path, writer: Writer) -> None:
    skip(writer, 100_000)
    writer.write(LINES)
    async with following(LocalHost(), log) as watch:
        os.truncate(log, 0)
        writer.write(NEXT)
        await watch.looks(2)
        assert watch.logs[-1].replace(b"\0", b"") == NEXT
