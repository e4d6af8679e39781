"""Whatever a host says, the terminal is only sent text."""

from __future__ import annotations

import pytest
from ui.screen import MIDDLE, NARROW, opened, until

from bringup.core.errors import Unreachable
from bringup.session.console import Console, Question
from bringup.ui.app import BringupApp
from bringup.ui.operator import Operator
from bringup.ui.screens.dialog import Dialog

EVIL = "\x1b]52;c;aGk=\x07\x1b]0;pwned\x07\x1b[2J\x9b31m[/nope][bold]\u202egnp.exe\x7f\u200b"


def sent(app: BringupApp) -> str:
    """Everything that is drawn, with nothing left out."""
    return "".join(segment.text for strip in app.screen._compositor.render_strips() for segment in strip)


def assert_harmless(text: str) -> None:
    assert text
    bad = [letter for letter in text if not letter.isprintable() and letter != "\xa0"]
    assert not bad, bad
    assert "aGk=" not in text, "the payload of an escape sequence is not text"


@pytest.mark.parametrize("size", [NARROW, MIDDLE], ids=str)
async def test_panels_screens_and_dialogs(size: tuple[int, int]) -> None:
    async with opened("hostile", size) as (app, console, pilot):
        assert_harmless(sent(app))
        assert "[/nope][bold]" in sent(app), "markup is text, not style"
        for keys in (["v"], ["o"], ["K"], ["R"], ["1"], ["4"], ["3", "down", "enter"], ["full_stop"], ["w"], ["e"]):
            await pilot.press(*keys)
            await pilot.pause()
            if keys in (["K"], ["R"]):
                await until(pilot, lambda: isinstance(app.screen, Dialog) and app.screen.listens_from is not None)
                app.screen.listens_from = 0.0  # type: ignore[attr-defined]
            assert_harmless(sent(app))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.watch_screen)
        console.write(EVIL.encode())
        await pilot.press("c")
        assert_harmless(app.clipboard.replace("\n", ""))


async def test_errors_and_questions_of_a_host() -> None:
    async def connect(operator: Operator) -> Console:
        operator.say(EVIL)
        await operator(Question("password", EVIL, EVIL))
        raise Unreachable(EVIL, EVIL)

    app = BringupApp(title=EVIL, connect=connect)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Dialog) and app.screen.listens_from is not None)
        assert_harmless(sent(app))
        await pilot.press("escape")
        await until(pilot, lambda: "NOT CONNECTED" in sent(app))
        assert_harmless(sent(app))
