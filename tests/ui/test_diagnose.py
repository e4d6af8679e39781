"""A diagnosis: made while the screen goes on, kept in a file of the operator's own."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest
from ui.screen import MIDDLE, NARROW, opened, text_of, until

from bringup.core.errors import ConnectionLost


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRINGUP_DATA_DIR", str(tmp_path))
    return tmp_path / "reports"


async def test_it_is_kept_and_the_path_is_told(data: Path) -> None:
    async with opened("stalled", NARROW) as (app, console, pilot):
        console.order = asyncio.Event()
        await pilot.press("d", "d")
        await until(pilot, lambda: "DIAGNOSE  asking the machine and 9 processes" in text_of(app))
        assert console.calls == [("diagnose", None)], "one at a time"
        console.order.set()
        await until(pilot, lambda: "DIAGNOSE" not in text_of(app))
        (path,) = data.iterdir()
        await until(pilot, lambda: path.name[:20] in text_of(app))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        text = path.read_text("utf-8")
        for words in ("all well", "the last line", "stalled"):
            assert words in text


async def test_read_only_allows_it(data: Path) -> None:
    async with opened("stalled", MIDDLE) as (_, console, pilot):
        console.read_only = True
        await pilot.press("d")
        await until(pilot, lambda: data.is_dir() and bool(list(data.iterdir())))


async def test_a_lost_connection_is_said_and_the_key_works_again(data: Path) -> None:
    async with opened("stalled", MIDDLE) as (app, console, pilot):
        console.failing = ConnectionLost("There is no connection to gpu-a now.")
        await pilot.press("d")
        await until(pilot, lambda: "There is no connection to gpu-a now." in text_of(app))
        assert not data.exists()
        console.failing = None
        await pilot.press("d")
        await until(pilot, lambda: data.is_dir() and bool(list(data.iterdir())))


async def test_where_no_server_runs_the_machine_is_asked_alone(data: Path) -> None:
    async with opened("stopped", MIDDLE) as (app, console, pilot):
        console.order = asyncio.Event()
        await pilot.press("d")
        await until(pilot, lambda: "DIAGNOSE  asking the machine for stacks" in text_of(app))
        console.order.set()
        await until(pilot, lambda: data.is_dir() and bool(list(data.iterdir())))
