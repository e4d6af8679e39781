"""What `bringup restart` makes of an action that was left in the middle: one server, or a sentence why not."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from ui.acts import cut

from bringup.cli import left_over
from bringup.cli.left_over import forget, go_on
from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.core.state import State
from bringup.hosts.control import Unfinished
from bringup.session.session import Session

OLD = Server(pid=100, start=1, engine="sglang", argv=("python",), port=30000)


class Asked:
    """A session on a host where something was left in the middle."""

    def __init__(self, *lefts: Unfinished, server: Server | None = None) -> None:
        self.lefts = list(lefts)
        self.state = State(node="gpu-a", server=server)
        self.did: list[str] = []

    async def unfinished(self) -> Unfinished | None:
        return self.lefts.pop(0) if len(self.lefts) > 1 else self.lefts[0] if self.lefts else None

    async def resume(self, left: Unfinished) -> None:
        self.did.append("resume")

    async def discard(self, left: Unfinished) -> None:
        self.did.append("discard")

    def hear(self, heard: object) -> None:
        """Nothing is told."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "_EVERY", 0.01)
    monkeypatch.setattr(left_over, "_ENDS", 0.05)


async def going_on(session: Asked, *, yes: bool = True, read_only: bool = False) -> bool:
    return await go_on(cast(Session, session), "box", yes=yes, read_only=read_only)


async def test_with_nothing_left_it_begins_as_always() -> None:
    assert not await going_on(Asked())


async def test_what_was_kept_is_launched() -> None:
    session = Asked(cut())
    assert await going_on(session)
    assert session.did == ["resume"]


async def test_a_server_that_ends_by_itself_is_waited_for() -> None:
    session = Asked(cut(step="stopping", alive=((100, 1),)), cut(step="stopping"), server=OLD)
    assert await going_on(session)
    assert session.did == ["resume"]


async def test_one_that_does_not_end_is_restarted_anew() -> None:
    session = Asked(cut(step="stopping", alive=((100, 1),)), server=OLD)
    assert not await going_on(session)
    assert session.did == []


async def test_a_new_server_that_runs_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    session = Asked(cut(step="launching", new=(200, 9), new_alive=True))
    assert await going_on(session)
    assert session.did == ["discard"]
    assert "is done: the new server runs as PID 200." in capsys.readouterr().out


async def test_one_that_is_under_way_is_not_touched() -> None:
    session = Asked(cut(busy=True))
    with pytest.raises(BringupError, match=r"is under way by ada@laptop.*Nothing was done"):
        await going_on(session)
    assert session.did == []


async def test_a_part_of_the_old_server_stands_against_it() -> None:
    session = Asked(cut(alive=((101, 2),)))
    with pytest.raises(BringupError, match="--discard"):
        await going_on(session)
    assert session.did == []


async def test_read_only_goes_on_with_nothing() -> None:
    session = Asked(cut())
    with pytest.raises(BringupError, match="Leave --read-only out"):
        await going_on(session, read_only=True)
    assert session.did == []


async def test_no_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "confirmed", lambda question: False)
    session = Asked(cut())
    with pytest.raises(BringupError, match="Nothing was done"):
        await going_on(session, yes=False)
    with pytest.raises(BringupError, match="Nothing was done"):
        await forget(cast(Session, session), "box", yes=False, read_only=False)
    assert session.did == []


async def test_of_another_server_it_is_said_only(capsys: pytest.CaptureFixture[str]) -> None:
    session = Asked(cut(), server=replace(OLD, pid=77, start=5))
    assert not await going_on(session)
    assert session.did == []
    assert "That is another server." in capsys.readouterr().err
