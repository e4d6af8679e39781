"""`bringup history`: the list, two starts side by side, files for programs, and forgetting."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from pathlib import Path

import paststarts
import pytest
from pasthistory import fill, told
from pasthistory import store as store
from paststarts import KEY

from bringup.cli import run
from bringup.cli.memory import ledger_of, memory_of
from bringup.history.actions import ActionRow
from bringup.history.place import FILE, data_folder, is_off
from bringup.history.store import Store
from bringup.session.target import Target

pytestmark = pytest.mark.usefixtures("store")


def test_nothing_yet_is_a_sentence_and_no_error(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    assert told(capsys).startswith("No start has been watched to its end yet.")
    assert json.loads(told(capsys, "--json")) == {"schema": 1, "starts": []}
    assert len(told(capsys, "--csv").splitlines()) == 1
    assert told(capsys, "--clear") == "There is no start to forget.\n"
    assert not store.folder.exists()


def test_the_list_has_outcomes_totals_phases_and_causes(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    page = told(capsys)
    assert "node-7 · sglang · /models/big-moe · draft /models/big-moe-draft · tp 8 · known as gpu-a" in page
    assert "node-8 · vllm · org/small · one rank" in page
    rows = {int(line[:4]): line for line in page.splitlines() if line[:4].strip().isdigit()}
    assert list(rows) == [1, 2, 3, 4, 5]
    assert "● ready     3 min 17 s" in rows[1]
    assert rows[3].endswith("oom")
    assert "✕ failed" in rows[3]
    assert rows[5].endswith("not seen from its begin")
    assert "weights target 1 min 30 s, not over" in page
    assert "! weights target 4.0 times slower than the median (6 min, not 1 min 30 s): cold cache?" in page
    assert page.count("times") == 2, "only the slow start is remarkable: its target and its draft"


def test_the_bars_share_an_axis(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    bars = [line.strip() for line in told(capsys, "gpu-a").splitlines() if line.lstrip().startswith("▕")]
    short, _, cut, long = (len(bar) for bar in bars)
    assert long == 95
    assert short == pytest.approx(
        long * paststarts.start(1).seconds / paststarts.start(4, times={"weights": 4.0}).seconds, abs=1
    )
    assert cut < short
    assert "weights target" in bars[3]


@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_no_row_is_wider_than_the_terminal(
    capsys: pytest.CaptureFixture[str], store: Store, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    fill(store)
    monkeypatch.setenv("COLUMNS", columns)
    for page in (told(capsys), told(capsys, "--compare", "2", "4")):
        assert max(len(line) for line in page.splitlines()) <= int(columns)


def test_a_limit_hides_the_older_ones_and_says_so(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    page = told(capsys, "--limit", "2")
    assert "3 older starts are not listed; --limit lists more." in page
    assert "failed" not in page
    assert "not listed" not in told(capsys, "gpu-b")


def test_a_host_without_starts_is_told_of_the_others(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    assert "No start of gpu-x" in (page := told(capsys, "gpu-x"))
    assert "5 of other hosts" in page


def test_json_and_csv_say_the_same(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    starts = json.loads(told(capsys, "--json"))["starts"]
    rows = list(csv.DictReader(io.StringIO(told(capsys, "--csv"))))
    assert len(rows) == sum(len(start["phases"]) for start in starts)
    assert [start["number"] for start in starts] == [1, 2, 3, 4, 5]
    oom = starts[2]
    assert (oom["outcome"], oom["cause"], oom["draft_model"], oom["tp"]) == ("failed", "oom", KEY.draft, 8)
    assert oom["began"] == "2026-03-05T09:00:00+00:00"
    assert oom["phases"][-1] == {
        "phase": "weights", "role": "target", "part": None, "began_s": 48.0, "seconds": 90.0, "ended": False,
        "ranks_done": 8,
    }  # fmt: skip
    cut = [row for row in rows if row["number"] == "3"][-1]
    assert (cut["phase"], cut["phase_seconds"], cut["phase_ended"], cut["cause"]) == ("weights", "90.0", "false", "oom")


def test_a_name_is_no_formula_and_a_start_without_phases_has_a_row(
    capsys: pytest.CaptureFixture[str], store: Store
) -> None:
    store.record(paststarts.start(key=replace(KEY, model="=cmd()"), phases=(), outcome="failed"))
    (row,) = csv.DictReader(io.StringIO(told(capsys, "--csv")))
    assert (row["model"], row["phase"]) == ("'=cmd()", "")
    assert "✕ failed" in told(capsys)


@pytest.mark.parametrize(
    "argv",
    [
        ("--json", "--csv"),
        ("--compare", "1", "2", "--csv"),
        ("--compare", "1", "99"),
        ("--limit", "0"),
        ("--yes",),
        ("--clear", "--json"),
        ("--clear",),
        ("--compare", "one", "2"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], store: Store, argv: tuple[str, ...]
) -> None:
    fill(store)
    assert told(capsys, *argv, code=2).startswith("bringup: ")
    assert store.count() == 5


def test_starts_are_forgotten_only_when_that_is_meant(
    capsys: pytest.CaptureFixture[str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    answers = io.StringIO("n\ny\n")
    monkeypatch.setattr(answers, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", answers)
    assert "Nothing was forgotten" in told(capsys, "--clear", code=1)
    assert store.count() == 5
    assert told(capsys, "--clear", "gpu-a") == "4 starts are forgotten.\n"
    assert told(capsys, "--clear", "--yes") == "1 start is forgotten.\n"
    assert store.count() == 0


def test_a_damaged_history_is_said_on_standard_error(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    (store.folder / FILE).write_bytes(b"nonsense" * 1000)
    assert run(["history"]) == 0
    seen = capsys.readouterr()
    assert "set aside as" in seen.err
    assert seen.out.startswith("No start has been watched")


def test_the_environment_and_the_configuration_say_where_and_how_much(tmp_path: Path) -> None:
    target = Target(name="box")
    assert data_folder({"BRINGUP_DATA_DIR": str(tmp_path)}) == tmp_path
    assert data_folder({}).name == "bringup"
    assert all(is_off({"BRINGUP_HISTORY": word}) for word in ("0", "off", "No"))
    assert memory_of(target, {"BRINGUP_HISTORY": "0"}) is None
    assert memory_of(replace(target, within=1), {}) is None, "the simulated host is not remembered"
    found = memory_of(target, {"BRINGUP_DATA_DIR": str(tmp_path)})
    assert found is not None
    assert found.folder == tmp_path
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text("[history]\nkeep-starts = 2\n")
    kept = memory_of(target, {"BRINGUP_DATA_DIR": str(tmp_path)})
    assert kept is not None
    for number in (1, 2, 3):
        kept.record(paststarts.start(number))
    assert kept.count() == 2


def act(**more: object) -> None:
    write = ledger_of(Target("gpu-a"), os.environ)
    assert write is not None
    row = ActionRow(
        "a", 1000.0, "eva@desk", "stop", "gpu-a", "node-7", "python -m server", "TERM", tuple(range(40, 52))
    )
    write(replace(row, **more))  # type: ignore[arg-type]


def test_what_was_done_to_servers_is_listed(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    assert told(capsys, "--actions") == "Nothing was done to a server from this machine.\n"
    assert told(capsys, "gpu-b", "--actions").endswith(" on gpu-b from this machine.\n")
    act()
    act(outcome="done", said="All 12 processes have ended.", seconds=3.0)
    act(id="b", at=2000.0, action="restart", way="", target="gpu-b", node="", pids=(), new_pid=77)
    page = told(capsys, "--actions")
    assert "stop     done after 3 s  gpu-a (node-7)  by eva@desk" in page
    assert "PID 40, 41, 42, 43, 44, 45, 46, 47 and 4 more, by TERM, python -m server" in page
    assert "All 12 processes have ended." in page
    assert "restart  begun: its end was not seen  gpu-b  by eva@desk" in page
    assert "gpu-b" not in told(capsys, "node-7", "--actions")
    newest = json.loads(told(capsys, "--actions", "--json", "--limit", "1"))
    (row,) = newest["actions"]
    assert (newest["schema"], row["at"], row["seconds"]) == (1, "1970-01-01T00:33:20+00:00", None)
    assert (row["action"], row["outcome"], row["new_pid"], row["said"]) == ("restart", "begun", 77, None)
    assert not (store.folder / FILE).exists(), "it is no start"


def test_the_list_of_actions_goes_with_little_else(capsys: pytest.CaptureFixture[str]) -> None:
    for more in (("--csv",), ("--clear",), ("--compare", "1", "2")):
        assert "--actions lists what was done" in told(capsys, "--actions", *more, code=2)


def test_a_log_of_actions_that_cannot_be_read_is_a_sentence(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    (store.folder / "actions.jsonl").mkdir(parents=True)
    assert "The log of actions cannot be read: Is a directory." in told(capsys, "--actions", code=1)


def test_nothing_is_written_down_where_nothing_is_kept() -> None:
    assert ledger_of(Target("gpu-a"), {"BRINGUP_HISTORY": "0"}) is None
    assert ledger_of(Target("demo", within=1), {}) is None
