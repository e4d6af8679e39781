"""`bringup replay FILE` on a terminal: the console, from where and how fast it was said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from storydata import BEGAN, story
from terminal import Terminal

from bringup.cli.replay import _begin
from bringup.core.errors import UsageError
from bringup.hosts.recording import Recording, load_recording
from bringup.recordings.encoder import Encoder
from bringup.recordings.writer import Writer

COMMAND = (sys.executable, "-m", "bringup", "replay")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "a.bringup"
    writer, encoder = Writer(path, {"host": "root@gpu-a"}, BEGAN), Encoder(BEGAN)
    for t, item in story(utc_offset=7200.0):
        writer.add(encoder.rows(item, BEGAN + t))
    writer.close()
    return path


@pytest.fixture(scope="module")
def recording(file: Path) -> Recording:
    return load_recording(file)


def test_a_terminal_gets_the_console(file: Path) -> None:
    with Terminal([*COMMAND, str(file), "--speed", "5", "--at", "+4"]) as terminal:
        terminal.wait_for(b"REPLAY", 60)
        terminal.wait_for(b"5x", 60)
        terminal.send(b"q")
        assert terminal.end(60) == 0


def test_a_terminal_gets_lines_where_they_are_asked_for(file: Path) -> None:
    with Terminal([*COMMAND, str(file), "--json"]) as terminal:
        assert terminal.end(60) == 0
    assert b'"state":"ready"' in terminal.seen
    assert b"REPLAY" not in terminal.seen


@pytest.mark.parametrize("words", [["--theme", "none"], ["--at", "25:00:00"], ["--at", "+9h"]])
def test_what_cannot_be_is_told_before_the_screen_changes(words: list[str], file: Path) -> None:
    with Terminal([*COMMAND, str(file), *words]) as terminal:
        assert terminal.end(60) == 2
    assert terminal.seen.startswith(b"bringup: ")
    assert b"\x1b[?1049h" not in terminal.seen


@pytest.mark.parametrize(
    ("at", "seconds"),
    # The recording begins at 20:26:40 UTC, which is 22:26:40 there.
    [(None, 0.0), ("+4", 4.0), ("+4s", 4.0), ("22:26:43", 3.0), ("22:26:43.5", 3.5), ("22:26:40", 0.0)],
)
def test_where_it_begins(at: str | None, seconds: float, recording: Recording) -> None:
    assert _begin(at, recording) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ("22:26:39", "from 22:26:40 to 22:27:43"),
        ("20:26:43", "from 22:26:40 to"),
        ("+1h", "It lasts"),
        ("90", "time of day such as"),
        ("noon", "time of day such as"),
        ("-5", "time of day such as"),
        ("", "time of day such as"),
    ],
)
def test_a_moment_that_is_not_there_is_told(at: str, says: str, recording: Recording) -> None:
    with pytest.raises(UsageError) as told:
        _begin(at, recording)
    assert says in str(told.value.hint)


def test_a_recording_without_a_clock_has_no_time_of_day(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{"recording": 2}\n')
    with pytest.raises(UsageError, match="time of day"):
        _begin("12:00", load_recording(tmp_path / "a"))
