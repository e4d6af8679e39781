"""The screen draws when something is new, and only then."""

from __future__ import annotations

from dataclasses import replace

from ui.screen import MIDDLE, opened, text_of, until

from bringup.ui.picture import Picture
from bringup.ui.pulse import Pace, Pulse
from bringup.ui.screens.watch import FLUSHES_PER_SECOND


async def test_nothing_is_judged_or_drawn_while_nothing_changes() -> None:
    async with opened("weights", MIDDLE) as (app, console, pilot):
        screen = app.watch_screen
        before, judged = screen.pulse.looks, console.verdicts
        await until(pilot, lambda: screen.pulse.looks > before + FLUSHES_PER_SECOND)
        assert console.verdicts == judged


async def test_ages_grow_once_a_second() -> None:
    async with opened("weights", MIDDLE) as (app, console, pilot):
        await until(pilot, lambda: "2 min 31 s since launch" in text_of(app))
        console.wait(2)
        await until(pilot, lambda: "2 min 33 s since launch" in text_of(app))


async def test_a_busy_log_does_not_judge_at_every_flush() -> None:
    async with opened("weights", MIDDLE) as (app, console, pilot):
        screen, judged = app.watch_screen, console.verdicts
        for number in range(40):
            console.write(b"line %d" % number)
            screen.flush()
        assert console.verdicts - judged <= 40 // 4 + 1
        await until(pilot, lambda: "line 39" in text_of(app))


async def test_only_changed_rows_are_drawn_again() -> None:
    async with opened("weights", MIDDLE) as (app, console, pilot):
        drawn: list[object] = []
        ranks = app.watch_screen.query_one("#ranks")
        ranks.refresh = lambda *regions, **_: drawn.extend(regions)  # type: ignore[method-assign,assignment]
        console.wait(1)
        await until(pilot, lambda: "2 min 32 s" in text_of(app))
        assert drawn == [], "no word of the ranks changed in this second"


async def test_the_end_of_an_action_is_told() -> None:
    async with opened("stopping", MIDDLE) as (app, console, pilot):
        assert console.state.action is not None
        console.change(replace(console.state, action=replace(console.state.action, step="It runs again.", ended=True)))
        await until(pilot, lambda: "It runs again." in text_of(app))
        await until(pilot, lambda: "RESTART" not in text_of(app))


def test_a_flood_is_drawn_less_often_and_what_is_quiet_is_looked_at_less_often() -> None:
    pulse = Pulse(FLUSHES_PER_SECOND, lambda: False, lambda: None)
    assert pulse.rest == 1 / FLUSHES_PER_SECOND
    pulse.done(lines=5000)
    assert pulse.rest == 2 / FLUSHES_PER_SECOND
    pulse.done(lines=5)
    assert pulse.rest == 1 / FLUSHES_PER_SECOND


async def test_a_server_that_is_well_is_painted_every_two_seconds_until_something_happens() -> None:
    async with opened("ready", MIDDLE) as (_, console, _):
        pace, now = Pace(), console.now()
        pace.painted(Picture(console.state, console.verdict(), "box"))
        pace._painted_at -= 1.5
        assert not pace.is_due(console.state, now + 1.5)
        gone = replace(console.state, gone_at=now)
        assert pace.is_due(gone, now + 1.5)
        pace._painted_at -= 1.0
        assert pace.is_due(console.state, now + 2.5)
