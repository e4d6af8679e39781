"""A data folder with a few past starts, and `bringup history` asked about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import paststarts
import pytest
from paststarts import KEY

from bringup.cli import run
from bringup.history.store import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("BRINGUP_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path / "config"))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return Store(tmp_path / "data")


def fill(store: Store) -> None:
    store.record(paststarts.start(1))
    store.record(paststarts.start(2, times={"weights": 1.1}))
    store.record(paststarts.start(3, until=2, outcome="failed", cause="oom"))
    store.record(paststarts.start(4, times={"weights": 4.0}))
    other = replace(KEY, engine="vllm", draft="", model="org/small", tp=1, host="node-8")
    store.record(paststarts.start(5, key=other, target="gpu-b", whole=False))


def told(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    assert run(["history", *argv]) == code
    seen = capsys.readouterr()
    return seen.out if code == 0 else seen.err
