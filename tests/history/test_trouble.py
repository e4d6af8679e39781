"""A history that is broken, newer, locked, read-only or nowhere: a sentence, and life goes on."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import paststarts
import pytest
from paststarts import KEY

from bringup.history import opening
from bringup.history.opening import HistoryRefused
from bringup.history.place import FILE
from bringup.history.store import Store

NOBODY = 65534


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    for number in range(1, 26):
        store.record(paststarts.start(number))
    return store


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that any user can reach."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Root may write everywhere: be somebody else meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def damaged(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{FILE}.damaged-*"))


def spoil(file: Path) -> None:
    """Overwrite all pages but the first."""
    for ending in ("-wal", "-shm"):
        file.with_name(f"{file.name}{ending}").unlink(missing_ok=True)
    size = file.stat().st_size
    assert size > 8192
    with file.open("r+b") as data:
        data.seek(4096)
        data.write(b"\xa5" * (size - 4096))


@pytest.mark.parametrize("how", ["pages", "text", "truncated"])
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(kept: Store, how: str) -> None:
    file = kept.folder / FILE
    if how == "pages":
        spoil(file)
    elif how == "text":
        file.write_bytes(b"this is no database\n" * 500)
    else:
        file.write_bytes(file.read_bytes()[:5000])
    before = file.read_bytes()
    store = Store(kept.folder)
    number = store.record(paststarts.start(99))
    assert [start.number for start in store.starts()] == [number]
    assert [path.read_bytes() for path in damaged(kept.folder)] == [before]
    assert damaged(kept.folder)[0].name in store.notice
    again = Store(kept.folder)
    assert len(again.earlier(KEY)) == 1
    assert again.notice == ""


def test_a_damaged_file_that_is_only_read_is_told_too(kept: Store) -> None:
    spoil(kept.folder / FILE)
    store = Store(kept.folder)
    assert store.earlier(KEY) == ()
    assert "damaged" in store.notice
    assert len(damaged(kept.folder)) == 1


def test_a_file_of_a_newer_release_is_left_alone(kept: Store) -> None:
    with sqlite3.connect(kept.folder / FILE) as file:
        file.execute(f"PRAGMA user_version = {opening.SCHEMA + 1}")
    file.close()
    for action in (kept.starts, lambda: kept.record(paststarts.start(99)), lambda: kept.clear()):
        with pytest.raises(HistoryRefused, match="of a newer bringup"):
            action()
    assert not damaged(kept.folder)


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    store = Store(tmp_path)
    assert store.starts() == ()
    assert store.record(paststarts.start()) == 1


def test_a_writer_that_never_ends_is_waited_for_and_then_told(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "BUSY_S", 0.05)
    other = sqlite3.connect(kept.folder / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert len(kept.starts(limit=100)) == 25, "who only reads does not wait"
        with pytest.raises(HistoryRefused, match="locked"):
            kept.record(paststarts.start(99))
    finally:
        other.close()
    kept.record(paststarts.start(99))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "bringup")
    with pytest.raises(HistoryRefused, match=r"cannot be used: Not a directory\. .*BRINGUP_DATA_DIR"):
        store.record(paststarts.start())
    assert store.starts() == ()


def test_a_folder_that_cannot_be_written(open_place: Path, request: pytest.FixtureRequest) -> None:
    open_place.chmod(0o555)
    request.getfixturevalue("unprivileged")
    with pytest.raises(HistoryRefused, match="Permission denied"):
        Store(open_place / "bringup").record(paststarts.start())


def test_a_read_only_history_is_read(open_place: Path, request: pytest.FixtureRequest) -> None:
    Store(open_place).record(paststarts.start())
    for file in open_place.iterdir():
        file.chmod(0o444)
    open_place.chmod(0o555)
    request.getfixturevalue("unprivileged")
    store = Store(open_place)
    assert len(store.starts()) == 1
    assert len(store.earlier(KEY)) == 1
    with pytest.raises(HistoryRefused, match="cannot be used"):
        store.record(paststarts.start(2))
