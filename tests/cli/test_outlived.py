"""A stop or restart by command of a server whose launcher was killed: what lives on of it is not said to have ended."""

from __future__ import annotations

from typing import cast

import pytest
from timeline import ROOT, START, Timeline
from ui.acts import serving

from bringup.cli.acting import Deed, _planned
from bringup.core.errors import BringupError
from bringup.core.events import ServerGone
from bringup.session.session import Session


@pytest.mark.parametrize("deed", ["stop", "restart"])
@pytest.mark.parametrize(
    ("orphans", "what", "hint"),
    [
        ((), "All processes of this server have ended: there is nothing to {deed}.", ""),
        (
            (103, 105),
            "Its launcher has ended; PID 103 and 105 of it live on.",
            "In `bringup watch kimi`, o shows what lives on, and can end it.",
        ),
    ],
)
async def test_what_lives_on_is_named(deed: Deed, orphans: tuple[int, ...], what: str, hint: str) -> None:
    console = serving()
    console.planned = {"members": ()}
    line = Timeline(state=console.state, t=console.moment - START)
    line.add(ServerGone(at=line.now, pid=ROOT, orphans=orphans))
    console.change(line.state)
    with pytest.raises(BringupError) as refused:
        await _planned(cast(Session, console), deed, "kimi")
    assert (refused.value.what, refused.value.hint) == (what.format(deed=deed), hint)
