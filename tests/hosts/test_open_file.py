"""A file that is followed while it is appended to, renamed, truncated, rewritten and deleted, on every kind of host."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host

BIG = bytes(range(256)) * 3000


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "it's a log!.txt"
    file.write_bytes(b"first line\nsecond line\n")
    return file


async def test_a_look_has_the_bytes_at_the_offset_the_size_and_the_head(host: Host, log: Path) -> None:
    file = await host.open(str(log))
    look = await file.look(6, 5)
    assert (look.data, look.size, look.head) == (b"line\n", 23, b"first line\nsecond line\n")
    assert (look.moved, look.exists) == (False, True)
    assert (await file.look(23, 100)).data == b""
    assert (await file.look(500, 100)).data == b""
    await file.close()


async def test_growth(host: Host, log: Path) -> None:
    file = await host.open(str(log))
    with log.open("ab") as writer:
        writer.write(BIG)
    look = await file.look(23, len(BIG))
    got = look.data
    while len(got) < len(BIG):
        look = await file.look(23 + len(got), len(BIG))
        assert look.data
        got += look.data
    assert got == BIG
    assert (look.size, len(look.head), look.moved) == (23 + len(BIG), 64, False)
    assert (await file.look(4095, 3)).data == (b"first line\nsecond line\n" + BIG)[4095:4098]
    await file.close()


async def test_looks_at_the_same_time_do_not_mix(host: Host, log: Path) -> None:
    log.write_bytes(BIG)
    file = await host.open(str(log))
    looks = await asyncio.gather(*(file.look(offset, 10) for offset in range(0, 5000, 250)))
    assert [look.data for look in looks] == [BIG[offset : offset + 10] for offset in range(0, 5000, 250)]
    await file.close()


async def test_a_file_that_grows_all_the_time_has_not_moved(host: Host, log: Path) -> None:
    file = await host.open(str(log))

    async def grow() -> None:
        with log.open("ab", buffering=0) as writer:
            while True:
                writer.write(b"another line\n")
                await asyncio.sleep(0)

    growing = asyncio.ensure_future(grow())
    looks = [await file.look(0, 10) for _ in range(60)]
    growing.cancel()
    assert not any(look.moved for look in looks)
    assert looks[-1].size > looks[0].size
    await file.close()


async def test_rename_and_create(host: Host, log: Path) -> None:
    file = await host.open(str(log))
    old = log.rename(log.with_suffix(".1"))
    log.write_bytes(b"of the next start\n")
    with old.open("ab") as late:
        late.write(b"late\n")
    look = await file.look(23, 100)
    assert (look.data, look.moved, look.exists) == (b"late\n", True, True)
    await file.close()


async def test_truncated_and_grown_again(host: Host, log: Path) -> None:
    file = await host.open(str(log))
    before = await file.look(0, 100)
    os.truncate(log, 0)
    empty = await file.look(23, 100)
    assert (empty.data, empty.size, empty.head, empty.exists) == (b"", 0, b"", True)
    with log.open("ab") as writer:
        writer.write(b"another beginning, longer than what was there\n")
    look = await file.look(23, 100)
    assert not look.head.startswith(before.head)
    assert look.moved is False
    await file.close()


async def test_deleted_and_created_again(host: Host, log: Path) -> None:
    file = await host.open(str(log))
    with log.open("ab") as writer:
        log.unlink()
        writer.write(b"into the void\n")
    look = await file.look(23, 100)
    assert (look.data, look.moved, look.exists) == (b"into the void\n", True, False)
    log.write_bytes(b"new\n")
    look = await file.look(37, 100)
    assert (look.data, look.moved, look.exists) == (b"", True, True)
    await file.close()


async def test_a_missing_file(host: Host, tmp_path: Path) -> None:
    with pytest.raises(ChannelRefused, match=r"nothing-here.* does not exist") as refusal:
        await host.open(str(tmp_path / "nothing-here"))
    assert refusal.value.reason == "missing"


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
async def test_what_is_no_regular_file(host: Host, tmp_path: Path, kind: str) -> None:
    path = {"folder": tmp_path, "pipe": tmp_path / "pipe", "device": Path("/dev/null")}[kind]
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(ChannelRefused, match="not a regular file") as refusal:
        await host.open(str(path))
    assert refusal.value.reason == "unsupported"


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
async def test_a_file_that_may_not_be_read(host: Host, log: Path) -> None:
    log.chmod(0)
    with pytest.raises(ChannelRefused, match="may not be read") as refusal:
        await host.open(str(log))
    assert refusal.value.reason == "denied"


async def test_a_deleted_file_is_found_through_the_process_that_writes_it(host: Host, log: Path) -> None:
    with log.open("ab") as writer:
        log.unlink()
        file = await host.open(f"/proc/{os.getpid()}/fd/{writer.fileno()}")
        writer.write(b"third line\n")
    look = await file.look(12, 100)
    assert look.data == b"econd line\nthird line\n"
    await file.close()
