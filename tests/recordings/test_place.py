"""Names that nobody has taken, and room that is made only at the cost of what nobody asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bringup.recordings.place import Keeping, is_off, make_room
from bringup.recordings.writer import Writer

AT = 1_780_000_000.0


def put(folder: Path, name: str, size: int, age: int) -> Path:
    path = folder / name
    path.write_bytes(b"x" * size)
    os.utime(path, (AT - age, AT - age))
    return path


def test_a_name_tells_target_and_time_and_is_taken_once(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    first = keeping.path("root@gpu-a", AT, own=True)
    assert first.name == "root@gpu-a-20260528-202640.auto.bringup"
    first.touch()
    assert keeping.path("root@gpu-a", AT, own=True).name == "root@gpu-a-20260528-202640-2.auto.bringup"
    assert keeping.path("root@gpu-a", AT, own=False).name == "root@gpu-a-20260528-202640.bringup"


@pytest.mark.parametrize("target", ["../../etc/passwd", "a b/c", "...", "\x1b[31m", "n" * 500])
def test_no_target_leads_out_of_the_folder(target: str, tmp_path: Path) -> None:
    path = Keeping(tmp_path).path(target, AT, own=True)
    assert path.parent == tmp_path
    assert len(path.name) < 120
    assert path.name.isprintable()
    assert not path.name.startswith(".")


def test_the_oldest_that_nobody_asked_for_go_first(tmp_path: Path) -> None:
    old, middle, new = (put(tmp_path, f"{age}.auto.bringup", 400, age) for age in (300, 200, 100))
    asked = put(tmp_path, "asked.bringup", 4000, 900)
    strange = put(tmp_path, "notes.txt", 4000, 900)
    make_room(Keeping(tmp_path, most=500, total=1300))
    assert [path.exists() for path in (old, middle, new, asked, strange)] == [False, True, True, True, True]


def test_what_fits_stays_though_one_may_take_all_the_room(tmp_path: Path) -> None:
    over = [put(tmp_path, f"{age}.auto.bringup", 300_000, age) for age in (300, 200, 100)]
    keeping = Keeping(tmp_path, most=4_000_000, total=4_000_000)
    make_room(keeping)
    assert all(path.exists() for path in over)
    put(tmp_path, "new.auto.bringup", 3_000_000, 0)
    make_room(keeping)
    assert [path.exists() for path in over] == [False, False, True], "the new one has grown by now"


def test_one_that_still_grows_is_never_removed(tmp_path: Path) -> None:
    running = Writer(tmp_path / "running.auto.bringup", {}, AT)
    running.add([b"x" * 100])
    running.flush()
    os.utime(running.path, (AT - 900, AT - 900))
    over = put(tmp_path, "over.auto.bringup", 400, 100)
    make_room(Keeping(tmp_path, most=400, total=400))
    assert running.path.exists()
    assert not over.exists()
    running.close()
    make_room(Keeping(tmp_path, most=40, total=40))
    assert not running.path.exists()


def test_a_link_is_left_alone(tmp_path: Path) -> None:
    target = put(tmp_path, "precious", 5000, 900)
    (tmp_path / "a.auto.bringup").symlink_to(target)
    make_room(Keeping(tmp_path, most=10, total=10))
    assert target.exists()
    assert (tmp_path / "a.auto.bringup").is_symlink()


def test_a_folder_that_is_not_there_has_room(tmp_path: Path) -> None:
    make_room(Keeping(tmp_path / "nowhere"))


@pytest.mark.parametrize(("value", "off"), [("0", True), (" No ", True), ("1", False), ("", False)])
def test_the_switch(value: str, off: bool) -> None:
    assert is_off({"BRINGUP_RECORD": value}) is off
