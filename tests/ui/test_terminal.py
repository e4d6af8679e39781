"""Which terminals are refused, which theme they get, and that a signal leaves them as they were."""

from __future__ import annotations

import os
import signal

import pytest
from ui.scenes import SCENES
from ui.screen import NARROW, opened, text_of, until

from bringup.ui.app import BringupApp
from bringup.ui.terminal import theme_for, why_not
from bringup.ui.theme import INKS, THEMES, stand_ins, styles


@pytest.mark.parametrize(
    ("environment", "is_tty", "refused"),
    [
        ({"TERM": "xterm-256color"}, True, False),
        ({"TERM": "xterm-256color"}, False, True),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, True, True),
        ({}, True, True),
    ],
)
def test_refusal_is_a_sentence_with_a_way_out(environment: dict[str, str], is_tty: bool, refused: bool) -> None:
    sentence = why_not(environment, is_tty=is_tty)
    assert bool(sentence) is refused
    assert not refused or "bringup explain" in sentence


@pytest.mark.parametrize(
    ("environment", "asked", "theme"),
    [
        ({"TERM": "xterm-256color"}, "", "bringup-dark"),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "", "bringup-light"),
        ({"TERM": "xterm-256color", "COLORFGBG": "15;0"}, "", "bringup-dark"),
        ({"TERM": "vt100"}, "", "bringup-ansi"),
        ({"TERM": "vt100"}, "light", "bringup-light"),
        ({"TERM": "xterm", "TEXTUAL_THEME": "nord"}, "", "nord"),
        ({"TERM": "xterm"}, "gruvbox", "gruvbox"),
    ],
)
def test_theme(environment: dict[str, str], asked: str, theme: str) -> None:
    assert theme_for(environment, asked) == theme


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_ink_has_a_style_in_every_theme(theme) -> None:  # type: ignore[no-untyped-def]
    variables = {**theme.to_color_system().generate(), **theme.variables}
    assert set(styles(variables, ansi=theme.ansi)) == set(INKS)
    assert set(stand_ins(theme)) <= set(variables) | {"footer-key-foreground", "block-cursor-background"}


@pytest.mark.parametrize("theme", ["bringup-dark", "bringup-light", "bringup-ansi", "nord", "ansi-light", "no-such"])
async def test_any_theme_can_be_used_and_changed(theme: str) -> None:
    async with opened("weights", NARROW, theme=theme) as (app, _, pilot):
        await until(pilot, lambda: "TP5" in text_of(app))
        app.theme = "bringup-light"
        await pilot.pause()
        row = app.watch_screen.query_one("#verdict").render_line(0)
        colour = next(segment.style.color for segment in row if "SLOW" in segment.text)
        assert colour.get_truecolor().hex == "#8f5c00"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_signals_end_the_console_in_order(number: int, status: int) -> None:
    app = BringupApp(SCENES["weights"](), title="gpu-a")
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: app.watch_screen.picture is not None)
        os.kill(os.getpid(), number)
        for _ in range(200):
            await pilot.pause(0.01)
            if app._exit:
                break
    assert app.return_code == status


@pytest.mark.parametrize("size", [(59, 24), (80, 14), (20, 5), (1, 1)])
async def test_too_small_is_said(size: tuple[int, int]) -> None:
    async with opened("weights", size) as (app, _, pilot):
        assert "Too small"[: size[0] - 1] in text_of(app)
        assert "TP5" not in text_of(app)
        await pilot.resize_terminal(60, 15)
        await until(pilot, lambda: "Loading target weights" in text_of(app))
        assert "Too small" not in text_of(app)
