"""A follower that is killed at any moment and started again loses and repeats nothing; refusals are told in words."""

from __future__ import annotations

import asyncio
import contextlib
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from following import Following, following
from hypothesis import given, settings
from hypothesis import strategies as st
from sshd import Sshd

from bringup.core.errors import ChannelRefused, ConnectionLost
from bringup.core.events import LogMoved
from bringup.hosts.base import Completed, FileLook
from bringup.hosts.follow import Chunk, Follower, Position
from bringup.hosts.ssh import SshHost


@dataclass
class Disk:
    """A file that grows by itself, and a connection to it that breaks."""

    content: bytes
    rng: random.Random
    grows: int
    breaks: float
    name: str = "box"
    refusals: list[ChannelRefused] = field(default_factory=list)

    async def open(self, path: str) -> Disk:
        self.shake()
        if self.refusals:
            raise self.refusals.pop(0)
        return self

    async def look(self, offset: int, size: int) -> FileLook:
        self.shake()
        if self.refusals:
            raise self.refusals.pop(0)
        self.grow()
        # A look may bring less than was asked for, and the file grows while it is looked at.
        data = self.content[offset : offset + size][: self.rng.randrange(64, 400)]
        size_then = len(self.content)
        self.grow()
        return FileLook(data, size_then, self.content[:64], moved=False, exists=True)

    async def close(self) -> None:
        pass

    async def run(self, script: str, **_: object) -> Completed:
        assert script == "id -un"
        return Completed(0, b"alice\n", b"")

    def grow(self) -> None:
        if self.grows:
            self.grows -= 1
            self.content += self.rng.randbytes(self.rng.randrange(300))

    def shake(self) -> None:
        if self.rng.random() < self.breaks:
            raise ConnectionLost("The connection to box ended.")


async def no_sleep(seconds: float) -> None:
    await asyncio.sleep(0)


async def read_all(disk: Disk, rng: random.Random) -> tuple[bytes, list[str]]:
    """Follow through lost connections and through readers that stop after any chunk, to the end of the file."""
    got, moves, left = b"", [], Position()
    while disk.grows or len(got) < len(disk.content):
        follower = Follower(disk, "/log", start=left, max_read=128, sleep=no_sleep)  # type: ignore[arg-type]
        with contextlib.suppress(ConnectionLost):
            async with contextlib.aclosing(follower.items()) as items:
                async for item in items:
                    if isinstance(item, LogMoved):
                        moves.append(item.how)
                        continue
                    assert item.offset == len(got)
                    got += item.data
                    if rng.random() < 0.05 or (not disk.grows and len(got) == len(disk.content)):
                        break
        left = follower.position
        assert left.offset == len(got)
    return got, moves


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), first=st.integers(0, 3000), grows=st.integers(0, 40))
def test_killed_at_any_moment(seed: int, first: int, grows: int) -> None:
    rng = random.Random(seed)
    disk = Disk(rng.randbytes(first), rng, grows, breaks=0.1)
    got, moves = asyncio.run(read_all(disk, rng))
    assert got == disk.content
    assert moves == []


async def first_chunk(disk: Disk) -> Chunk | LogMoved:
    follower = Follower(disk, "/var/log/server.log", sleep=no_sleep)  # type: ignore[arg-type]
    async with contextlib.aclosing(follower.items()) as items:
        return await anext(items)


async def test_a_refusal_to_read_names_the_path_and_the_user() -> None:
    disk = Disk(b"text", random.Random(1), 0, 0.0, refusals=[ChannelRefused("denied", reason="denied")])
    with pytest.raises(ChannelRefused, match=r"/var/log/server\.log on box may not be read by alice") as refusal:
        await first_chunk(disk)
    assert (refusal.value.reason, bool(refusal.value.hint)) == ("denied", True)


async def test_a_file_service_that_ended_is_used_again() -> None:
    disk = Disk(b"text" * 30, random.Random(1), 0, 0.0, refusals=[ChannelRefused("The file service ended.")] * 2)
    item = await first_chunk(disk)
    assert isinstance(item, Chunk)
    assert item.offset == 0


async def test_a_file_that_cannot_be_read_is_given_up() -> None:
    disk = Disk(b"text", random.Random(1), 0, 0.0, refusals=[ChannelRefused("Input/output error.")] * 3)
    with pytest.raises(ChannelRefused, match="Input/output error"):
        await first_chunk(disk)


async def test_a_failed_look_goes_on_where_it_was() -> None:
    disk = Disk(b"x" * 300, random.Random(2), 0, 0.0)
    async with following(disk, "/log") as found:  # type: ignore[arg-type]
        disk.refusals = [ChannelRefused("The file service ended.")]
        disk.content += b"y" * 30
        await found.looks(2)
        assert (found.logs, found.moves) == ([b"x" * 300 + b"y" * 30], [])
        assert [chunk.backlog for chunk in found.chunks][-1] is False


async def test_a_connection_that_is_cut_while_the_log_grows(real_sshd: Sshd, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    rng = random.Random(3)
    got, left = b"", Position()
    with log.open("wb", buffering=0) as writer:
        for _ in range(4):
            host = await SshHost.login("box", options=real_sshd.options())
            reader = Following(host, log, left)
            await reader.rests()
            for _ in range(5):
                writer.write(rng.randbytes(rng.randrange(50_000)))
                await reader.looks(1)
            writer.write(rng.randbytes(1000))
            real_sshd.cut()
            with pytest.raises(ConnectionLost):
                await reader.looks(3)
            writer.write(rng.randbytes(1000))
            got += b"".join(chunk.data for chunk in reader.chunks)
            left = reader.follower.position
            assert (left.offset, reader.moves) == (len(got), [])
            await host.close()
    assert got == log.read_bytes()[: len(got)]
    assert len(got) >= log.stat().st_size - 2000
