"""Several hosts: what is done on one, or was left on it, is known, said and asked about whichever of them is shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest
from textual.pilot import Pilot
from ui.acts import cut
from ui.dialogs import ask, body, heard
from ui.fakes import FakeConsole
from ui.scenes import SCENES
from ui.screen import MIDDLE, opened, text_of, until

from bringup.core.errors import BringupError
from bringup.core.events import ActionStep, LinkChanged
from bringup.core.reduce import reduce
from bringup.session.console import StopPlan, Unfinished
from bringup.session.fleet import Fleet
from bringup.session.retries import Retries
from bringup.session.session import Session
from bringup.ui import left_over
from bringup.ui.app import BringupApp
from bringup.ui.paint.notices import paint_notices
from bringup.ui.paint.row import plain
from bringup.ui.picture import OtherNode, Picture
from bringup.ui.screens.confirm import RestartDialog, StopDialog
from bringup.ui.screens.left import LeftDialog

pytestmark = pytest.mark.usefixtures("words_that_stay")


class Node(FakeConsole):
    """The session of one host, as the console of all of them needs it."""

    is_level = True
    whole_log = None

    def __init__(self) -> None:
        ready = SCENES["ready"]()
        super().__init__(ready.state, ready.moment)
        self.retries = Retries()
        self.looks = 0
        self.answers = asyncio.Event()
        """A plan comes only when this is set."""
        self.answers.set()

    async def plan(self, left: Unfinished | None = None) -> StopPlan:
        await self.answers.wait()
        return await super().plan(left)

    async def unfinished(self) -> Unfinished | None:
        self.looks += 1
        return self.left

    def step(self, text: str, *, ended: bool = False, failed: bool = False) -> None:
        """Go on with a restart."""
        told = ActionStep(at=self.now(), action="restart", step=text, ended=ended, failed=failed)
        self.change(reduce(self.state, told))

    def link(self, status: str) -> None:
        """Lose the connection, or get it back."""
        self.change(reduce(self.state, LinkChanged(at=self.now(), status=status, why="no answer")))  # type: ignore[arg-type]


@dataclass
class Two:
    """Two hosts on one screen, the first of which is shown."""

    app: BringupApp
    pilot: Pilot[None]
    fleet: Fleet
    one: Node
    two: Node

    async def turn(self, node: str) -> None:
        """Show the other one."""
        await self.pilot.press("a")
        await until(self.pilot, lambda: self.fleet.node == node)

    async def says(self, text: str) -> None:
        """Wait until it is on the screen."""
        await until(self.pilot, lambda: text in " ".join(text_of(self.app).split()))

    async def tells(self, text: str) -> None:
        """Wait until it is told for a while."""
        await until(self.pilot, lambda: any(text in told for told in self.told))

    @property
    def told(self) -> list[str]:
        return [each.message for each in self.app._notifications]


@asynccontextmanager
async def two(one: Node | None = None, other: Node | None = None) -> AsyncIterator[Two]:
    nodes = (one or Node(), other or Node())
    fleet = Fleet([(f"node{number}", cast(Session, node)) for number, node in enumerate(nodes, 1)])
    async with opened(cast(Any, fleet), MIDDLE) as (app, _, pilot):
        yield Two(app, pilot, fleet, *nodes)


async def test_what_goes_on_on_a_host_that_is_not_shown_is_said_and_not_left_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with two() as at:
        at.two.step("SIGKILL goes to 3 processes.")
        await at.says("RESTART on node2 for 0 s: SIGKILL goes to 3 processes.")
        assert "a goes there" in text_of(at.app)
        await at.pilot.press("q")
        await at.tells("A restart on node2 is under way. Press q again to leave it half done.")
        await at.pilot.press("q")
    said = "The restart on node2 was left half done, nothing more is done from here."
    assert " ".join(capsys.readouterr().err.split()) == f"{said} Its last step: SIGKILL goes to 3 processes."


async def test_of_each_that_is_under_way_it_is_said_how_far_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    async with two() as at:
        at.one.step("Waiting [/for] 3.")
        at.two.step("SIGKILL goes to 3 processes.")
        await at.pilot.press("q")
        await at.tells("A restart on node1 is under way. A restart on node2 is under way. Press q again to leave them")
        await at.pilot.press("q")
    said = " ".join(capsys.readouterr().err.split())
    assert "on node1 was left half done, nothing more is done from here. Its last step: Waiting [/for] 3." in said
    assert "on node2 was left half done" in said


async def test_an_order_that_has_told_no_step_yet_is_under_way(capsys: pytest.CaptureFixture[str]) -> None:
    async with two() as at:
        at.one.order = asyncio.Event()
        await ask(at.app, at.pilot, "K")
        await at.pilot.press("y")
        await until(at.pilot, lambda: at.one.calls == [("stop", "TERM")])
        await at.turn("node2")
        await at.pilot.press("q", "q")
        at.one.order.set()
    said = "The stop on node1 was left half done, nothing more is done from here."
    assert " ".join(capsys.readouterr().err.split()) == said


async def test_what_was_done_to_one_of_them_is_not_said_to_be_untouched(capsys: pytest.CaptureFixture[str]) -> None:
    async with two() as at:
        at.two.step("Launched again as PID 7.", ended=True)
        await at.tells("node2: Launched again as PID 7.")
        told = len(at.told)
        await at.turn("node2")
        assert len(at.told) == told + 1, "that it is shown now; the end of the restart was told before"
        await at.turn("node1")
        await at.pilot.press("q")
    assert capsys.readouterr().err == ""


async def test_what_was_left_in_the_middle_is_looked_for_on_each_and_shown_with_its_host() -> None:
    other = Node()
    other.left = cut()
    async with two(other=other) as at:
        await at.says("RESTART on node2 was cut off 2 min 20 s ago")
        assert at.app.screen is at.app.watch_screen
        assert not [key for key in at.app.keys_shown(read_only=False) if key.id == "unfinished"]
        await at.turn("node2")
        dialog = await heard(at.app, at.pilot)
        assert isinstance(dialog, LeftDialog)
        assert "host node2 (gpu-a)" in body(dialog)
        await at.pilot.press("f")
        await until(at.pilot, lambda: at.two.calls == [("discard", (100, 1))])
        assert at.one.calls == []


async def test_a_connection_that_comes_back_is_looked_back_at_while_another_host_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(left_over, "EVERY", 0.1)
    async with two() as at:
        await until(at.pilot, lambda: at.two.looks == 1)
        at.two.step(
            "The connection was lost in the middle: what happened is said when it is back.", ended=True, failed=True
        )
        at.two.link("lost")
        await at.says("RESTART on node2 failed")
        at.two.left = cut()
        at.two.link("up")
        await at.says("RESTART on node2 was cut off 2 min 20 s ago")
        at.two.left = None
        await until(at.pilot, lambda: "was cut off" not in text_of(at.app))


async def test_a_stop_is_of_the_host_that_was_shown_when_it_was_asked_for() -> None:
    async with two() as at:
        at.one.answers.clear()
        await at.pilot.press("K")
        await at.turn("node2")
        at.one.answers.set()
        dialog = await heard(at.app, at.pilot)
        assert isinstance(dialog, StopDialog)
        await at.pilot.press("y")
        await until(at.pilot, lambda: at.one.calls == [("stop", "TERM")])
        assert at.two.calls == []


async def test_a_restart_that_fails_on_a_host_that_is_not_shown_is_told_and_its_dialog_waits_there() -> None:
    async with two() as at:
        at.one.order, at.one.failing = asyncio.Event(), BringupError("It ended at once.", "no such flag")
        assert isinstance(await ask(at.app, at.pilot, "R"), RestartDialog)
        await at.pilot.press("y")
        await until(at.pilot, lambda: at.one.calls == [("restart", 100)])
        await at.turn("node2")
        at.one.order.set()
        await at.tells("node1: It ended at once.")
        assert at.app.screen is at.app.watch_screen
        await at.turn("node1")
        assert "It ended at once." in body(await heard(at.app, at.pilot))


async def test_one_that_is_read_only_protects_all() -> None:
    one = Node()
    one.why_read_only = "node1 is protected."
    other = Node()
    other.left = cut()
    async with two(one, other) as at:
        await at.turn("node2")
        assert not (await heard(at.app, at.pilot)).query("#yes, #other")
        await at.pilot.press("escape")
        await until(at.pilot, lambda: at.app.screen is at.app.watch_screen)
        at.app.watch_screen.action_kill()
        await at.tells("node1 is protected.")
        assert at.app.screen is at.app.watch_screen


async def test_nor_is_anything_of_one_removed_on_the_host_of_another() -> None:
    protected, one = Node(), Node()
    protected.why_read_only = "node1 is protected."
    one.left = cut(step="launching", new=(200, 9), new_alive=True)
    async with two(protected, one) as at:
        await at.turn("node2")
        await at.tells("is done: the new server runs as PID 200.")
        assert one.calls == []


@pytest.mark.parametrize(
    ("nodes", "rows", "last"), [(3, 3, "RESTART on node4"), (5, 3, "ALSO on node4, node5 and node6")]
)
async def test_of_many_hosts_a_few_have_a_row_and_the_others_are_named(nodes: int, rows: int, last: str) -> None:
    node = Node()
    node.step("SIGKILL goes to 3 processes.")
    others = tuple(OtherNode(f"node{number}", node.state, node.now()) for number in range(2, 2 + nodes))
    shown = Node()
    drawn = [plain(row) for row in paint_notices(Picture(shown.state, shown.verdict(), "x", others=others), 80)]
    assert len(drawn) == rows
    assert drawn[-1].strip().startswith(last)
    assert {len(row) for row in drawn} == {80}
