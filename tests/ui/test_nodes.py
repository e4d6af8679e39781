"""A start with several hosts on the screen: ranks with their node, and a key that goes to the next node's log."""

from __future__ import annotations

from dataclasses import replace

from ui.fakes import FakeConsole
from ui.screen import opened, text_of, until

from bringup.core.verdict import Verdict


class TwoNodes(FakeConsole):
    """A console over two hosts, the second half of whose ranks run on the second."""

    nodes = ("node1", "node2")
    node = "node1"

    @property
    def sessions(self) -> tuple[tuple[str, FakeConsole], ...]:
        return tuple((node, self) for node in self.nodes)

    def verdict(self) -> Verdict:
        verdict = super().verdict()
        half = len(verdict.ranks) // 2
        ranks = tuple(replace(view, node=self.nodes[view.rank >= half]) for view in verdict.ranks)
        cause = replace(verdict.cause, node="node2") if verdict.cause is not None else None
        return replace(verdict, ranks=ranks, cause=cause)

    def show(self, node: str) -> None:
        self.node = node
        self.lines = [f"a line of {node}".encode()]
        self.rev += 1


async def two(scene: str) -> TwoNodes:
    async with opened(scene) as (_, console, _pilot):
        return TwoNodes(console.state, console.moment, [b"a line of node1"])


async def test_ranks_have_their_node_and_a_key_goes_to_the_next() -> None:
    async with opened(await two("weights")) as (app, console, pilot):
        await until(pilot, lambda: "node1 TP0" in text_of(app))
        assert "node2 TP7" in text_of(app)
        assert "a line of node1" in text_of(app)
        await pilot.press("a")
        await until(pilot, lambda: "a line of node2" in text_of(app))
        assert "a line of node1" not in text_of(app)
        assert "The log and the GPUs are of node2 now." in {note.message for note in app._notifications}
        await pilot.press("a")
        await until(pilot, lambda: "a line of node1" in text_of(app))
        assert isinstance(console, TwoNodes)
        assert console.node == "node1"
        await pilot.press("question_mark")
        await until(pilot, lambda: app.screen is not app.watch_screen)


async def test_the_cause_is_looked_for_on_its_own_node() -> None:
    async with opened(await two("failed")) as (app, console, pilot):
        await until(pilot, lambda: "a line of node1" in text_of(app))
        await pilot.press("full_stop")
        await until(pilot, lambda: "a line of node2" in text_of(app))
        assert isinstance(console, TwoNodes)
        assert console.node == "node2"


async def test_one_host_has_no_other_node() -> None:
    async with opened("weights") as (app, _, pilot):
        await pilot.press("a")
        await until(pilot, lambda: "This start has one host." in {note.message for note in app._notifications})
        assert "gpu-a TP0" not in text_of(app)
