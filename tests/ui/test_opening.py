"""The first frame: it looks as the main screen does, and no key that is pressed in it is lost."""

from __future__ import annotations

import asyncio

import pytest
from ui.scenes import SCENES
from ui.screen import MIDDLE, NARROW, WIDE, text_of, until

from bringup.session.console import Console
from bringup.ui.app import BringupApp
from bringup.ui.operator import Operator
from bringup.ui.screens.opening import OpeningScreen
from bringup.ui.screens.reading import HelpScreen


class Held:
    """Loading that goes on when it is told to."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.connecting = asyncio.Event()

    async def connect(self, operator: Operator) -> Console:
        self.connecting.set()
        await asyncio.sleep(3600)
        return SCENES["weights"]()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    held, load = Held(), BringupApp._load

    async def late(app: BringupApp) -> None:
        await held.go_on.wait()
        await load(app)

    monkeypatch.setattr(BringupApp, "_load", late)
    return held


@pytest.mark.parametrize("size", [NARROW, MIDDLE, WIDE])
async def test_nothing_changes_when_the_main_screen_takes_its_place(held: Held, size: tuple[int, int]) -> None:
    app = BringupApp(title="root@gpu-a", connect=held.connect)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "Connecting to root@gpu-a." in text_of(app))
        assert isinstance(app.screen, OpeningScreen)
        before = app.export_screenshot()
        held.go_on.set()
        await until(pilot, held.connecting.is_set)
        assert app.screen is app.watch_screen
        assert app.export_screenshot() == before


async def test_it_follows_the_size_of_the_terminal(held: Held) -> None:
    app = BringupApp(title="root@gpu-a", connect=held.connect)
    async with app.run_test(size=MIDDLE) as pilot:
        await pilot.resize_terminal(*NARROW)
        await until(pilot, lambda: text_of(app).splitlines()[6].endswith(" following"))
        assert len(text_of(app).splitlines()[6]) <= NARROW[0]


@pytest.mark.parametrize("key", ["q", "ctrl+q", "ctrl+c"])
async def test_it_can_be_left_at_once(held: Held, key: str) -> None:
    app = BringupApp(title="root@gpu-a", connect=held.connect)
    async with app.run_test(size=NARROW) as pilot:
        await pilot.press(key)
    assert app.return_code == 0
    assert not held.connecting.is_set()


async def test_other_keys_wait_for_the_main_screen(held: Held) -> None:
    app = BringupApp(title="root@gpu-a", connect=held.connect)
    async with app.run_test(size=NARROW) as pilot:
        await pilot.press("question_mark")
        assert isinstance(app.screen, OpeningScreen)
        held.go_on.set()
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
