"""`ctrl+r`: the session is asked to record, and what it says is shown."""

from __future__ import annotations

import pytest
from ui.screen import opened, text_of, until

from bringup.core.errors import BringupError
from bringup.ui.app import BringupApp
from bringup.ui.widgets.painted import Painted


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


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_recording_that_was_asked_for_is_seen_as_long_as_it_goes_on(size: tuple[int, int]) -> None:
    async with opened("weights", size=size) as (app, console, pilot):
        assert "recording" not in footer_of(app)
        console.recorded = "asked"
        console.rev += 1
        await until(pilot, lambda: footer_of(app).rstrip().endswith("● recording"))
        assert footer_of(app).startswith(" q quit")
        console.recorded = ""
        console.rev += 1
        await until(pilot, lambda: "recording" not in footer_of(app))


@pytest.mark.parametrize(("size", "words"), [((80, 24), "kept"), ((120, 40), "keeps a recording")])
async def test_that_every_start_is_kept_is_told_quietly(size: tuple[int, int], words: str) -> None:
    async with opened("weights", size=size) as (app, console, pilot):
        console.recorded = "by-itself"
        console.read_only = True
        console.rev += 1
        await until(pilot, lambda: footer_of(app).rstrip().endswith(f"{words} read-only"))
        assert "●" not in footer_of(app)


def footer_of(app: BringupApp) -> str:
    return "".join(text for text, _ in app.screen.query_one("#footer", Painted).rows[0])
