"""Two nodes of one start behind two real sshd: one verdict, global ranks, the culprit named; what a screen shows."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from simulated import needs_linux
from twonodes import Node, two_nodes
from waiting import eventually

from bringup.core.errors import Unreachable
from bringup.core.verdict import Verdict
from bringup.hosts.base import Host
from bringup.hosts.ssh import SshHost
from bringup.session.console import Several
from bringup.session.fleet import Fleet
from bringup.session.fleet_looks import FleetHeadless, FleetLook
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target

pytestmark = needs_linux
PATIENCE = 60.0


def session(node: Node, knowledge: Knowledge) -> Session:
    async def connect() -> Host:
        return await SshHost.login(node.name, options=node.sshd.options())

    return Session(connect, Target(node.name, port=node.port, within=os.getpid()), knowledge)


@asynccontextmanager
async def watching(nodes: tuple[Node, Node], knowledge: Knowledge) -> AsyncIterator[Fleet]:
    fleet = Fleet([(node.name, session(node, knowledge)) for node in nodes])
    await fleet.open()
    try:
        yield fleet
    finally:
        await fleet.close()


async def reaches(fleet: Fleet, holds: Callable[[Verdict], bool]) -> Verdict:
    await eventually(lambda: holds(fleet.verdict()), PATIENCE)
    return fleet.verdict()


def has_loaded(verdict: Verdict) -> bool:
    """All ranks of both nodes have begun to load."""
    return [view.phase for view in verdict.ranks] == ["weights"] * 4


async def test_one_node_fails_and_the_other_waits(tmp_path: Path, knowledge: Knowledge) -> None:
    with two_nodes(tmp_path) as nodes:
        for node in nodes:
            node.launch()
            node.load()
        async with watching(nodes, knowledge) as fleet:
            both = await reaches(fleet, has_loaded)
            assert [(view.rank, view.node) for view in both.ranks] == [
                (0, "node1"),
                (1, "node1"),
                (2, "node2"),
                (3, "node2"),
            ]
            assert both.ranks_expected == 4
            pids = [child.pid for node in nodes for child in node.tree.children]
            await reaches(fleet, lambda verdict: [view.pid for view in verdict.ranks] == pids)
            nodes[1].fail(3)
            failed = await reaches(fleet, lambda verdict: verdict.state == "failed")
            assert failed.failed_ranks == (3,)
            assert failed.summary.startswith("Failed on node2: out of memory on TP3")
            assert failed.summary.endswith("node1 waits for it.")
            assert failed.cause is not None
            assert (failed.cause.kind, failed.cause.node) == ("oom", "node2")
            assert [view.note for view in failed.ranks if view.node == "node1"] == ["waits for node2"] * 2
            # What NCCL says an hour later on the head is not the cause.
            nodes[0].say("Scheduler hit an exception: Traceback (most recent call last):", 0)
            with nodes[0].log.open("a") as file:
                file.write('  File "/sgl/x.py", line 1, in y\n    z()\n')
                file.write("torch.distributed.DistBackendError: NCCL error: remote process exited or network error\n\n")
            late = await reaches(fleet, lambda verdict: "node1 ended after it" in verdict.summary)
            assert late.cause is not None
            assert (late.cause.kind, late.cause.node) == ("oom", "node2")


async def test_the_log_is_that_of_the_node_that_is_shown(tmp_path: Path, knowledge: Knowledge) -> None:
    with two_nodes(tmp_path) as nodes:
        for node in nodes:
            node.launch()
            node.load()
        async with watching(nodes, knowledge) as fleet:
            assert isinstance(fleet, Several)
            assert (fleet.nodes, fleet.node) == (("node1", "node2"), "node1")
            await reaches(fleet, has_loaded)
            first = fleet.take_lines()
            assert any(b"TP1" in line for line in first)
            assert not any(b"TP2" in line for line in first)
            before = fleet.rev
            fleet.show("node2")
            assert fleet.rev > before
            assert fleet.state.attempt.node_rank == 1
            assert any(b"TP2" in line for line in fleet.take_lines())
            assert not fleet.take_lines()
            fleet.show("node1")
            assert fleet.take_lines()[: len(first)] == first, "all lines come again"
            fleet.show("node2")
            plan = await fleet.plan()
            assert (plan.server.pid, plan.node.startswith("node2")) == (nodes[1].tree.pid, True)


async def test_one_look_at_all_nodes(tmp_path: Path, knowledge: Knowledge) -> None:
    with two_nodes(tmp_path) as nodes:
        for node in nodes:
            node.launch()
            node.load()
        async with watching(nodes, knowledge) as fleet:
            look = await FleetHeadless(fleet).once()
            assert isinstance(look, FleetLook)
            assert [name for name, _, _ in look.nodes] == ["node1", "node2"]
            assert (look.verdict.state, len(look.verdict.ranks)) == ("starting", 4)


async def test_a_connection_that_is_cut_ends_nothing(tmp_path: Path, knowledge: Knowledge) -> None:
    with two_nodes(tmp_path) as nodes:
        for node in nodes:
            node.launch()
            node.load()
        async with watching(nodes, knowledge) as fleet:
            await reaches(fleet, has_loaded)
            nodes[1].sshd.cut()
            link = fleet.sessions[1][1]
            await eventually(lambda: link.state.link.status != "up", PATIENCE)
            assert fleet.verdict().state in ("starting", "slow")
            await eventually(lambda: link.state.link.status == "up", PATIENCE)


async def test_a_node_that_cannot_be_reached_is_named_and_all_are_left(tmp_path: Path, knowledge: Knowledge) -> None:
    async def nowhere() -> Host:
        raise Unreachable("node2 refused the connection.")

    with two_nodes(tmp_path) as nodes:
        there = session(nodes[0], knowledge)
        fleet = Fleet([("node1", there), ("node2", Session(nowhere, Target("node2"), knowledge))])
        with pytest.raises(Unreachable, match="node2"):
            await fleet.open()
        await eventually(lambda: not nodes[0].sshd.sessions(), PATIENCE)
