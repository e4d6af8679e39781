"""What lives on of a server whose stop was cut off: the dialog and the footer lead to where it is ended."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.widgets import Button, OptionList
from ui.acts import advance, cut, with_orphans
from ui.dialogs import body, heard
from ui.scenes import SCENES
from ui.screen import MIDDLE, NARROW, opened, text_of, until

from bringup.session.console import Unfinished
from bringup.ui import left_over
from bringup.ui.paint.notices import paint_notices
from bringup.ui.paint.progress import left_of, paint_progress
from bringup.ui.paint.row import plain
from bringup.ui.picture import Picture
from bringup.ui.screens import servers
from bringup.ui.screens.confirm import StopDialog
from bringup.ui.screens.left import LeftDialog
from bringup.ui.screens.servers import ServersScreen


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "EVERY", 0.1)
    monkeypatch.setattr(servers, "EVERY", 0.1)


def rest() -> Unfinished:
    """A worker is what is left of a stop that was cut off."""
    return cut(action="stop", step="stopping", alive=((4242, 4242),), kept=False)


async def test_the_dialog_ends_the_rest_after_another_question() -> None:
    console = SCENES["stopped"]()
    console.left = rest()
    async with opened(console, NARROW) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "a part of the old server still runs (PID 4242)" in body(dialog)
        assert "K ends what still runs of it; asks first" in body(dialog)
        await pilot.press("K")
        await until(pilot, lambda: isinstance(app.screen, StopDialog))
        asked = await heard(app, pilot)
        assert "ends 1 process 4242" in body(asked)
        assert body(asked).startswith("End what is left of this server?")
        assert "command" not in body(asked)
        assert console.calls == []
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("stop", "TERM")])


async def test_of_what_nobody_watches_it_is_not_said_that_it_has_ended() -> None:
    console = SCENES["searching"]()
    assert console.state.server is None
    plan = await console.plan(rest())
    advance(console, "1 process still runs; SIGKILL in 9 s.")
    assert left_of(console.state, plan) == plan.members
    assert paint_progress(Picture(console.state, console.verdict(), "gpu-a", plan=plan), 80) == []


async def test_a_server_that_lives_as_a_whole_is_stopped_as_it_was_launched() -> None:
    console = SCENES["ready"]()
    console.left = cut(step="stopping", alive=((100, 1), (101, 2)))
    async with opened(console, MIDDLE) as (app, _, pilot):
        assert "K ends what still runs of it" in body(await heard(app, pilot))
        await pilot.press("K")
        await until(pilot, lambda: isinstance(app.screen, StopDialog))
        assert "9 processes" in body(await heard(app, pilot))


async def test_the_footer_names_the_key_for_it() -> None:
    console = SCENES["stopped"]()
    console.left = rest()
    async with opened(console, NARROW) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        await until(pilot, lambda: "o servers" in text_of(app).splitlines()[-1])


def test_what_is_kept_for_a_launch_is_not_given_up_for_a_stop_of_the_rest() -> None:
    kept = body(LeftDialog("gpu-a", cut(step="stopping", alive=((4242, 1),))), 72)
    assert "o on the main screen ends what lives on; then it can be launched again" in kept
    assert "K ends" not in kept
    for nothing in (replace(rest(), busy=True), replace(rest(), untouched=True), replace(rest(), alive=())):
        shown = body(LeftDialog("gpu-a", nothing), 72)
        assert "K ends" not in shown
        assert "lives on" not in shown


async def test_the_label_of_a_button_is_whole_after_it_has_changed() -> None:
    console = SCENES["stopped"]()
    console.left = replace(rest(), busy=True)
    async with opened(console, NARROW) as (app, _, pilot):
        await pilot.press("u")
        dialog = await heard(app, pilot)
        assert str(dialog.query_one("#no", Button).label) == "Close (esc)"
        console.left = rest()
        await until(pilot, lambda: "Leave it (esc)" in text_of(app))


async def test_the_open_list_follows_the_host_and_keeps_its_place() -> None:
    console = with_orphans()
    first, second = console.orphaned[:2]
    console.orphaned = (first, second)
    async with opened(console, MIDDLE) as (app, _, pilot):
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, ServersScreen) and app.screen.is_known)
        screen = app.screen
        assert isinstance(screen, ServersScreen)
        await pilot.press("j", "j", "j", "space")
        await until(pilot, lambda: screen.selected == (second,))
        console.orphaned = (second,)
        await until(pilot, lambda: screen.orphans == (second,))
        assert screen.selected == (second,)
        options = screen.query_one(OptionList)
        assert options.highlighted == options.get_option_index("orphan-0")
        console.orphaned = ()
        await until(pilot, lambda: "No orphans: no worker lives on" in text_of(app))
        assert screen.selected == ()


@pytest.mark.parametrize("width", [80, 87, 90, 92, 120])
def test_a_number_is_not_broken_from_its_word_in_the_strip(width: int) -> None:
    console = SCENES["stopped"]()
    left = cut(action="stop", step="stopping", alive=((18974, 1), (18975, 1)))
    rows = paint_notices(Picture(console.state, console.verdict(), "gpu-a", left=left), width)
    assert not [plain(row) for row in rows if plain(row).split("  u shows it")[0].rstrip().endswith("PID")]
    assert "(PID 18974" in " ".join(" ".join(plain(row) for row in rows).split())


async def test_read_only_says_what_is_kept_and_offers_no_launch() -> None:
    console = SCENES["stopped"]()
    console.left, console.read_only = cut(), True
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "what it was launched with is kept on the host." in body(dialog)
        assert "launch it now" not in body(dialog)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert "launch it now" not in text_of(app)
