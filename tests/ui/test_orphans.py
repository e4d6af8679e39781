"""Servers and orphans: what is shown of them, what can be selected, and that exactly that is cleared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.widgets import OptionList
from ui.acts import with_orphans
from ui.dialogs import body, heard
from ui.screen import MIDDLE, NARROW, SIZES, opened, text_of, until

from bringup.core.errors import BringupError
from bringup.ui.screens.confirm import ClearDialog
from bringup.ui.screens.servers import ServersScreen


async def listed(app, pilot) -> ServersScreen:  # type: ignore[no-untyped-def]
    """Open the list, and wait until the host has answered."""
    await pilot.press("o")
    await until(pilot, lambda: isinstance(app.screen, ServersScreen) and app.screen.is_known)
    return app.screen  # type: ignore[no-any-return]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_servers_and_orphans_are_told_apart(size: tuple[int, int]) -> None:
    async with opened(with_orphans(), size) as (app, _, pilot):
        await listed(app, pilot)
        await until(pilot, lambda: "2 servers, 3 orphans and 1 leftover on this host" in text_of(app))
        shown = text_of(app)
        for words in ("Qwen3-32B", "scheduler_TP2", "59.6 GiB", "3 h 12 min old", "It belongs to ada", "on port 8001"):
            assert words in shown, words
        assert shown.index("Leftovers: they hold no GPU memory") < shown.index("sglang::detokenizer")


async def test_a_driver_that_was_not_asked_is_said_and_they_are_offered() -> None:
    console = with_orphans()
    first = replace(
        console.orphaned[0], gpu_mib=None, memory="unknown", unasked="nvidia-smi did not answer within 10 s"
    )
    console.orphaned = (first,)
    async with opened(console, MIDDLE) as (app, _, pilot):
        await listed(app, pilot)
        said = "What they hold of the GPUs is not known: nvidia-smi did not answer within 10 s."
        await until(pilot, lambda: said in text_of(app))
        assert "GPU memory not known" in text_of(app)
        await pilot.press("j", "j", "space", "C")
        dialog = await heard(app, pilot)
        assert "What they hold of the GPUs cannot be checked: nvidia-smi did not answer within 10 s." in body(dialog)


async def test_a_leftover_is_cleared_only_where_it_is_selected_by_hand() -> None:
    console = with_orphans()
    console.orphaned = (replace(console.orphaned[3], why_not=""),)
    async with opened(console, MIDDLE) as (app, _, pilot):
        screen = await listed(app, pilot)
        await until(pilot, lambda: "No orphans that hold GPU memory." in text_of(app))
        assert "2 servers and 1 leftover on this host" in text_of(app)
        assert screen.selected == ()


async def test_those_that_are_selected_are_cleared_after_a_confirmation_that_lists_them() -> None:
    async with opened(with_orphans(), MIDDLE) as (app, console, pilot):
        screen = await listed(app, pilot)
        await pilot.press("j", "j", "space", "j", "space")
        await until(pilot, lambda: text_of(app).count("[x]") == 2)
        await pilot.press("k", "space")
        await until(pilot, lambda: text_of(app).count("[x]") == 1)
        assert [orphan.process.pid for orphan in screen.selected] == [4243]
        await pilot.press("C")
        dialog = await heard(app, pilot)
        assert isinstance(dialog, ClearDialog)
        assert "4243" in body(dialog)
        assert "4242" not in body(dialog)
        assert dialog.focused is not None
        assert dialog.focused.id == "no"
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("clear", (4243,))])


async def test_cancel_clears_nothing() -> None:
    async with opened(with_orphans(), MIDDLE) as (app, console, pilot):
        await listed(app, pilot)
        await pilot.press("j", "j", "enter", "C")
        await heard(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert console.calls == []


async def test_others_and_those_that_serve_cannot_be_selected() -> None:
    async with opened(with_orphans(), NARROW) as (app, console, pilot):
        screen = await listed(app, pilot)
        options = screen.query_one(OptionList)
        for number in (2, 3):
            options.highlighted = options.get_option_index(f"orphan-{number}")
            await pilot.press("space")
            await until(pilot, lambda: "It cannot be cleared." in text_of(app))
        assert screen.selected == ()
        await pilot.press("C")
        await until(pilot, lambda: "Select orphans first" in text_of(app))
        assert app.screen is screen
        assert console.calls == []


async def test_read_only_shows_them_and_touches_nothing() -> None:
    console = with_orphans()
    console.read_only = True
    async with opened(console, MIDDLE) as (app, _, pilot):
        screen = await listed(app, pilot)
        assert "[ ]" not in text_of(app), "nothing looks as if it could be selected"
        assert "clears" not in text_of(app)
        await pilot.press("j", "j", "space", "C")
        await pilot.pause()
        assert app.screen is screen
        assert screen.selected == ()
        app.watch_screen.orders.clear(console.orphaned[:1])
        await pilot.pause()
        assert app.screen is screen


async def test_a_host_that_does_not_answer_is_said_beside_its_servers() -> None:
    async def refused() -> tuple[()]:
        raise BringupError("gpu-a did not answer.")

    console = with_orphans()
    console.orphans = refused  # type: ignore[method-assign]
    async with opened(console, MIDDLE) as (app, _, pilot):
        await listed(app, pilot)
        await until(pilot, lambda: "not known: gpu-a did not answer." in text_of(app))
        assert "Qwen3-32B" in text_of(app)


async def test_without_any_it_says_so() -> None:
    async with opened("searching", NARROW) as (app, _, pilot):
        await listed(app, pilot)
        await until(pilot, lambda: "No server found on this host" in text_of(app))
        assert "No orphans: no worker lives on without its launcher." in text_of(app)
