"""A log that is appended to, rotated, truncated and deleted under the follower's eyes, on every kind of host."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from following import OLD, append, following
from following import log as log

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host
from bringup.hosts.follow import Position
from bringup.hosts.local import LocalHost

NEW = b"".join(b"[new %06d] loading again\n" % number for number in range(3000))
SHORT = b"[new] only one line\n"
LATE = b"written after the rename\n"


def rename_and_create(log: Path) -> None:
    log.rename(log.with_suffix(".1"))
    log.write_bytes(NEW)


def rename_late_write_and_create(log: Path) -> None:
    old = log.rename(log.with_suffix(".1"))
    append(old, LATE)
    log.write_bytes(NEW)


def rename_create_and_late_write(log: Path) -> None:
    old = log.rename(log.with_suffix(".1"))
    log.write_bytes(NEW)
    append(old, LATE)


def rewrite(log: Path) -> None:
    log.write_bytes(NEW)


def rewrite_shorter(log: Path) -> None:
    log.write_bytes(SHORT)


def rewrite_with_the_same_head(log: Path) -> None:
    log.write_bytes(OLD[:64] + NEW)


def delete_and_create(log: Path) -> None:
    log.unlink()
    log.write_bytes(NEW)


@pytest.mark.parametrize(
    ("change", "moves", "logs"),
    [
        (rename_and_create, ["rotated"], [OLD, NEW]),
        (rename_late_write_and_create, ["rotated"], [OLD + LATE, NEW]),
        (rename_create_and_late_write, ["rotated"], [OLD + LATE, NEW]),
        (rewrite, ["replaced"], [OLD, NEW]),
        (rewrite_shorter, ["truncated"], [OLD, SHORT]),
        (rewrite_with_the_same_head, ["replaced"], [OLD, OLD[:64] + NEW]),
        (delete_and_create, ["rotated"], [OLD, NEW]),
    ],
)
async def test_a_change_between_two_looks(
    host: Host, log: Path, change: Callable[[Path], None], moves: list[str], logs: list[bytes]
) -> None:
    async with following(host, log) as found:
        change(log)
        await found.looks(4)
        assert (found.moves, found.logs) == (moves, logs)


async def test_truncated_and_grown_after_a_look(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        os.truncate(log, 0)
        await found.looks(2)
        assert (found.moves, found.logs) == (["truncated"], [OLD])
        append(log, NEW)
        await found.looks(2)
        assert (found.moves, found.logs) == (["truncated"], [OLD, NEW])


async def test_deleted_written_to_and_created_later(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        with log.open("ab") as writer:
            log.unlink()
            await found.looks(3)
            assert found.moves == ["gone"]
            writer.write(LATE)
        await found.looks(2)
        assert found.logs == [OLD + LATE]
        log.write_bytes(SHORT)
        await found.looks(3)
        assert (found.moves, found.logs) == (["gone", "back"], [OLD + LATE, SHORT])


async def test_a_server_that_goes_on_writing_to_the_renamed_log(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        old = log.rename(log.with_suffix(".1"))
        log.touch()
        for _ in range(3):
            append(old, LATE)
            await found.looks(2)
        assert (found.moves, found.logs) == ([], [OLD + 3 * LATE])
        append(log, SHORT)
        await found.looks(3)
        assert (found.moves, found.logs) == (["rotated"], [OLD + 3 * LATE, SHORT])


async def test_moved_away_and_back(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        aside = log.rename(log.with_suffix(".1"))
        await found.looks(2)
        aside.rename(log)
        append(log, LATE)
        await found.looks(3)
        assert (found.moves, found.logs) == (["gone", "back"], [OLD + LATE])


async def test_a_log_that_is_not_there_yet(host: Host, tmp_path: Path) -> None:
    log = tmp_path / "later.log"
    async with following(host, log) as found:
        await found.looks(2)
        assert (found.moves, found.chunks) == (["gone"], [])
        log.write_bytes(SHORT)
        await found.looks(1)
        assert (found.moves, found.logs) == (["gone", "back"], [SHORT])
        assert [chunk.backlog for chunk in found.chunks] == [False]


async def test_resumed_at_the_exact_byte(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        left = found.follower.position
    append(log, LATE)
    async with following(host, log, left) as found:
        assert [(chunk.data, chunk.offset, chunk.backlog) for chunk in found.chunks] == [(LATE, len(OLD), True)]
        append(log, SHORT)
        await found.looks(1)
        assert [chunk.backlog for chunk in found.chunks] == [True, False]
        assert found.moves == []


@pytest.mark.parametrize(("content", "how"), [(NEW, "replaced"), (SHORT, "truncated"), (OLD[:64] + NEW, "replaced")])
async def test_resumed_on_another_file(host: Host, log: Path, content: bytes, how: str) -> None:
    async with following(host, log) as found:
        left = found.follower.position
    log.write_bytes(content)
    async with following(host, log, left) as found:
        # Without an inode (SFTP) it is not known that it was this file that was truncated.
        assert (found.moves, found.logs) == ([how if left.node else "replaced"], [content])
        assert all(chunk.backlog for chunk in found.chunks)


async def test_resumed_where_there_is_nothing_any_more(host: Host, log: Path) -> None:
    async with following(host, log) as found:
        left = found.follower.position
    aside = log.rename(log.with_suffix(".1"))
    async with following(host, log, left) as found:
        aside.rename(log)
        append(log, LATE)
        await found.looks(1)
        assert (found.moves, [chunk.data for chunk in found.chunks]) == (["gone", "back"], [LATE])


async def test_what_was_there_and_what_came(host: Host, log: Path) -> None:
    async with following(host, log, max_read=4096) as found:
        append(log, LATE)
        await found.looks(1)
        assert found.logs == [OLD + LATE]
        assert max(len(chunk.data) for chunk in found.chunks) == 4096
        backlog = [chunk for chunk in found.chunks if chunk.backlog]
        assert sum(len(chunk.data) for chunk in backlog) == len(OLD)
        assert {chunk.at for chunk in backlog} == {None}
        assert [chunk.at for chunk in found.chunks if not chunk.backlog] == [1000.0]


@pytest.mark.parametrize(("start", "first"), [("tail", len(OLD)), (100, 100), (len(OLD) + 1, 0)])
async def test_where_to_begin(host: Host, log: Path, start: int, first: int) -> None:
    async with following(host, log, start) as found:  # type: ignore[arg-type]
        append(log, LATE)
        await found.looks(1)
        assert b"".join(chunk.data for chunk in found.chunks) == (OLD + LATE)[first:]
        assert found.chunks[0].offset == first
        assert found.chunks[-1].backlog is False


async def test_the_pace(log: Path) -> None:
    async with following(LocalHost(), log) as found:
        await found.looks(6)
        assert found.pauses == pytest.approx([0.2, 0.2, 0.3, 0.45, 0.675, 1.0, 1.0])
        append(log, LATE)
        await found.looks(2)
        assert found.pauses[-2:] == [0.2, 0.2]


async def test_what_is_no_file(host: Host, tmp_path: Path) -> None:
    with pytest.raises(ChannelRefused, match="not a regular file"):
        async with following(host, tmp_path):
            pass


def test_a_position_carries_the_last_bytes() -> None:
    place = Position().after(b"a" * 40, b"a" * 40).after(b"b" * 40, b"a" * 40 + b"b" * 24)
    assert (place.offset, place.before, place.asked) == (80, b"a" * 24 + b"b" * 40, 16)


async def test_only_a_look_that_began_later_has_read_what_was_written_before(log: Path) -> None:
    async with following(LocalHost(), log) as followed:
        await followed.looks()
        followed.now = 1001.0
        append(log, LATE)
        assert followed.follower.is_level
        assert followed.follower.has_read(1000.0)
        assert not followed.follower.has_read(1000.5)
        await followed.looks()
        assert followed.follower.has_read(1000.5)
        assert followed.logs == [OLD + LATE]
