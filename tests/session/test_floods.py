"""A log that is written faster than it is read: all of it is read, in slices, and the pane says what it leaves out."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import cast

import pytest
from waiting import eventually

from bringup.core.events import LogTarget
from bringup.hosts.base import Completed, FileLook, Host, OpenFile
from bringup.hosts.follow import Chunk, Follower
from bringup.hosts.turns import SLICE, TURNS
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import FLOOD, Logs
from bringup.session.picture import Picture
from bringup.session.reading import LogReader

HEAD = 64
PATH = "/var/log/server.log"
NOW = 1_772_409_600.0
LINE = (
    b"[2026-03-02 00:%02d:%02d TP0] Decode batch, #running-req: 4, #token: 5120, token usage: 0.00, accept len: 2.80,"
    b" cuda graph: True, gen throughput (token/s): 398.11, #queue-req: 0\n"
)
LEFT_OUT = re.compile(rb"^--- bringup: ([\d,]+) lines came too fast")


def log_of(lines: int) -> bytes:
    return b"".join(LINE % (number // 60 % 60, number % 60) for number in range(lines))


class Growing:
    """A file in memory of one line that grows at each look once that was read, until it has its whole text."""

    name = "box"

    def __init__(self, text: bytes, by: int) -> None:
        self._text, self._by = text, by
        self._size = text.find(b"\n") + 1

    async def run(self, script: str, **_: object) -> Completed:
        return Completed(1, b"", b"no commands here")

    async def open(self, path: str) -> OpenFile:
        return self

    async def look(self, offset: int, size: int) -> FileLook:
        data = self._text[offset : min(offset + size, self._size)]
        seen = FileLook(data, self._size, self._text[: min(HEAD, self._size)], moved=False, exists=True)
        if offset:
            self._size = min(len(self._text), self._size + self._by)
        return seen

    async def close(self) -> None:
        return


@contextlib.asynccontextmanager
async def followed(file: Growing, knowledge: Knowledge) -> AsyncIterator[tuple[Picture, Logs]]:
    """Read a log into a picture, by a clock that stands still."""
    picture, clock = Picture("box"), HostClock(monotonic=lambda: 0.0, wall=lambda: NOW)
    logs = Logs(picture, knowledge, clock)
    task = asyncio.create_task(logs.follow(cast(Host, file), (LogTarget(PATH, "file", ""),)))
    try:
        yield picture, logs
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_every_line_of_a_flood_is_read_and_every_line_is_shown_or_told(knowledge: Knowledge) -> None:
    lines = 80_000
    text = log_of(lines)
    assert len(text) > FLOOD
    shown: list[bytes] = []
    async with followed(Growing(text, len(text)), knowledge) as (picture, _):
        await eventually(lambda: picture.state.log.size >= len(text), 60.0)
        shown = picture.take_lines()
    told = [int(found[1].replace(b",", b"")) for line in shown if (found := LEFT_OUT.match(line))]
    assert (picture.state.log.size, picture.state.log.lines) == (len(text), lines)
    assert picture.state.log.unknown == 0
    assert sum(told) > 0, "this flood is too fast for the pane"
    assert len(shown) - len(told) + sum(told) == lines


async def test_a_screen_that_keeps_up_is_given_all_lines(knowledge: Knowledge) -> None:
    text = log_of(5_000)
    async with followed(Growing(text, 8 * SLICE), knowledge) as (picture, _):
        await eventually(lambda: picture.state.log.size >= len(text), 60.0)
        assert picture.take_lines() == text.splitlines()


async def test_everything_else_has_its_turns_after_each_slice() -> None:
    text = log_of(4_000)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(count())
    chunks: list[Chunk] = []
    at: list[int] = []
    follower = Follower(cast(Host, Growing(text, len(text))), PATH, sleep=lambda _: asyncio.sleep(0))
    async with contextlib.aclosing(follower.items()) as items:
        async for item in items:
            assert isinstance(item, Chunk)
            chunks.append(item)
            at.append(turns)
            if follower.position.offset == len(text):
                break
    other.cancel()
    assert b"".join(chunk.data for chunk in chunks) == text
    assert max(len(chunk.data) for chunk in chunks) <= SLICE
    assert len(chunks) > 10
    assert min(after - before for before, after in pairwise(at)) >= TURNS


@pytest.mark.parametrize("filling", [b"x", b"] ", b"--api-key ", b"\xff", b"[2026-03-02 00:00:00 TP0] "])
def test_a_line_without_an_end_is_held_only_in_part_and_counted_once(knowledge: Knowledge, filling: bytes) -> None:
    reader = LogReader(knowledge, 0.0)
    picture = Picture("box")
    slices = [filling * (SLICE // len(filling))] * 20
    for data in (*slices, b"\n", LINE % (0, 0)):
        picture.apply(reader.feed(data, NOW))
        picture.add_lines(reader.show(data))
        assert len(reader.folder.tail) <= SLICE
    long, last = picture.take_lines()[-2:]
    assert picture.state.log.lines == 2
    assert picture.state.log.size == sum(map(len, slices)) + 1 + len(LINE % (0, 0))
    assert len(long) <= SLICE
    assert last + b"\n" == LINE % (0, 0)


def test_a_bar_that_is_redrawn_a_thousand_times_is_one_line_and_its_newest_state_counts(knowledge: Knowledge) -> None:
    reader = LogReader(knowledge, 0.0)
    picture = Picture("box")
    for number in range(1, 1001):
        shape = "\rLoading safetensors checkpoint shards: {:3}% Completed | {}/1000 [00:01<00:09,  9.1it/s]"
        data = shape.format(number // 10, number).encode()
        picture.apply(reader.feed(data, NOW))
        picture.add_lines(reader.show(data))
    assert picture.state.attempt.bars[-1].done == 1000
    assert picture.take_lines() == []
    assert b" 1000/1000 " in reader.folder.tail
