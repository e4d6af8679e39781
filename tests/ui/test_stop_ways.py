"""Stopping a server that something else launched: the ways there are, what they touch, and how far it is."""

from __future__ import annotations

import pytest
from ui.acts import LOOP, advance, in_unit, launched, serving
from ui.dialogs import ask, begin_drain, begin_stop, body
from ui.screen import MIDDLE, NARROW, WIDE, opened, text_of, until

from bringup.core.errors import ConnectionLost
from bringup.core.events import ActionStep
from bringup.core.reduce import reduce
from bringup.ui.screens.confirm import HurryDialog, StopDialog


async def test_the_launchers_own_command_comes_first() -> None:
    async with opened(in_unit(), MIDDLE) as (app, console, pilot):
        dialog = await ask(app, pilot, "K")
        shown = body(dialog)
        for words in (
            "The systemd service sglang.service. Its restart policy is always.",
            "ends everything in the unit and keeps it down",
            "ends too",
            "gpu-exporter",
        ):
            assert words in shown, words
        await until(pilot, lambda: "(•) 1 its own  systemctl stop sglang.service" in text_of(app))
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("stop", "OWN")])


async def test_a_signal_to_what_is_started_again_is_warned_of() -> None:
    async with opened(in_unit(), MIDDLE) as (app, console, pilot):
        dialog = await ask(app, pilot, "K")
        assert "starts it again after a signal" not in body(dialog)
        await pilot.press("2")
        await until(pilot, lambda: "starts it again after a signal: its own command keeps it down" in body(dialog))
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("stop", "TERM")])


async def test_a_script_with_a_loop_is_named() -> None:
    async with opened(launched(LOOP), MIDDLE) as (app, _, pilot):
        dialog = await ask(app, pilot, "K")
        assert "The script bash /opt/serve.sh starts it again after a signal." in body(dialog)


@pytest.mark.parametrize("number", ["5", "4"])
async def test_a_number_that_is_no_way_chooses_nothing(number: str) -> None:
    async with opened("graphs", MIDDLE) as (app, _, pilot):
        dialog = await ask(app, pilot, "K")
        await pilot.press(number)
        await pilot.pause()
        assert isinstance(dialog, StopDialog)
        assert dialog.chosen == 0


async def test_how_far_it_is_is_shown_with_a_countdown() -> None:
    async with opened(serving(), NARROW) as (app, console, pilot):
        await begin_stop(app, console, pilot)
        advance(console, "SIGTERM sent to python (PID 100).", left=10.0)
        await until(pilot, lambda: "9 of 9 still run" in text_of(app))
        shown = text_of(app)
        assert "STOP  SIGTERM sent to python (PID 100)." in shown
        assert "10 s left" in shown
        assert "still listened on by the server" in shown
        assert "0.0 of 981.7 GiB are back" in shown
        console.wait(4)
        advance(console, "2 processes still run; SIGKILL in 6 s.", left=6.0, pids={103, 105})
        await until(pilot, lambda: "2 of 9 still run: 103 scheduler_TP2, 105 scheduler_TP4" in text_of(app))
        assert "s left" not in text_of(app), "the sentence counts already"
        assert "nobody listens: it is free" in text_of(app)
        advance(console, "Waiting for the memory.", pids=set())
        await until(pilot, lambda: "all have ended" in text_of(app))
        assert "all 981.7 GiB are back" in text_of(app)


async def test_a_second_key_while_it_is_being_ordered_says_so_and_breaks_nothing() -> None:
    async with opened("ready", MIDDLE) as (app, console, pilot):
        ended = await begin_stop(app, console, pilot)
        # The host has not said anything yet: there is no step that could be shown.
        assert console.state.action is None
        for key in ("K", "R"):
            await pilot.press(key)
            await until(pilot, lambda: "A stop is under way already." in text_of(app))
        ended.set()
        await pilot.pause()
        assert console.calls == [("stop", "TERM")]


@pytest.mark.parametrize(("key", "hurries"), [("y", True), ("enter", False)])
async def test_the_same_key_once_more_kills_what_is_left(key: str, hurries: bool) -> None:
    async with opened(serving(), MIDDLE) as (app, console, pilot):
        ended = await begin_drain(app, console, pilot)
        dialog = await ask(app, pilot, "K")
        assert isinstance(dialog, HurryDialog)
        assert "PID 100" in body(dialog)
        plan = app.watch_screen.orders.plan
        assert plan is not None
        assert not plan.hurry.asked
        await pilot.press(key)
        await until(pilot, lambda: app.screen is app.watch_screen)
        assert plan.hurry.asked is hurries
        assert console.calls == [("stop", "TERM")], "it is the same stop"
        ended.set()


async def test_the_gentle_way_says_how_long_it_waits_and_that_nothing_is_killed() -> None:
    console = serving()
    console.planned = {"ways": ("TERM", "GENTLE", "INT", "KILL"), "patience": 600.0}
    async with opened(console, NARROW) as (app, _, pilot):
        await ask(app, pilot, "K")
        await pilot.press("2")
        await until(pilot, lambda: "(•) 2 gently" in text_of(app))
        assert "asks it to end and waits 10 min; nothing is killed" in text_of(app)
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("stop", "GENTLE")])


@pytest.mark.parametrize("key", ["K", "R"])
async def test_memory_that_cannot_be_checked_is_said_before_anything_is_done(key: str) -> None:
    console = serving()
    console.planned = {"unasked": "nvidia-smi did not answer within 10 s"}
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await ask(app, pilot, key)
        said = "Whether its GPU memory is free cannot be checked: nvidia-smi did not answer within 10 s."
        assert said in body(dialog)


async def test_what_is_left_of_a_failed_stop_is_said_whole_until_it_is_put_aside() -> None:
    async with opened("ready", NARROW) as (app, console, pilot):
        said = (
            "8 of the server's processes ended in 31.0 s; 1 would not end: python (PID 104, root, D); the driver holds."
        )
        event = ActionStep(at=console.now(), action="stop", step=said, ended=True, failed=True)
        console.change(reduce(console.state, event))
        await until(pilot, lambda: "STOP failed" in text_of(app))
        assert "the driver holds." in text_of(app)
        await pilot.press("escape")
        await until(pilot, lambda: "STOP failed" not in text_of(app))


async def test_a_connection_that_is_lost_while_stopping_is_said() -> None:
    async with opened("ready", MIDDLE) as (app, console, pilot):
        console.failing = ConnectionLost("The connection to gpu-a is gone.", "It is tried again.")
        await ask(app, pilot, "K")
        await pilot.press("y")
        await until(pilot, lambda: "The connection to gpu-a is gone." in text_of(app))


async def test_what_launched_it_stands_in_the_line_of_identity_and_beside_the_evidence() -> None:
    async with opened(in_unit(), WIDE) as (app, _, pilot):
        await until(pilot, lambda: "systemd sglang.service" in text_of(app).splitlines()[0])
        await pilot.press("v")
        await until(pilot, lambda: "How it was launched" in text_of(app))
        assert "The systemd service sglang.service. Its restart policy is always." in text_of(app)
