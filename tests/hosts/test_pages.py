"""A whole log in pages: any place of it, back and forth, over holes, and while it is rotated or truncated."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host
from bringup.hosts.local import LocalHost
from bringup.hosts.pages import PAGE, LogPages, Page

LINES = 20_000


def line(number: int) -> bytes:
    return b"%06d at %02d:%02d:%02d of the day\n" % (number, number // 3600, number // 60 % 60, number % 60)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "it's a $(log).txt"
    path.write_bytes(b"".join(line(number) for number in range(LINES)))
    return path


@pytest.fixture
async def pages(log: Path) -> AsyncIterator[LogPages]:
    host = LocalHost()
    made = LogPages(lambda: host, str(log))
    yield made
    await made.close()


def texts(page: Page) -> list[bytes]:
    return [row.text for row in page.rows]


def dated(text: bytes) -> float | None:
    found = re.search(rb"(\d\d):(\d\d):(\d\d)", text)
    return None if found is None else int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])


async def test_pages_are_of_any_place_on_every_host(host: Host, log: Path) -> None:
    pages = LogPages(lambda: host, str(log))
    first = await pages.at(0)
    assert texts(first)[:2] == [line(0).rstrip(), line(1).rstrip()]
    middle = await pages.at(len(line(0)) * 10_000 + 7)
    assert middle.rows[0].text == line(10_000).rstrip(), "a page begins with a whole line"
    assert middle.rows[0].offset == middle.begin == len(line(0)) * 10_000
    assert middle.size == log.stat().st_size
    assert len(middle.rows) < PAGE / 20
    assert texts(await pages.last())[-1] == line(LINES - 1).rstrip()
    await pages.close()


async def test_forth_and_back_every_line_once(pages: LogPages) -> None:
    page = await pages.at(0)
    forth = texts(page)
    while page.end < page.size:
        page = await pages.after(page.end)
        forth += texts(page)
    assert forth == [line(number).rstrip() for number in range(LINES)]
    page = await pages.last()
    back = texts(page)
    while page.begin:
        page = await pages.before(page.begin)
        back = texts(page) + back
    assert back == forth


async def test_a_time_is_found(pages: LogPages) -> None:
    page = await pages.at_time(3 * 3600 + 5, dated)
    assert page.rows[0].text == line(3 * 3600 + 5).rstrip()
    assert (await pages.at_time(0, dated)).begin == 0
    after_all = await pages.at_time(10**6, dated)
    assert after_all.end == after_all.size


async def test_a_time_is_found_by_halving(tmp_path: Path) -> None:
    path, host = tmp_path / "big.log", LocalHost()
    with path.open("wb") as file:
        for number in range(80_000):
            file.write(line(number).rstrip() + b"x" * 200 + b"\n")
    pages = LogPages(lambda: host, str(path))
    page = await pages.at_time(71_234, dated)
    assert page.rows[0].text.startswith(line(71_234).rstrip())
    await pages.close()


async def test_a_hole_is_one_row(tmp_path: Path) -> None:
    path, host, size = tmp_path / "sparse.log", LocalHost(), 9 << 30
    with path.open("wb") as file:
        file.write(line(0))
        file.seek(size)
        file.write(line(1) + line(2))
    pages = LogPages(lambda: host, str(path))
    page = await pages.at(0)
    seen = list(page.rows)
    while page.end < page.size:
        page = await pages.after(page.end)
        seen += page.rows
    assert sum(row.hole for row in seen) > size - 3 * PAGE
    assert [row.text for row in seen if row.text] == [line(number).rstrip() for number in range(3)]
    page = await pages.last()
    back = list(page.rows)
    for _ in range(20):
        page = await pages.before(page.begin)
        back = [*page.rows, *back]
        if not page.begin:
            break
    assert [row.text for row in back if row.text] == [line(number).rstrip() for number in range(3)]
    await pages.close()


async def test_a_log_that_moves_is_told(pages: LogPages, log: Path) -> None:
    assert not (await pages.at(0)).moved
    log.rename(log.with_suffix(".1"))
    log.write_bytes(b"another\n")
    old = await pages.at(0)
    assert (old.moved, old.cut) == (True, False)
    assert old.rows[0].text == line(0).rstrip(), "what was open is read on"


@pytest.mark.parametrize("new", [b"shorter\n", b"something else at the beginning\n" * 100_000])
async def test_a_log_that_is_written_anew_is_told(pages: LogPages, log: Path, new: bytes) -> None:
    await pages.at(500_000)
    with log.open("r+b") as file:
        file.truncate(0)
        file.write(new)
    page = await pages.at(500_000)
    assert page.cut
    assert new.startswith(page.rows[0].text)
    assert not (await pages.at(0)).cut, "told once"


async def test_secrets_are_masked_and_bars_are_rows(tmp_path: Path) -> None:
    path, host = tmp_path / "a.log", LocalHost()
    path.write_bytes(b"api_key='sk-1234567890abcdef1234567890abcdef'\nload: 1/2\rload: 2/2\n")
    page = await LogPages(lambda: host, str(path)).at(0)
    assert b"1234567890abcdef" not in page.rows[0].text
    assert texts(page)[1:] == [b"load: 1/2", b"load: 2/2"]


async def test_an_empty_log_and_one_that_is_not_there(tmp_path: Path) -> None:
    path, host = tmp_path / "a.log", LocalHost()
    with pytest.raises(ChannelRefused):
        await LogPages(lambda: host, str(path)).at(0)
    path.touch()
    assert (await LogPages(lambda: host, str(path)).at(5)).rows == ()
    assert (await LogPages(lambda: host, str(path)).last()).rows == ()
