"""The screen draws when something is new, and only then."""

from __future__ import annotations

from ui.screen import MIDDLE, opened, text_of, until

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
    from dataclasses import replace

    async with opened("stopping", MIDDLE) as (app, console, pilot):
        assert console.state.action is not None
        console.change(replace(console.state, action=replace(console.state.action, step="It runs again.", ended=True)))
        await until(pilot, lambda: "It runs again." in text_of(app))
        await until(pilot, lambda: "RESTART" not in text_of(app))
