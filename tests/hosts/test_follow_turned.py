"""What was written last, and then rotated: it is read where it is now, and where it is not, that is told."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
from pathlib import Path

import pytest
from following import OLD, Following, append, following
from following import log as log

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogMoved
from bringup.hosts.base import Host, OpenFile
from bringup.hosts.follow import Follower, Position

LAST = b"one\ntwo\nthree\n"
NEW = b"".join(b"[new %06d] loading again\n" % number for number in range(300))
MIDDLE = b"".join(b"[mid %06d] loading still\n" % number for number in range(100))
LATER = b"[later] and on\n"


def beside(log: Path, suffix: str) -> Path:
    return Path(f"{log}{suffix}")


def told(found: Following) -> list[tuple[str, str]]:
    return [(turn.how, turn.rest) for turn in found.turns]


async def left_at_the_end(host: Host, log: Path) -> Position:
    async with following(host, log) as found:
        return found.follower.position


async def test_copied_and_truncated_before_the_last_lines_were_seen(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        append(log, LAST)
        shutil.copy(log, beside(log, ".1"))
        os.truncate(log, 0)
        await found.looks(2)
        assert found.logs == [OLD + LAST]
        append(log, NEW)
        await found.looks(3)
        assert found.logs == [OLD + LAST, NEW]
        assert told(found)[0][1] == "read"
        append(log, LATER)
        await found.looks(2)
        assert found.logs == [OLD + LAST, NEW + LATER]
        assert len(found.turns) == 1


async def test_copied_truncated_and_regrown_between_two_looks(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        append(log, LAST)
        shutil.copy(log, beside(log, ".1"))
        log.write_bytes(NEW * 4)
        await found.looks(4)
        assert found.logs == [OLD + LAST, NEW * 4]
        assert [rest for _, rest in told(found)] == ["read"]


async def test_copied_and_truncated_while_cut_off(host: Host, log: Path) -> None:
    left = await left_at_the_end(host, log)
    append(log, LAST)
    shutil.copy(log, beside(log, ".1"))
    log.write_bytes(NEW)
    async with following(host, log, left) as found:
        await found.looks(3)
        assert b"".join(found.logs) == LAST + NEW
        assert told(found) == [("truncated" if left.node else "rotated", "read")]


@pytest.mark.parametrize("names", [(".1", ".2"), ("-20260302", "-20260301"), (".2026-03-02", ".2026-03-01")])
async def test_rotated_twice_while_cut_off(host: Host, log: Path, names: tuple[str, str]) -> None:
    left = await left_at_the_end(host, log)
    append(log, LAST)
    rotated_twice(log, *names)
    async with following(host, log, left) as found:
        await found.looks(3)
        assert b"".join(found.logs) == LAST + MIDDLE + NEW
        assert told(found) == [("rotated", ""), ("rotated", "read")]
        append(log, LATER)
        await found.looks(2)
        assert b"".join(found.logs) == LAST + MIDDLE + NEW + LATER


def rotated_twice(log: Path, newer: str, older: str) -> None:
    """Rotate with a second between, as far as the files tell."""
    for number, (name, data) in enumerate(((older, MIDDLE), (newer, NEW))):
        log.rename(beside(log, name))
        os.utime(beside(log, name), (1000 + number, 1000 + number))
        log.write_bytes(data)


async def test_rotated_twice_between_two_looks(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        append(log, LAST)
        rotated_twice(log, ".1", ".2")
        await found.looks(4)
        assert b"".join(found.logs) == OLD + LAST + MIDDLE + NEW


async def test_cut_off_again_before_the_middle_one_is_begun(host: Host, log: Path) -> None:
    left = await left_at_the_end(host, log)
    rotated_twice(log, ".1", ".2")
    middle = await position_of_the_first_move(host, log, left)
    async with following(host, log, middle) as found:
        await found.looks(3)
        assert b"".join(found.logs) == MIDDLE + NEW


async def position_of_the_first_move(host: Host, log: Path, left: Position) -> Position:
    """Return where a follower stands that has just told that it begins the next file."""
    follower = Follower(host, str(log), start=left, sleep=no_sleep)
    async with contextlib.aclosing(follower.items()) as items:
        assert isinstance(await anext(items), LogMoved)
    return follower.position


async def no_sleep(seconds: float) -> None:
    """Go on at once."""


async def test_one_of_three_is_compressed(host: Host, log: Path) -> None:
    left = await left_at_the_end(host, log)
    rotated_twice(log, ".1", ".2")
    beside(log, ".1.gz").write_bytes(gzip.compress(beside(log, ".1").read_bytes()))
    beside(log, ".1").unlink()
    append(log, LATER)
    async with following(host, log, left) as found:
        await found.looks(3)
        assert b"".join(found.logs) == NEW + LATER
        assert told(found) == [("rotated", "between")]


async def test_older_files_with_lower_numbers_are_no_part_of_it(host: Host, log: Path) -> None:
    """Copies that somebody made by hand, log.2 the newer one."""
    beside(log, ".1").write_bytes(MIDDLE)
    os.utime(beside(log, ".1"), (1000, 1000))
    left = await left_at_the_end(host, log)
    log.rename(beside(log, ".2"))
    log.write_bytes(NEW)
    async with following(host, log, left) as found:
        await found.looks(3)
        assert (b"".join(found.logs), told(found)) == (NEW, [("rotated", "read")])


async def test_renamed_and_compressed_while_cut_off(host: Host, log: Path) -> None:
    left = await left_at_the_end(host, log)
    append(log, LAST)
    beside(log, ".1.gz").write_bytes(gzip.compress(log.read_bytes()))
    aside = log.rename(beside(log, ".gone"))
    log.write_bytes(NEW)
    aside.unlink()
    async with following(host, log, left) as found:
        assert b"".join(found.logs) == NEW
        assert told(found) == [("rotated" if left.node else "replaced", "missing")]
        assert found.turns[0].read == len(OLD)


async def test_deleted_and_created_while_cut_off_is_not_called_truncated(host: Host, log: Path) -> None:
    left = await left_at_the_end(host, log)
    with log.open("rb"):  # so that the inode is not used again
        log.unlink()
        log.write_bytes(LATER)
        async with following(host, log, left) as found:
            assert found.logs == [LATER]
            assert told(found) == [("rotated" if left.node else "replaced", "missing")]


async def test_renamed_while_the_new_one_may_not_be_read(
    host: Host, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def denied(path: str) -> OpenFile:
        raise ChannelRefused(f"{path} may not be read.", reason="denied")

    found = Following(host, log)
    await found.rests()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(host, "open", denied)
        log.rename(beside(log, ".old"))
        log.write_bytes(LATER)
        with pytest.raises(ChannelRefused, match="may not be read by"):
            await found.looks(4)
    beside(log, ".old").unlink()
    left = found.follower.position
    async with following(host, log, left) as again:
        assert again.logs == [LATER]
        assert told(again) == [("rotated" if left.node else "replaced", "missing")]


async def test_truncated_at_rest_is_no_gap(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        os.truncate(log, 0)
        await found.looks(2)
        assert told(found) == [("truncated", "")]


async def test_rotated_again_before_the_next_one_was_begun(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        log.rename(beside(log, "-20260301"))
        log.touch()
        await found.looks(2)
        append(log, MIDDLE)
        log.rename(beside(log, "-20260302"))
        log.write_bytes(NEW)
        await found.looks(5)
        assert b"".join(found.logs) == OLD + MIDDLE + NEW
