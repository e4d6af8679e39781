"""A whole log that is searched on its host: what is found, what is not, and names that a shell would take apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from bringup.core.errors import ChannelRefused
from bringup.hosts import whole_log
from bringup.hosts.base import Host
from bringup.hosts.local import LocalHost
from bringup.hosts.whole_log import MOST_ROWS, find, place_of, search


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "it's a $(log); 'really'.log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1, 3001)) + b"The [end] of it\xff\n")
    return path


async def test_a_line_is_found_with_its_number_and_what_stands_around_it(host: Host, log: Path) -> None:
    rows = await search(host, str(log), "LINE 2000".lower())
    assert [row.split(b"line")[0][:4] for row in rows] == [b"1998", b"1999", b"2000", b"2001", b"2002"]
    assert rows[2].startswith(b"2000:")
    assert rows[2].endswith(b":line 2000")


async def test_words_are_no_pattern_and_capitals_matter(host: Host, log: Path) -> None:
    assert (await search(host, str(log), "[End]")) == []
    assert b"The [end] of it\xff" in (await search(host, str(log), "[end]"))[-1]


async def test_of_too_many_the_newest_are_told(host: Host, log: Path) -> None:
    rows = await search(host, str(log), "line")
    assert len(rows) == MOST_ROWS
    assert b"The [end] of it" in rows[-1]


async def test_the_next_and_the_last_are_found_from_a_byte_on(host: Host, log: Path) -> None:
    text = log.read_bytes()
    where = [text.index(b"line 77\n"), *(text.index(b"line 77%d\n" % digit) for digit in range(10))]
    assert await find(host, str(log), "line 77", 0, 1) == where[0]
    assert await find(host, str(log), "line 77", where[0] + 1, 1) == where[1]
    assert await find(host, str(log), "LINE", 0, 1) is None
    assert await find(host, str(log), "line 77", where[3], -1) == where[2]
    assert await find(host, str(log), "line 77", where[0], -1) is None


async def test_what_is_near_is_found_before_what_is_far(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_log, "NEAR", 2000)
    text = log.read_bytes()
    assert await find(LocalHost(), str(log), "line 29", len(text), -1) == text.index(b"line 2999\n")
    assert await find(LocalHost(), str(log), "line 5\n".strip(), len(text), -1) == text.index(b"line 599\n")


async def test_behind_a_hole_bytes_are_those_of_the_file(host: Host, log: Path) -> None:
    text = log.read_bytes()
    with log.open("wb") as file:
        file.write(head := b"the launcher says a needle first\n")
        file.seek(3 << 30)
        file.write(text + b"a needle\n")
    rows = await search(host, str(log), "needle")
    places = [place for place in map(place_of, rows) if place is not None and place[1]]
    end = (3 << 30) + len(text)
    assert places == [(0, True), (end, True)]
    assert await find(host, str(log), "needle", len(head), 1) == end
    assert await find(host, str(log), "needle", end, -1) == 0


async def test_a_file_that_is_not_there_is_told(host: Host, tmp_path: Path) -> None:
    with pytest.raises(ChannelRefused, match="cannot be searched"):
        await search(host, str(tmp_path / "nothing.log"), "words")
