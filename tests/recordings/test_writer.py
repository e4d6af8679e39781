"""A recording on disk: private, append-only, bounded, readable up to its last second wherever it was cut."""

from __future__ import annotations

import json
import os
import random
import zlib
from pathlib import Path

import pytest

from bringup.core.errors import BringupError
from bringup.core.events import (
    ActionStep,
    Event,
    Gpu,
    GpuApp,
    GpusSeen,
    HttpAnswered,
    LinesRead,
    LogMoved,
    Process,
    ProcessesSeen,
    Reached,
    Server,
    ServerFound,
)
from bringup.recordings.rows import KINDS, to_event
from bringup.recordings.writer import Writer

BEGAN = 1_780_000_000.0
EVENTS: tuple[Event, ...] = (
    ServerFound(
        at=BEGAN + 1,
        server=Server(pid=9, start=77, engine="sglang", argv=("python", "--api-key", "sk-topsecret99", "--port", "1")),
    ),
    ProcessesSeen(
        at=BEGAN + 2,
        root=9,
        processes=(Process(9, 1, 77, "srv --hf-token hf_abcdefgh12345", shards=("/m/a-1-of-2.st",)),),
    ),
    GpusSeen(at=BEGAN + 3, gpus=(Gpu(0, used=12),), apps=(GpuApp(9, 0, 12),), took=0.4),
    HttpAnswered(at=BEGAN + 4, path="/health", status=503),
    LogMoved(at=BEGAN + 5, how="rotated"),
    ActionStep(at=BEGAN + 6, action="stop", step="SIGTERM sent.", detail={"pid": "9"}),
)


def rows(path: Path) -> list[dict[str, object]]:
    data = zlib.decompressobj(31).decompress(path.read_bytes())
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def test_what_happened_comes_back_masked_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.bringup"
    writer = Writer(path, {"host": "gpu-a"}, BEGAN)
    writer.log("/log", b"loading --token sk-top", BEGAN + 0.5)
    for event in EVENTS:
        writer.event(event, event.at)
    writer.event(LinesRead(at=1.0, size=1, lines=1, unknown=0), 1.0)
    writer.event(Reached(at=1.0, milestone="ready", line=1), 1.0)
    writer.log("/log", b"secret99 x\n\r 1%|", BEGAN + 7)
    writer.close(BEGAN + 8)
    header, *found = rows(path)
    assert header == {"recording": 2, "host": "gpu-a", "began": BEGAN}
    assert [row["t"] for row in found] == [1, 2, 3, 4, 5, 6, 7]
    assert found[-1] == {"t": 7.0, "log": "loading --token *** x\n\r 1%|", "path": "/log"}
    again = [to_event(row) for row in found[:-1]]
    assert again[2:] == list(EVENTS[2:])
    assert b"topsecret" not in zlib.decompressobj(31).decompress(path.read_bytes())
    assert "hf_abcdef" not in json.dumps(found)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_every_event_that_is_not_of_the_log_has_a_row() -> None:
    assert {
        "ProcessesSeen",
        "GpusSeen",
        "PortSeen",
        "ServerGone",
        "LinkChanged",
        "CheckpointSeen",
        "KernelSaid",
    } <= KINDS.keys()
    assert not {"Bar", "Fault", "LinesRead", "Launch"} & KINDS.keys()


def test_an_event_of_a_later_version_is_passed_over() -> None:
    assert to_event({"t": 1, "e": "FromTheFuture", "d": {}}) is None


def test_it_can_be_read_up_to_any_byte_at_which_it_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.bringup"
    writer = Writer(path, {}, BEGAN)
    flushed: list[tuple[int, int]] = []
    for second in range(40):
        writer.event(HttpAnswered(at=BEGAN + second, path=f"/{random.Random(second).random()}"), BEGAN + second)
        writer.flush()
        flushed.append((path.stat().st_size, second + 2))
    data = path.read_bytes()
    draw = random.Random(5)
    for _ in range(300):
        cut = draw.randrange(len(data) + 1)
        text = zlib.decompressobj(31).decompress(data[:cut])
        whole = text.count(b"\n")
        assert whole >= max([count for size, count in flushed if size <= cut], default=0)
        assert all(json.loads(line) for line in text.split(b"\n")[:whole])


def test_it_ends_at_its_limit_and_says_so(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "a.bringup", {}, BEGAN, most=20_000)
    draw = random.Random(1)
    while not writer.ended:
        writer.log("/log", draw.randbytes(2000).replace(b"\n", b"."), BEGAN)
        writer.log("/log", b"\n", BEGAN)
        writer.flush()
    assert "reached its limit" in writer.ended
    assert (tmp_path / "a.bringup").stat().st_size < 40_000
    assert len(rows(tmp_path / "a.bringup")) > 5
    writer.event(EVENTS[3], BEGAN)
    writer.close(BEGAN)


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.bringup").write_text("mine")
    with pytest.raises(BringupError, match="is there already"):
        Writer(tmp_path / "a.bringup", {}, BEGAN)
    assert (tmp_path / "a.bringup").read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr("bringup.recordings.writer._create", lambda path: full)
    writer = Writer(tmp_path / "a.bringup", {}, BEGAN)
    writer.event(EVENTS[3], BEGAN)
    writer.flush()
    assert "No space left" in writer.ended
    writer.event(EVENTS[3], BEGAN)
    writer.close(BEGAN)
