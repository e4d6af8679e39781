"""A runtime's log followed across lost connections: every line once, in order, whatever was cut where."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtimes import Runtime
from runtimes import runtime as runtime
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.hosts import command_log
from bringup.hosts.command_log import CommandLog
from bringup.hosts.local import LocalHost
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.splice import Splice
from bringup.hosts.ways import make_way

BASE = 1_780_000_000 * 10**9
Lines = list[tuple[int, bytes]]


def printed(lines: Lines, since: int = 0) -> bytes:
    """What `docker logs --timestamps` prints of lines from a whole second on."""
    return b"".join(
        datetime.fromtimestamp(at // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()
        + b".%09dZ " % (at % 10**9)
        + text
        + b"\n"
        for at, text in lines
        if at >= since * 10**9
    )


@st.composite
def logs(draw: st.DrawFn) -> Lines:
    steps = draw(
        st.lists(st.tuples(st.integers(0, 3 * 10**9), st.sampled_from([b"", b"a", b"b", b"x" * 60])), max_size=30)
    )
    at, lines = BASE, []
    for step, text in steps:
        at += step
        lines.append((at, text))
    return lines


@given(logs(), st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 97)), max_size=4))
def test_cut_anywhere_nothing_is_doubled_and_nothing_lost(lines: Lines, cuts: list[tuple[int, int]]) -> None:
    splice, out = Splice(), b""
    for end, size in [*cuts, (1 << 30, 50)]:
        splice.begin()
        data = printed(lines, splice.since[1])[:end]
        out += b"".join(splice.feed(data[at : at + size]) for at in range(0, len(data), size))
    assert out == b"".join(text + b"\n" for _, text in lines)


def test_two_streams_that_are_merged_out_of_order_lose_nothing() -> None:
    lines = [(BASE + 5, b"out"), (BASE + 3, b"err"), (BASE + 9, b"out")]
    splice = Splice()
    splice.begin()
    assert splice.feed(printed(lines[:1])) == b"out\n"
    splice.begin()
    assert splice.feed(printed(lines)) == b"err\nout\n"


def test_an_open_line_is_shown_before_its_end() -> None:
    """A bar that a runtime passes on in pieces of 16 KiB is drawn as far as it came."""
    line = printed([(BASE, b"50%|#####     | and much more of it")])
    splice = Splice()
    splice.begin()
    first = splice.feed(line[:45])
    assert first == line[31:45]
    assert first + splice.feed(line[45:]) == line[31:]


def test_what_the_command_says_itself_is_no_line_of_the_log() -> None:
    splice = Splice()
    splice.begin()
    assert splice.feed(b"Error: no such object: llm\n") == b""
    assert splice.complaint == b"Error: no such object: llm\n"


def test_the_stamps_of_the_journal_stay() -> None:
    line = b"2026-05-20T15:35:53.123456+0000 box llm[7]: hello\n"
    splice = Splice(keep_stamps=True)
    splice.begin()
    assert splice.feed(line) == line
    assert splice.newest == pytest.approx(1779291353.123456)


@pytest.mark.parametrize("size", [7, 1 << 16])
def test_what_is_older_than_a_moment_comes_apart_from_what_is_younger(size: int) -> None:
    lines = [(BASE, b"old"), (BASE + 10**9, b"older"), (BASE + 3 * 10**9, b"new"), (BASE + 4 * 10**9, b"newer")]
    data, splice, told = printed(lines), Splice(), list[tuple[bytes, float | None]]()
    splice.begin()
    for at in range(0, len(data), size):
        told += [(part, splice.newest) for part in splice.pieces(data[at : at + size], BASE / 1e9 + 2) if part]
    assert b"".join(part for part, _ in told) == b"old\nolder\nnew\nnewer\n"
    old = b"".join(part for part, newest in told if newest is not None and newest < BASE / 1e9 + 2)
    assert old.startswith(b"old\nolder\n")
    assert b"new\n" not in old
    if size > 100:
        assert [part for part, _ in told] == [b"old\nolder\n", b"new\nnewer\n"]


async def collected(log: CommandLog, out: list[bytes], until: int) -> AsyncIterator[None]:
    async with aclosing(log.items()) as chunks:
        async for chunk in chunks:
            out.append(chunk.data)
            if b"".join(out).count(b"\n") >= until:
                return
    yield


@pytest.mark.parametrize(("kind", "name"), [("docker", "llm"), ("kube", "default/llm-0"), ("unit", "llm.service")])
async def test_a_lost_connection_is_no_gap(kind: str, name: str, runtime: Runtime) -> None:
    splice, out = Splice(keep_stamps=kind == "unit"), list[bytes]()
    for number in range(4):
        for part in range(5):
            runtime.say(f"line {number}.{part}")
        host = await PrefixedHost.enter(LocalHost("box"), make_way(kind, name))
        async for _ in collected(CommandLog(host, splice), out, 5 * (number + 1)):
            raise AssertionError("it ended by itself")
        await host.close()
    lines = b"".join(out).splitlines()
    assert [line.rpartition(b"line ")[2] for line in lines] == [b"%d.%d" % (n, p) for n in range(4) for p in range(5)]


async def test_what_was_there_is_told_from_what_comes(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    # The stand-in begins when it can: the first line is waited for as long as it takes.
    monkeypatch.setattr(command_log, "FIRST", 300)
    runtime.say("old", at=BASE)
    host = await PrefixedHost.enter(LocalHost("box"), make_way("docker", "llm"))
    log = CommandLog(host, Splice(), quiet=0.2)
    async with aclosing(log.items()) as chunks:
        old = await anext(chunks)
        assert (old.data, old.backlog, old.at, old.written) == (b"old\n", True, None, BASE / 1e9)
        assert not log.is_level
        coming = anext(chunks)

        async def new() -> None:
            await eventually(lambda: log.is_level)
            runtime.say("new")

        chunk, _ = await asyncio.gather(coming, new())
        assert (chunk.data, chunk.backlog, chunk.at is not None) == (b"new\n", False, True)
    await host.close()


class Late:
    """A client that prints its first line after a while, and then nothing more."""

    def __init__(self, seconds: float, line: bytes) -> None:
        self._seconds = seconds
        self._lines = [line]

    @asynccontextmanager
    async def log(self, splice: Splice) -> AsyncIterator[Late]:
        yield self

    async def read(self, size: int) -> bytes:
        await asyncio.sleep(self._seconds if self._lines else 3600.0)
        return self._lines.pop()


async def test_a_client_may_take_a_while_before_its_first_line() -> None:
    """What was there is not taken for what comes because somebody had to be asked for it first."""
    late = Late(0.2, printed([(BASE, b"old")]))
    log = CommandLog(late, Splice(), quiet=0.1, clock=lambda: BASE / 1e9 + 10)  # type: ignore[arg-type]
    async with aclosing(log.items()) as chunks:
        old = await anext(chunks)
    assert (old.data, old.backlog, old.at, old.written) == (b"old\n", True, None, BASE / 1e9)


async def test_what_a_slow_client_brings_late_was_there_all_the_same(runtime: Runtime) -> None:
    """On a loaded host it prints its first line after the time in which all that was there should have come."""
    runtime.say("old", at=BASE)
    host = await PrefixedHost.enter(LocalHost("box"), make_way("docker", "llm"))
    async with aclosing(CommandLog(host, Splice(), quiet=0.0).items()) as chunks:
        old = await anext(chunks)
        assert (old.data, old.backlog, old.at, old.written) == (b"old\n", True, None, BASE / 1e9)
        runtime.say("new")
        new = await anext(chunks)
        assert (new.data, new.backlog, new.at is not None) == (b"new\n", False, True)
    await host.close()


async def test_a_log_that_cannot_be_had_is_told_in_the_runtimes_words(runtime: Runtime) -> None:
    host = PrefixedHost(LocalHost("box"), make_way("docker", "other"))
    with pytest.raises(ChannelRefused, match="No such container: other"):
        await anext(CommandLog(host, Splice()).items())
    await host.close()
