"""The palette, and leaving the console."""

from __future__ import annotations

from contextlib import suppress

import pytest
from textual.command import CommandList
from textual.worker import WorkerFailed
from ui.screen import NARROW, opened, until

from bringup.cli.crash import told
from bringup.core.events import ActionStep
from bringup.core.reduce import reduce
from bringup.ui.app import BringupApp
from bringup.ui.screens.reading import EvidenceScreen


def offered(app: BringupApp) -> str:
    """What the palette would do now; "" while it has found nothing."""
    found = app.screen.query_one(CommandList).highlighted_option
    return str(found.prompt) if found is not None else ""


async def test_palette_offers_the_same_actions() -> None:
    async with opened("weights", NARROW) as (app, _, pilot):
        await pilot.press("colon")
        await until(pilot, lambda: app.screen is not app.watch_screen)
        await pilot.press(*"evid")
        await until(pilot, lambda: offered(app).startswith("evidence"))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EvidenceScreen))


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
async def test_leaving_says_that_the_server_was_not_touched(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with opened("weights", NARROW) as (app, console, pilot):
        await pilot.press(key)
    assert console.calls == []
    assert app.return_code == 0
    assert capsys.readouterr().err == "The server was not touched.\n"


async def test_leaving_after_a_stop_does_not_claim_that_nothing_was_touched(capsys: pytest.CaptureFixture[str]) -> None:
    async with opened("weights", NARROW) as (_, console, pilot):
        console.change(reduce(console.state, ActionStep(at=console.now(), action="stop", step="Stopped.", ended=True)))
        await pilot.press("q")
    assert capsys.readouterr().err == ""


async def test_leaving_in_the_middle_of_an_action_says_how_far_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    async with opened("weights", NARROW) as (_, console, pilot):
        console.change(reduce(console.state, ActionStep(at=console.now(), action="stop", step="Waiting [/for] 3.")))
        await pilot.press("q", "q")
    said = "The stop was left half done, nothing more is done from here. Its last step: Waiting [/for] 3."
    assert " ".join(capsys.readouterr().err.split()) == said


async def test_what_breaks_while_the_console_is_left_does_not_count() -> None:
    async with opened("weights", NARROW) as (app, _, _):
        app.exit(return_code=143)
        app._handle_exception(KeyError("half built"))
    assert app.return_code == 143
    assert app.failure is None


async def test_the_defect_of_a_worker_has_its_own_traceback() -> None:
    def break_down() -> None:
        raise KeyError("deep below")

    async def work() -> None:
        break_down()

    with suppress(WorkerFailed):
        async with opened("weights", NARROW) as (app, _, pilot):
            app.run_worker(work)
            await until(pilot, lambda: app.failure is not None)
    assert app.failure is not None
    assert "KeyError: 'deep below'" in str(app.failure)
    assert any("break_down" in line for line in told(app.failure))
