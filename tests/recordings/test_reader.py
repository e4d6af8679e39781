"""Reading format 2: up to any cut, past damage, and never led astray by what a hostile file says."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import threading
from pathlib import Path

import pytest
from storydata import BEGAN, story

from bringup.core.events import HttpAnswered, LogMoved, LogRoom
from bringup.hosts.recording import load_recording, parse_recording
from bringup.recordings.encoder import Encoder, LogPiece, LogTurn
from bringup.recordings.reader import read_row
from bringup.recordings.rows import to_row
from bringup.recordings.writer import Writer

HEAD = json.dumps({"recording": 2, "host": "gpu-a", "began": BEGAN})
HTTP = {"t": 1.0, "e": "HttpAnswered", "d": {"at": BEGAN + 1, "path": "/health", "status": 503}}


def write(path: Path, name: str = "") -> list[tuple[int, int]]:
    """Write a recording; return (bytes of the file, rows written) after each second."""
    writer, encoder = Writer(path, {"host": name}, BEGAN), Encoder(BEGAN)
    sizes, count = [], 0
    for t, item in story():
        fresh = encoder.rows(item, BEGAN + t)
        writer.add(fresh)
        writer.flush()
        count += len(fresh)
        sizes.append((path.stat().st_size, count))
    return sizes


def test_a_thousand_cuts_at_any_byte_are_read_up_to_the_cut(tmp_path: Path) -> None:
    """Several writers at once, each cut off where it stands; every second that was written is there."""
    written: dict[int, list[tuple[int, int]]] = {}

    def one(number: int) -> None:
        written[number] = write(tmp_path / f"{number}.bringup", f"host{number}")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = {number: load_recording(tmp_path / f"{number}.bringup").items for number in written}
    draw, cut_file = random.Random(7), tmp_path / "cut"
    for trial in range(1000):
        number = trial % len(written)
        data = (tmp_path / f"{number}.bringup").read_bytes()
        head = written[number][0][0]
        cut = draw.randrange(head, len(data) + 1)
        cut_file.write_bytes(data[:cut])
        found = load_recording(cut_file)
        promised = max(count for size, count in written[number] if size <= cut)
        assert len(found.items) >= promised
        assert found.items == whole[number][: len(found.items)]
        assert found.header.host == f"host{number}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_writer_that_is_killed_leaves_what_it_wrote(tmp_path: Path) -> None:
    for trial in range(5):
        path, (told, tell) = tmp_path / f"{trial}.bringup", os.pipe()
        child = os.fork()
        if child == 0:
            writer, encoder = Writer(path, {}, BEGAN), Encoder(BEGAN)
            for number in range(100_000):
                writer.add(encoder.rows(HttpAnswered(at=BEGAN + number, path="/health", status=503), BEGAN + number))
                writer.flush()
                os.write(tell, b".")
            os._exit(1)
        os.close(tell)
        seen = sum(len(os.read(told, 1)) for _ in range(20 + 10 * trial))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)
        assert len(load_recording(path).items) >= seen


def test_bytes_before_the_header_is_whole_are_told_as_no_recording(tmp_path: Path) -> None:
    from bringup.core.errors import UsageError

    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(UsageError, match="not a recording"):
        load_recording(tmp_path / "a")


def test_damaged_rows_are_passed_over_and_told() -> None:
    good = json.dumps(HTTP)
    found = parse_recording([HEAD, good, "{not json", good, '{"t": 1, "e": "HttpAnswered", "d": {}}', good])
    assert len(found.items) == 3
    assert "line 5" in found.trouble
    assert "2 rows were passed over" in found.trouble


def test_events_of_a_later_version_are_passed_over_in_silence() -> None:
    found = parse_recording([HEAD, json.dumps({"t": 9, "e": "FromTheFuture", "d": {"x": [1]}}), json.dumps(HTTP)])
    assert (len(found.items), found.trouble) == (1, "")


def test_logs_keep_their_paths_and_arrivals() -> None:
    rows = [
        {"t": 1, "log": "old\n", "path": "/a", "at": None},
        {"t": 2, "log": "\u00e2\u0096\u0088", "path": "/b", "at": BEGAN + 2},
        {"t": 3, "e": "LogMoved", "d": {"at": BEGAN + 3, "how": "rotated"}, "path": "/a"},
    ]
    found = parse_recording([HEAD, *map(json.dumps, rows)])
    assert [item for _, item in found.items] == [
        LogPiece("/a", b"old\n", None),
        LogPiece("/b", b"\xe2\x96\x88", BEGAN + 2),
        LogTurn("/a", LogMoved(at=BEGAN + 3, how="rotated")),
    ]


def test_a_recording_of_a_late_start_begins_with_it() -> None:
    late = {**HTTP, "t": 7200.0}
    found = parse_recording([HEAD, json.dumps(late), json.dumps({**late, "t": 7205.5})])
    assert [t for t, _ in found.items] == [0.0, 5.5]
    assert (found.wall, found.end) == (BEGAN + 7200, 5.5)


@pytest.mark.parametrize(
    "row",
    [
        {"t": math.nan},
        {"t": math.inf, "log": "x", "path": "/a"},
        {"t": 1e9, "log": "x", "path": "/a"},
        {"t": True, "log": "x", "path": "/a"},
        {"t": 1, "log": "\u20ac", "path": "/a"},
        {"t": 1, "log": 5, "path": "/a"},
        {"t": 1, "log": "x"},
        {"t": 1, "log": "x", "path": "/a", "at": "soon"},
        {"t": 1, "log": "x", "path": "/a", "at": 1e300},
        {"t": 1, "e": "HttpAnswered", "d": {"at": 1e300, "path": "/"}},
        {"t": 1, "e": "HttpAnswered", "d": {"at": 10**17, "path": "/"}},
        {"t": 1, "e": "HttpAnswered", "d": {"at": 1, "path": "/", "status": 10**40}},
        {"t": 1, "e": "HttpAnswered", "d": [1]},
        {"t": 1, "e": "LogMoved", "d": {"at": 1, "how": "rotated"}},
        {"t": 1, "e": "LogMoved", "d": {"at": 1, "how": "eaten"}, "path": "/a"},
        [1, 2],
    ],
)
def test_what_cannot_be_is_refused(row: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_row(json.dumps(row).encode())


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match=r"."):
        read_row(b'{"t":1,"e":"HttpAnswered","d":' + b"[" * 100_000)


def test_a_count_may_be_larger_than_any_time() -> None:
    """A disk with 4 TiB free is no clock that has gone mad, though a log line's free gigabytes have the same name."""
    room = LogRoom(at=1_800_000_000.0, full="", free=4 << 40)
    assert read_row(to_row(1.0, room)) == (1.0, room)
    with pytest.raises(ValueError, match="at is"):
        read_row(to_row(1.0, LogRoom(at=1e12, full="", free=0)))
