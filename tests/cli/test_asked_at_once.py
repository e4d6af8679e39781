"""Several hosts are asked at once, and what is said does not depend on which of them answers first."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from ui.acts import cut

from bringup.cli.left_over import left_on
from bringup.cli.stopping import refuse_any_left
from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.core.state import State
from bringup.hosts.control import Unfinished
from bringup.session.session import Session

REST = Server(pid=101, start=1, engine="sglang", argv=("python",))
LEFT = cut(action="stop", step="stopping", busy=True, alive=((101, 1),))


class Asked:
    """A session that answers only once the last host is asked, too."""

    def __init__(self, last: asyncio.Event, who: str, *, is_last: bool = False) -> None:
        self.state = State(node=who, server=REST)
        self.read_only = False
        self._last = last
        self._is_last = is_last
        self._who = who

    async def unfinished(self) -> Unfinished:
        if self._is_last:
            self._last.set()
        await asyncio.wait_for(self._last.wait(), 60)
        return cut(who=self._who)

    async def standing(self) -> tuple[tuple[Server, ...], tuple[Unfinished, ...]]:
        await self.unfinished()
        # The last one answers first.
        for _ in range(0 if self._is_last else 9):
            await asyncio.sleep(0)
        return (), (cut(who=self._who, action="stop", step="stopping", busy=True, alive=((101, 1),)),)


def three() -> tuple[tuple[str, Session], ...]:
    last = asyncio.Event()
    names = ("ann", "bob", "cid")
    return tuple((name, cast(Session, Asked(last, name, is_last=name == "cid"))) for name in names)


async def test_what_is_left_in_the_middle_is_told_in_the_order_of_the_hosts() -> None:
    found = await left_on(three())
    assert [(name, left.who) for name, left in found] == [("ann", "ann"), ("bob", "bob"), ("cid", "cid")]


async def test_about_what_is_read_only_nothing_can_be_done() -> None:
    sessions = three()
    cast(Any, sessions[1][1]).read_only = True
    can = [left.can for _, left in await left_on(sessions)]
    assert can == [("launch", "discard"), (), ("launch", "discard")]


async def test_one_that_cannot_tell_has_nothing_to_tell() -> None:
    sessions = three()

    async def lost(*_: Any) -> Unfinished:
        raise BringupError("The connection was lost.")

    cast(Any, sessions[1][1]).unfinished = lost
    assert [name for name, _ in await left_on(sessions)] == ["ann", "cid"]


async def test_the_first_host_of_those_that_refuse_is_told() -> None:
    with pytest.raises(BringupError, match="under way by ann"):
        await refuse_any_left(three())
