"""The command that a restart in the middle has kept is asked for until the host has answered."""

from __future__ import annotations

import pytest
from ui.acts import cut
from ui.dialogs import body, heard
from ui.scenes import SCENES
from ui.screen import MIDDLE, opened, until

from bringup.core.errors import ConnectionLost
from bringup.core.events import Server
from bringup.session.console import Kept, StopPlan, Unfinished
from bringup.ui import left_over


async def test_after_a_lost_connection_the_kept_command_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "EVERY", 0.1)
    console = SCENES["stopped"]()
    console.left = cut(step="failed", new=(200, 9), status="2", said="no such flag: --enable-x")
    ran, kept = ("python3", "-m", "x"), ("python3", "-m", "x", "--enable-x")
    there = Kept(StopPlan("gpu-a", Server(pid=100, start=1, engine="", argv=kept), "", (), argv=ran), kept)
    answers: list[Kept | None] = [None]

    async def ask(_: Unfinished) -> Kept | None:
        if answers[0] is None:
            raise ConnectionLost("The connection was lost.")
        return answers[0]

    monkeypatch.setattr(console, "kept", ask)
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "edits the command first" not in body(dialog)
        answers[0] = there
        await until(pilot, lambda: "edits the command first" in body(dialog))
