"""A whole log that is searched on its host: what is found, what is not, and names that a shell would take apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host
from bringup.hosts.whole_log import MOST_ROWS, beginning, search


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


async def test_the_beginning_is_read(host: Host, log: Path) -> None:
    rows = await beginning(host, str(log))
    assert rows[:2] == [b"line 1", b"line 2"]


async def test_a_file_that_is_not_there_is_told(host: Host, tmp_path: Path) -> None:
    with pytest.raises(ChannelRefused, match="cannot be searched"):
        await search(host, str(tmp_path / "nothing.log"), "words")
