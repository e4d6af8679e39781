"""`bringup history --compare`: two starts side by side, and what is said below the table."""

from __future__ import annotations

import json
from dataclasses import replace

import paststarts
import pytest
from pasthistory import fill, told
from pasthistory import store as store
from paststarts import KEY

from bringup.history.store import Store

pytestmark = pytest.mark.usefixtures("store")


def test_two_starts_side_by_side(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    page = told(capsys, "--compare", "1", "4")
    row = next(line for line in page.splitlines() if line.startswith("weights target"))
    assert row.split() == [
        "weights",
        "target",
        "1",
        "min",
        "30",
        "s",
        "6",
        "min",
        "4.0x",
        "slower",
        "1",
        "min",
        "39",
        "s",
    ]
    assert "! weights target 4.0 times slower than the median (6 min, not 1 min 30 s): cold cache?" in page
    assert "No phase took more than twice as long" in told(capsys, "--compare", "1", "2")
    assert "not comparable" in told(capsys, "--compare", "1", "5")
    failed = next(
        line for line in told(capsys, "--compare", "1", "3").splitlines() if line.startswith("weights target")
    )
    assert failed.split() == ["weights", "target", "1", "min", "30", "s", "–", "–", "1", "min", "39", "s"]


def test_what_the_table_shows_is_not_denied_below_it(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    other = replace(KEY, model="/models/bigger")
    store.record(paststarts.start(1))
    store.record(paststarts.start(2, key=other, times={"weights": 4.2}))
    store.record(paststarts.start(3, times={"kv-cache": 4.0}))
    page = told(capsys, "--compare", "1", "2")
    assert "4.2x slower" in page
    assert "! weights target 4.2 times slower than in start 1 (6 min 18 s, not 1 min 30 s).\n" in page
    assert "No phase" not in page
    page = told(capsys, "--compare", "1", "3")
    assert "4.0x slower" in page
    assert "What took more than twice as long, or less than half, differs by less than 5 s." in page


def test_one_or_two_starts_are_nothing_usual(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    store.record(paststarts.start(1))
    store.record(paststarts.start(2, times={"weights": 1.1}))
    assert "usual" not in told(capsys, "--compare", "1", "2")
    found = json.loads(told(capsys, "--compare", "1", "2", "--json"))
    assert {phase["usual_s"] for phase in found["phases"]} == {None}
    store.record(paststarts.start(3, times={"weights": 1.2}))
    assert "usual" in told(capsys, "--compare", "1", "2")
    store.record(paststarts.start(4, key=replace(KEY, model="/models/other")))
    assert "usual of 1" in told(capsys, "--compare", "4", "1")


def test_a_comparison_is_of_the_host_that_is_named(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    assert "4.0x slower" in told(capsys, "gpu-a", "--compare", "1", "4")
    assert "4.0x slower" in told(capsys, "node-7", "--compare", "1", "4")
    said = told(capsys, "gpu-b", "--compare", "1", "4", code=2)
    assert "Start 1 is of gpu-a, not of gpu-b." in said
    assert "Start 5 is of gpu-b, not of gpu-a." in told(capsys, "gpu-a", "--compare", "1", "5", code=2)


def test_two_starts_for_a_program(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    fill(store)
    found = json.loads(told(capsys, "--compare", "1", "4", "--json"))
    weights = next(phase for phase in found["phases"] if phase["phase"] == "weights/target")
    assert (weights["first_s"], weights["second_s"], weights["factor"]) == (90.0, 360.0, 4.0)
    assert (found["first"]["number"], found["second"]["number"], found["same_command"]) == (1, 4, True)
    assert len(found["remarks"]) == 2
