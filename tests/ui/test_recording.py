"""`ctrl+r`: the session is asked to record, and what it says is shown."""

from __future__ import annotations

import pytest
from ui.screen import opened, text_of, until

from bringup.core.errors import BringupError


async def test_the_key_records_and_says_where() -> None:
    async with opened("weights") as (app, console, pilot):
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "Recording to /data/a.bringup." in text_of(app))
        assert console.calls == [("record", None)]


async def test_why_nothing_can_be_recorded_is_told() -> None:
    async with opened("weights") as (app, console, pilot):
        console.failing = BringupError("The disk is full.", "Make room.")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "The disk is full." in text_of(app))


@pytest.mark.parametrize("read_only", [True, False])
async def test_the_server_is_not_concerned(read_only: bool) -> None:
    async with opened("weights") as (_, console, pilot):
        console.read_only = read_only
        await pilot.press("ctrl+r")
        await until(pilot, lambda: console.calls == [("record", None)])
