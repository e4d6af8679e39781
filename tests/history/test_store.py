from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import paststarts
import pytest
from paststarts import KEY

from bringup.history.opening import HistoryRefused, set_aside
from bringup.history.place import FILE
from bringup.history.records import StartKey
from bringup.history.store import Retention, Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "bringup"


@pytest.fixture
def store(folder: Path) -> Store:
    return Store(folder)


def test_nothing_is_made_by_looking(store: Store, folder: Path) -> None:
    assert store.starts() == ()
    assert store.earlier(KEY) == ()
    assert store.start(1) is None
    assert not folder.exists()


def test_a_start_comes_back_as_it_was_kept(store: Store) -> None:
    kept = paststarts.start()
    assert store.record(kept) == 1
    assert store.starts() == (kept,)
    assert store.start(1) == kept


def test_nobody_else_can_read_it(store: Store, folder: Path) -> None:
    store.record(paststarts.start())
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file


def test_the_same_start_is_kept_once_and_a_better_end_replaces_a_worse(store: Store) -> None:
    failed = paststarts.start(until=2, outcome="failed", cause="oom")
    assert store.record(failed) == 1
    assert store.record(paststarts.start()) == 1
    assert store.record(replace(failed, outcome="stopped", cause="killed")) == 1
    assert [(start.outcome, len(start.phases)) for start in store.starts()] == [("ready", 8)]


def test_a_start_seen_from_the_middle_does_not_replace_the_whole_one(store: Store) -> None:
    store.record(paststarts.start())
    store.record(replace(paststarts.start(), whole=False, phases=()))
    assert store.starts()[0].whole
    other = replace(paststarts.start(2), whole=False)
    store.record(other)
    store.record(replace(other, whole=True))
    assert store.starts()[1].whole


def test_without_a_process_the_moment_of_the_launch_tells_that_it_is_the_same(store: Store) -> None:
    seen = paststarts.start(identity="")
    store.record(seen)
    store.record(replace(seen, began_at=seen.began_at + 2))
    store.record(replace(seen, began_at=seen.began_at + 2, identity="41:7"))
    assert len(store.starts()) == 1
    store.record(replace(seen, began_at=seen.began_at + 60))
    assert len(store.starts()) == 2


def test_a_log_that_is_read_later_adds_nothing_to_what_was_watched(store: Store) -> None:
    seen = paststarts.start()
    store.record(seen)
    store.record(replace(seen, identity="", began_at=seen.began_at + 25, seconds=seen.seconds - 25, phases=()))
    assert store.starts() == (seen,)


def test_two_processes_that_start_together_are_two_starts(store: Store) -> None:
    store.record(paststarts.start(identity="41:7"))
    store.record(paststarts.start(identity="42:7"))
    assert len(store.starts()) == 2


def test_the_key_decides_and_not_the_port_or_the_version(store: Store) -> None:
    store.record(paststarts.start(1))
    store.record(paststarts.start(2, version="0.5.10"))
    for number, change in enumerate(({"tp": 4}, {"host": "node-8"}, {"draft": ""}, {"engine": "vllm"}, {"ep": 8}), 3):
        store.record(paststarts.start(number, key=replace(KEY, **change)))
    assert len(store.earlier(KEY)) == 2
    assert len(store.earlier(replace(KEY, tp=4))) == 1
    assert store.earlier(replace(KEY, nnodes=2)) == ()


def test_only_whole_starts_that_became_ready_say_how_long_it_takes(store: Store) -> None:
    store.record(paststarts.start(1))
    store.record(paststarts.start(2, whole=False))
    store.record(paststarts.start(3, until=4, outcome="failed", cause="oom"))
    store.record(paststarts.start(4, outcome="degraded", times={"weights": 2.0}))
    store.record(paststarts.start(5, outcome="standby"))
    found = store.earlier(KEY)
    assert [past.total for past in found] == [
        paststarts.start(1).seconds,
        paststarts.start(4, times={"weights": 2.0}).seconds,
    ]
    assert store.earlier(KEY, but=paststarts.start(4).identity) == found[:1]


def test_the_newest_ones_are_loaded_newest_last(store: Store) -> None:
    for number in (3, 1, 2):
        store.record(paststarts.start(number, times={"weights": float(number)}))
    assert [past.phase("weights/target").seconds for past in store.earlier(KEY, limit=2)] == [180.0, 270.0]  # type: ignore[union-attr]


def test_starts_of_one_host_go_by_either_of_its_names(store: Store) -> None:
    store.record(paststarts.start(1))
    store.record(paststarts.start(2, target="other", key=replace(KEY, host="node-8")))
    assert len(store.starts("gpu-a")) == len(store.starts("node-7")) == store.count("node-7") == 1
    assert store.starts("nowhere") == ()
    assert store.clear("gpu-a") == 1
    assert [start.key.host for start in store.starts()] == ["node-8"]
    assert store.clear() == 1


def test_no_secret_and_no_escape_is_kept(store: Store, folder: Path) -> None:
    model = "https://user:hunter2secret@hub.example/m\x1b[31m"
    key = StartKey(host="h\x1b]0;x\x07", engine="sglang", model=model, draft="hf_abcdefgh12345678")
    store.record(paststarts.start(key=key, target="t" * 5000))
    assert len(store.earlier(key)) == 1, "it is found by the name that it was kept under"
    data = b"".join(file.read_bytes() for file in folder.iterdir())
    for text in (b"hunter2", b"hf_abcd", b"\x1b[", b"\x1b]", b"t" * 500):
        assert text not in data


def test_only_so_many_are_kept(folder: Path) -> None:
    store = Store(folder, Retention(starts=3))
    for number in range(1, 7):
        store.record(paststarts.start(number))
    assert [start.number for start in store.starts()] == [4, 5, 6]
    with sqlite3.connect(folder / FILE) as file:
        assert file.execute("SELECT count(DISTINCT start) FROM phases").fetchone() == (3,)
    file.close()


def test_old_ones_are_forgotten(folder: Path) -> None:
    now = [0.0]
    store = Store(folder, Retention(days=365), wall=lambda: now[0])
    store.record(paststarts.start(1))
    now[0] = 364 * 86400.0
    store.record(paststarts.start(2))
    now[0] = 366 * 86400.0
    store.record(paststarts.start(3))
    assert [start.identity for start in store.starts()] == [paststarts.start(n).identity for n in (2, 3)]


def test_a_new_number_is_never_an_old_one(store: Store) -> None:
    store.record(paststarts.start(1))
    store.clear()
    assert store.record(paststarts.start(2)) == 2


def test_many_consoles_write_at_once_and_nothing_is_lost_or_doubled(folder: Path) -> None:
    failures: list[BaseException] = []

    def console(own: int) -> None:
        try:
            for number in range(1, 11):
                Store(folder).record(paststarts.start(number))
                Store(folder).record(paststarts.start(100 * own + number))
                Store(folder).earlier(KEY)
        except BaseException as error:  # noqa: BLE001 - it is told in the main thread
            failures.append(error)

    threads = [threading.Thread(target=console, args=(own,)) for own in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    starts = Store(folder).starts(limit=1000)
    assert len(starts) == len({start.identity for start in starts}) == 10 + 6 * 10


def test_what_is_set_aside_once_is_not_set_aside_again(store: Store, folder: Path) -> None:
    store.record(paststarts.start())
    assert set_aside(folder) is None, "it is in order: another process has mended it"
    with pytest.raises(HistoryRefused):
        set_aside(folder / "nowhere")
