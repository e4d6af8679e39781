"""`bringup replay`: one line for each change of the verdict, from recordings that are made here."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loggen import sglang_chunks

from bringup.cli import run

WALL = 1_772_442_854.0
HEAD = {"recording": 1, "engine": "sglang", "version": "0.5.15", "hardware": "none", "what": "a test", "truth": {}}
COMMAND = ["python3", "-m", "sglang.launch_server", "--model-path", "/models/target", "--tp-size", "2"]
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def quiet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def start(**log: Any) -> list[Row]:
    """A start on two ranks: its log, and its processes twice a second."""
    rows: list[Row] = [{"t": 0.0, "event": {"ev": "start", "pid": 10, "wall": WALL, "cmd": COMMAND}}]
    chunks = sglang_chunks("0.5.15", tp=2, **log)
    rows += [{"t": t, "log": data.decode("latin-1")} for t, data in chunks]
    end = int(chunks[-1][0]) + 1
    for half in range(2 * end):
        t = half / 2
        rows.append({"t": t, "proc": {"pid": 10, "ppid": 1, "cmd": " ".join(COMMAND), "state": "S", "minflt": half}})
        for rank in range(2):
            title = f"sglang::scheduler_TP{rank}"
            proc = {"pid": 11 + rank, "ppid": 10, "cmd": title, "state": "R", "minflt": 5000 * half}
            rows.append({"t": t, "proc": proc})
    return sorted(rows, key=lambda row: float(row["t"]))


def write(path: Path, rows: list[Row], head: Row = HEAD) -> Path:
    text = "\n".join(json.dumps(row) for row in (head, *rows)) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def replayed(capsys: pytest.CaptureFixture[str], path: Path) -> list[Row]:
    assert run(["replay", "--json", str(path)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def without_time(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("t", "now", "phases", "ranks", "evidence")}


@pytest.mark.parametrize("name", ["start.jsonl", "start.jsonl.gz"])
def test_a_line_for_each_change_and_the_last_is_the_end(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = start(draft=True, until="ready")
    said = replayed(capsys, write(tmp_path / name, rows))
    assert [row["t"] for row in said] == sorted(row["t"] for row in said)
    states = [row["state"] for row in said]
    assert states[0] == "starting"
    assert set(states) <= {"starting", "slow", "ready"}
    final = said[-1]
    assert (final["state"], final["phase"], final["t"]) == ("ready", "serving", rows[-1]["t"])
    assert (final["schema"], final["engine"], final["ranks_expected"]) == (1, "sglang", 2)
    assert final["ranks_done"]["weights"] == [0, 1]
    assert final["now"].startswith("2026-03-02T09:")
    assert final["now"].endswith("+00:00")
    ready = min(float(row["t"]) for row in rows if "ready to roll" in row.get("log", ""))
    assert min(row["t"] for row in said if row["state"] == "ready") == ready


def test_the_phases_of_both_models_pass_by_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = replayed(capsys, write(tmp_path / "a", start(draft=True, until="ready")))
    order: list[tuple[Any, Any]] = []
    for row in said:
        if order[-1:] != [(row["phase"], row["role"])]:
            order.append((row["phase"], row["role"]))
    assert order[:4] == [("launch", None), ("distributed", None), ("weights", "target"), ("weights", "draft")]
    assert order[-2:] == [("warmup", None), ("serving", None)]
    assert len(order) == len(set(order))


def test_what_only_counts_on_is_no_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = start(until="ready")
    quiet = [{"t": rows[-1]["t"] + second, "event": {"ev": "nothing"}} for second in range(1, 600)]
    said = replayed(capsys, write(tmp_path / "a", [*rows, *quiet]))
    ready = [row for row in said if row["state"] == "ready"]
    assert [row["t"] for row in ready][-1] == quiet[-1]["t"]
    assert len(ready) <= 3


def test_a_stall_is_said_while_nothing_at_all_comes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = start(until="distributed")
    end = rows[-1]["t"]
    proc = {"pid": 12, "ppid": 10, "cmd": "sglang::scheduler_TP1", "state": "T", "minflt": 5}
    rows += [{"t": end + 1.0, "proc": proc}, {"t": end + 60.0, "event": {"ev": "end"}}]
    stalled = next(row for row in replayed(capsys, write(tmp_path / "a", rows)) if row["state"] == "stalled")
    assert stalled["failed_ranks"] == [1]
    assert end + 1.0 < stalled["t"] < end + 10.0


def test_what_the_harness_knew_is_not_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = start(until="weights")
    end = rows[-1]["t"]
    known = [{"t": end, "event": {"ev": "signal", "sig": "KILL", "pid": 12}}, {"t": end, "event": {"ev": "main-exit"}}]
    plain = replayed(capsys, write(tmp_path / "a", rows))
    told = replayed(capsys, write(tmp_path / "b", [*rows, *known], {**HEAD, "truth": {"ready_line_t": 1.0}}))
    assert told == plain


def test_earlier_starts_of_this_machine_are_not_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a", start(until="ready"))
    first = replayed(capsys, path)
    # The data folder cannot even be read: nobody may ask for it.
    (tmp_path / "data").write_text("no folder")
    monkeypatch.setenv("HOME", str(tmp_path / "data"))
    assert replayed(capsys, path) == first


def test_lines_for_a_person_say_when_and_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(write(tmp_path / "a", start(until="ready")))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r" +0:00\.0  starting  launch +\S", lines[0])
    assert re.search(r"^ +\d:\d\d\.\d  ready     serving +Ready on port 30000", lines[-1])


def test_standard_input(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.jsonl.gz", start(until="weights"))
    want = replayed(capsys, path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert run(["replay", "--json", "-"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == want


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_cut_file_is_played_up_to_the_cut(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / name, start(until="ready"))
    whole = [without_time(row) for row in replayed(capsys, path)]
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    assert run(["replay", "--json", str(path)]) == 0
    told = capsys.readouterr()
    said = [without_time(json.loads(line)) for line in told.out.splitlines()]
    assert len(said) > 3
    assert said[:-1] == whole[: len(said) - 1]
    assert re.search(r"^bringup: .*(cut short|damaged or incomplete).* What came before was read\.$", told.err)


def test_a_header_alone_is_a_start_of_which_nothing_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = replayed(capsys, write(tmp_path / "a", []))
    assert [(row["t"], row["state"], row["engine"]) for row in said] == [(0.0, "waiting", None)]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not a recording of format 1"),
        (b"[2026-03-02 09:14:14] a log\n", "not a recording of format 1"),
        (b'{"recording": 99}\n', "not a recording of format 1"),
        (b"\x1f\x8b\x08", "not a recording of format 1"),
    ],
)
def test_what_is_no_recording_is_refused(
    data: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_bytes(data)
    assert run(["replay", str(tmp_path / "a")]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert says in told.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere"], "There is no file"),
        (["--fast"], "Unknown option"),
        (["a", "b"], "That is too much"),
        (["a", "--speed", "0"], "cannot be played at a speed of 0"),
    ],
)
def test_a_wrong_command_line_is_told(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", *words]) == 2
    assert says in capsys.readouterr().err


def test_it_begins_where_it_is_told_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a", start(draft=True, until="ready"))
    whole = replayed(capsys, path)
    middle = whole[len(whole) // 2]["t"]
    assert run(["replay", "--json", str(path), "--at", f"+{middle:g}"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert said[0]["t"] >= middle > whole[0]["t"]
    assert said[-1] == whole[-1]
    assert run(["replay", str(path), "--at", "+9h"]) == 2
    assert "is not in this recording" in capsys.readouterr().err


def test_what_only_the_console_has_is_said_to_be_of_no_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a", start(until="ready"))
    whole = replayed(capsys, path)
    assert run(["replay", "--json", str(path), "--speed", "10", "--theme", "dark"]) == 0
    told = capsys.readouterr()
    assert [json.loads(line) for line in told.out.splitlines()] == whole
    assert told.err.startswith("bringup: --speed and --theme: for the console only.")


def test_explain_tells_the_end_of_a_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.gz", start(draft=True, until="ready"))
    final = replayed(capsys, path)[-1]
    assert run(["explain", "--json", str(path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {**told, "t": final["t"]} == final
    assert run(["explain", "--exit-code", str(path)]) == 0
    assert capsys.readouterr().out.startswith("● READY")
    assert run(["explain", "--silent", "3", str(path)]) == 2
    assert "is a recording" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a", start(until="ready"))
    command = f'"{sys.executable}" -m bringup replay --json "{path}" | head -n 1'
    done = subprocess.run(["sh", "-c", command], capture_output=True, env=dict(os.environ), timeout=60, check=False)
    assert json.loads(done.stdout)["t"] == 0.0
    assert done.stderr == b""
