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
from bringup.recordings.encoder import Encoder, Item, LogPiece, LogTurn
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
    ActionStep(at=BEGAN + 6, action="stop", step="SIGTERM sent.", detail={"pid": "9"}),
)


def rows(path: Path) -> list[dict[str, object]]:
    data = zlib.decompressobj(31).decompress(path.read_bytes())
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def test_what_happened_comes_back_masked_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.bringup"
    writer, encoder = Writer(path, {"host": "gpu-a"}, BEGAN), Encoder(BEGAN)
    piece, more = LogPiece("/log", b"loading --token sk-top", None), LogPiece("/log", b"secret99 x\n\r 1%|", BEGAN + 7)
    seen: list[Item] = [piece, *EVENTS, LinesRead(at=1.0, size=1, lines=1, unknown=0)]
    seen += [Reached(at=1.0, milestone="ready", line=1), more]
    for t, item in enumerate(seen):
        writer.add(encoder.rows(item, BEGAN + t))
    writer.add(encoder.close(BEGAN + 9))
    writer.close()
    header, *found = rows(path)
    assert header == {"recording": 2, "host": "gpu-a", "began": BEGAN}
    assert [row["t"] for row in found] == [0, 1, 2, 3, 4, 5, 8]
    assert found[0] == {"t": 0.0, "log": "loading ", "path": "/log", "at": None}
    assert found[-1] == {"t": 8.0, "log": "--token *** x\n\r 1%|", "path": "/log", "at": BEGAN + 7}
    again = [to_event(row) for row in found[1:-1]]
    assert again[2:] == list(EVENTS[2:])
    assert b"topsecret" not in zlib.decompressobj(31).decompress(path.read_bytes())
    assert "hf_abcdef" not in json.dumps(found)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_log_that_turns_gives_up_what_was_held_back_first() -> None:
    encoder = Encoder(BEGAN)
    assert encoder.rows(LogPiece("/log", b"HF_TO", BEGAN), BEGAN) == []
    moved = LogMoved(at=BEGAN + 1, how="rotated")
    told = [json.loads(row) for row in encoder.rows(LogTurn("/log", moved), BEGAN + 1)]
    assert [(row.get("log"), row.get("e"), row["path"]) for row in told] == [
        ("HF_TO", None, "/log"),
        (None, "LogMoved", "/log"),
    ]
    # The session also folds it in: it must not be kept twice.
    assert encoder.rows(moved, BEGAN + 1) == []


def test_a_clock_that_goes_back_does_not_take_the_rows_along() -> None:
    encoder = Encoder(BEGAN)
    times = [json.loads(encoder.rows(EVENTS[3], BEGAN + t)[0])["t"] for t in (5.0, 1.0, 6.0)]
    assert times == [5.0, 5.0, 6.0]


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


def test_it_ends_at_its_limit_and_says_so(tmp_path: Path) -> None:
    writer, encoder = Writer(tmp_path / "a.bringup", {}, BEGAN, most=20_000), Encoder(BEGAN)
    draw = random.Random(1)
    while not writer.ended:
        noise = draw.randbytes(2000).replace(b"\n", b".")
        writer.add(encoder.rows(LogPiece("/log", noise + b"\n", BEGAN), BEGAN))
        writer.flush()
    assert "reached its limit" in writer.ended
    assert (tmp_path / "a.bringup").stat().st_size < 40_000
    assert len(rows(tmp_path / "a.bringup")) > 5
    writer.add([b"{}"])
    writer.close()


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
    writer.add([b"{}"])
    writer.flush()
    assert "No space left" in writer.ended
    writer.add([b"{}"])
    writer.close()
