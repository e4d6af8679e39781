"""The log of what was done to servers: two lines an action, private, bounded, readable whatever is in it."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bringup.history.actions import BEFORE, FILE, ActionLog, ActionRow, read_line

ROW = ActionRow("a1", 1000.0, "eva@desk", "stop", "gpu-a", "node-7", "python -m server", "TERM", (41, 42))


def test_the_begin_and_the_end_are_one_action(tmp_path: Path) -> None:
    log = ActionLog(tmp_path / "data")
    log.write(ROW)
    assert log.read() == [ROW], "what was never ended is begun"
    ended = replace(ROW, outcome="done", said="All 2 processes have ended.", seconds=3.25)
    log.write(ended)
    log.write(replace(ROW, id="b2", at=1001.0, target="gpu-b", node=""))
    assert log.read()[0] == ended
    assert [row.id for row in log.read()] == ["a1", "b2"]
    assert len((tmp_path / "data" / FILE).read_text().splitlines()) == 3


def test_lines_of_two_consoles_may_come_in_any_order(tmp_path: Path) -> None:
    log = ActionLog(tmp_path)
    log.write(replace(ROW, outcome="done"))
    log.write(ROW)
    assert [row.outcome for row in log.read()] == ["done"]


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    ActionLog(folder).write(ROW)
    (folder / FILE).chmod(0o644)
    ActionLog(folder).write(ROW)
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / FILE).symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"):
        ActionLog(tmp_path).write(ROW)
    assert other.read_text() == "mine"


def test_secrets_and_escapes_do_not_come_in(tmp_path: Path) -> None:
    what = "python --api-key very-secret-word \x1b[31m"
    ActionLog(tmp_path).write(replace(ROW, what=what, said="HF_TOKEN=hf_abcdefghijklmnop", way="x" * 5000))
    text = (tmp_path / FILE).read_text()
    assert "very-secret-word" not in text
    assert "hf_abcdefghijklmnop" not in text
    assert "\\u001b" not in text
    assert len(text) < 3000


@pytest.mark.parametrize("size", [601, 613, 1011, 5000, 123_456])
def test_a_text_that_is_cut_says_so_and_of_how_much(size: int, tmp_path: Path) -> None:
    what = "python3 -m sglang.launch_server ".ljust(size, "x")
    ActionLog(tmp_path).write(replace(ROW, what=what, said=what))
    (row,) = ActionLog(tmp_path).read()
    for text in (row.what, row.said):
        begin, _, rest = text.rpartition("… (")
        assert what.startswith(begin)
        assert rest == f"{size - len(begin)} more)"
        assert 580 < len(text) <= 600
    ActionLog(tmp_path).write(row)
    assert ActionLog(tmp_path).read() == [row], "what was written is read as it was written"


def test_one_that_just_fits_is_whole(tmp_path: Path) -> None:
    ActionLog(tmp_path).write(replace(ROW, what="x" * 600))
    assert ActionLog(tmp_path).read()[0].what == "x" * 600


def test_a_host_or_the_newest(tmp_path: Path) -> None:
    log = ActionLog(tmp_path)
    for number in range(9):
        log.write(replace(ROW, id=str(number), at=1000.0 + number, target=f"gpu-{number % 2}", node="node"))
    assert [row.id for row in log.read("gpu-1", limit=2)] == ["5", "7"]
    assert [row.id for row in log.read("node", limit=1)] == ["8"]
    assert log.read("gpu-9") == []
    assert ActionLog(tmp_path / "nothing").read() == []


def test_it_takes_a_bounded_room_and_loses_the_oldest(tmp_path: Path) -> None:
    log = ActionLog(tmp_path, largest=4000)
    for number in range(200):
        log.write(replace(ROW, id=str(number), at=float(number)))
    assert (tmp_path / FILE).stat().st_size <= 4000
    assert (tmp_path / BEFORE).stat().st_size <= 4000
    kept = [int(row.id) for row in log.read(limit=1000)]
    assert kept == list(range(kept[0], 200))
    assert len(kept) > 10


def test_many_writers_at_once_leave_whole_lines(tmp_path: Path) -> None:
    def work(writer: int) -> None:
        log = ActionLog(tmp_path)
        for number in range(25):
            log.write(replace(ROW, id=f"{writer}-{number}"))

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ActionLog(tmp_path).read(limit=1000)) == 100


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"7", b"\xff", b'{"id": "a"}', b'{"pids": 7}', b"[" * 100_000, b'{"at": 1e999}']
)
def test_what_is_no_line_of_it_is_passed_over(line: bytes, tmp_path: Path) -> None:
    assert read_line(line) is None
    log = ActionLog(tmp_path)
    log.write(ROW)
    with (tmp_path / FILE).open("ab") as file:
        file.write(line + b"\n")
    log.write(replace(ROW, outcome="failed"))
    assert [row.outcome for row in log.read()] == ["failed"]


def test_a_line_is_json_that_says_who_when_what_where_and_the_outcome(tmp_path: Path) -> None:
    ActionLog(tmp_path).write(replace(ROW, outcome="failed", said="2 processes are left."))
    row = json.loads((tmp_path / FILE).read_text())
    assert row["schema"] == 1
    assert (row["who"], row["at"], row["action"], row["target"], row["node"]) == (
        *("eva@desk", 1000.0, "stop", "gpu-a", "node-7"),
    )
    assert (row["pids"], row["outcome"], row["said"]) == ([41, 42], "failed", "2 processes are left.")
    for wrong in (float("nan"), 1e300, -1.0):
        assert read_line(json.dumps({**row, "at": wrong}).encode()) is None


def test_two_consoles_that_find_it_full_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This one has opened it, and waits for a lock; the other one sets it aside and fills a new one meanwhile."""
    log = ActionLog(tmp_path, largest=2000)
    while not (tmp_path / FILE).exists() or (tmp_path / FILE).stat().st_size < 1600:
        log.write(ROW)
    full = (tmp_path / FILE).read_bytes()
    locked: list[int] = []

    def lock(descriptor: int, how: int) -> None:
        if not locked:
            (tmp_path / FILE).rename(tmp_path / BEFORE)
            (tmp_path / FILE).write_bytes(b"{}\n")
        locked.append(descriptor)

    monkeypatch.setattr(fcntl, "flock", lock)
    log.write(replace(ROW, id="second"))
    assert (tmp_path / BEFORE).read_bytes() == full
    assert (tmp_path / FILE).read_bytes().startswith(b"{}\n")
    assert {row.id for row in log.read()} == {"a1", "second"}


def test_a_line_that_was_not_finished_spoils_no_other_one(tmp_path: Path) -> None:
    log = ActionLog(tmp_path)
    log.write(ROW)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"schema": 1, "id": "a9", "at"')
    log.write(replace(ROW, id="b2", at=2000.0))
    assert [row.id for row in log.read()] == ["a1", "b2"]


def test_a_full_disk_takes_a_line_wholly_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ActionLog(tmp_path)
    log.write(ROW)
    before = (tmp_path / FILE).read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:10]))
    with pytest.raises(OSError, match="No space left"):
        log.write(replace(ROW, id="b2"))
    assert (tmp_path / FILE).read_bytes() == before
