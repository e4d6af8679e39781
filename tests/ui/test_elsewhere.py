"""A stop or restart that another console has begun: looked for when the server ends, and when the operator asks."""

from __future__ import annotations

import pytest
from timeline import ROOT, START, Timeline
from ui.acts import cut
from ui.dialogs import body, heard
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, opened, text_of, until

from bringup.core.errors import BringupError
from bringup.core.events import ActionStep, Ending, ServerGone
from bringup.session.console import Unfinished
from bringup.ui.app import BringupApp
from bringup.ui.paint.verdict import word_of
from bringup.ui.picture import Picture


class Asked(FakeConsole):
    """Counts how often it was asked what was left."""

    looks = 0
    broken = False

    async def unfinished(self) -> Unfinished | None:
        self.looks += 1
        if self.broken:
            raise BringupError("The folder cannot be read.")
        return self.left


def asked(scene: str) -> Asked:
    made = SCENES[scene]()
    return Asked(made.state, made.moment, made.lines)


def told(app: BringupApp) -> str:
    return " ".join(each.message for each in app._notifications)


async def test_the_end_of_the_server_has_the_host_asked_who_ordered_it() -> None:
    console = asked("ready")
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: console.looks == 1)
        console.left = cut(action="stop", busy=True, step="stopping", who="root@vm")
        line = Timeline(state=console.state)
        console.change(line.add(ServerGone(at=console.moment, pid=ROOT)).state)
        await until(pilot, lambda: "is under way by root@vm" in told(app))
        assert console.calls == []


async def test_it_is_asked_at_once_where_something_else_was_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bringup.ui.left_over.EVERY", 3600.0)
    console = asked("ready")
    console.left = cut(action="restart")
    async with opened(console, MIDDLE) as (_, _, pilot):
        await until(pilot, lambda: console.looks >= 1)
        looks = console.looks
        line = Timeline(state=console.state)
        console.change(line.add(ServerGone(at=console.moment, pid=ROOT)).state)
        await until(pilot, lambda: console.looks > looks)


async def test_so_does_its_word_that_it_was_asked_to_end() -> None:
    console = asked("ready")
    async with opened(console, MIDDLE) as (_, _, pilot):
        await until(pilot, lambda: console.looks == 1)
        line = Timeline(state=console.state)
        console.change(line.add(Ending(at=console.moment, how="sigterm", line=1, text="SIGTERM")).state)
        await until(pilot, lambda: console.looks == 2)


async def test_u_looks_before_it_answers() -> None:
    console = asked("stopped")
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: console.looks == 1)
        await pilot.press("u")
        await until(pilot, lambda: "Nothing was left in the middle" in told(app))
        console.left = cut()
        await pilot.press("u")
        assert "A restart was cut off" in body(await heard(app, pilot))


async def test_u_says_nothing_of_what_it_could_not_find_out() -> None:
    console = asked("stopped")
    async with opened(console, MIDDLE) as (app, _, pilot):
        await until(pilot, lambda: console.looks == 1)
        console.broken = True
        await pilot.press("u")
        await until(pilot, lambda: "is not known. The folder cannot be read." in told(app))
        assert "Nothing was left" not in text_of(app)


def test_what_is_being_stopped_elsewhere_has_not_stopped_yet() -> None:
    made = SCENES["ready"]()
    line = Timeline(state=made.state, t=made.moment - START)
    step = "It is asked to end."
    line.add(ServerGone(at=line.now, pid=ROOT, orphans=(101,)))
    line.add(ActionStep(at=line.now, action="stop", step=step, who="root@vm", since=line.now - 1))
    assert word_of(Picture(line.state, line.verdict(), "gpu-a")) == "STOPPING"
    line.add(ActionStep(at=line.now, action="stop", step="It is over.", who="root@vm", ended=True))
    assert word_of(Picture(line.state, line.verdict(), "gpu-a")) == "STOPPED"


def test_where_there_is_no_server_any_more_it_has_stopped() -> None:
    line = Timeline().launch().wait(60).ending("sigterm").wait(5)
    line.add(ActionStep(at=line.now, action="restart", step="It is launched again.", who="root@vm", since=line.now - 9))
    verdict = line.verdict()
    assert "restarted by root@vm" in verdict.summary
    assert word_of(Picture(line.state, verdict, "gpu-a")) == "STOPPED"
