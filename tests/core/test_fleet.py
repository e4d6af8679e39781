"""Several nodes as one start: who decides, who is named, who waits; ranks, phases and warnings of all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from timeline import START, Timeline

from bringup.core.events import HttpAnswered, LinkChanged
from bringup.core.fleet import Part, decider, join
from bringup.core.state import State
from bringup.core.verdict import Advisory, PhaseView, Verdict

SIDE = {0: range(4), 1: range(4, 8)}


def node(number: int) -> Timeline:
    """A node of a start of 8 ranks on 2 nodes that has just begun to load."""
    ranks = SIDE[number]
    line = Timeline(State(node="host")).add(LinkChanged(at=START, status="up"))
    line.found(tp=8, nnodes=2, node_rank=number).launch(tp=8, nnodes=2, node_rank=number).wait(20)
    line.begin("distributed", ranks).wait(5).end("distributed", ranks, seconds=5.0)
    return line.wait(1).begin("weights", ranks).wait(2)


def empty() -> Timeline:
    return Timeline(State(node="host")).add(LinkChanged(at=START, status="up"))


def part(name: str, line: Timeline, after: float = 0.0) -> Part:
    return Part(name, line.state, line.verdict(after))


def joined(head: Timeline, worker: Timeline, after: float = 0.0) -> Verdict:
    t = max(head.t, worker.t) + after
    parts = (part("node1", head, t - head.t), part("node2", worker, t - worker.t))
    return join(parts, START + t, head.policy)


def test_ranks_are_global_and_have_their_node() -> None:
    verdict = joined(node(0), node(1))
    assert [view.rank for view in verdict.ranks] == list(range(8))
    assert [view.node for view in verdict.ranks] == ["node1"] * 4 + ["node2"] * 4
    assert (verdict.state, verdict.phase, verdict.ranks_expected) == ("starting", "weights", 8)
    assert "0 of 8 ranks done (0 of 4 on node1, 0 of 4 on node2)" in verdict.summary


def test_phases_are_those_of_all_nodes() -> None:
    head = node(0).wait(10).end("weights", range(4), seconds=12.0)
    verdict = joined(head, node(1).wait(10))
    weights = next(view for view in verdict.phases if view.phase == "weights")
    assert (weights.ended, weights.ranks_done) == (False, 4)
    assert dict(verdict.ranks_done)["weights"] == (0, 1, 2, 3)
    assert "4 of 8 ranks done (4 of 4 on node1, 0 of 4 on node2)" in verdict.summary


def entered(number: int, *phases: tuple[str, str | None], later: float = 0.0) -> Part:
    """A node that entered these phases, one a second, the first of them so many seconds after the others' first."""
    line = node(number)
    known = part(f"node{number + 1}", line)
    own = tuple(
        PhaseView(phase, role, START + later + second, 1.0, ended=True)  # type: ignore[arg-type]
        for second, (phase, role) in enumerate(phases)
    )
    return replace(known, verdict=replace(known.verdict, phases=own))


def order(*parts: Part) -> list[tuple[str, str | None]]:
    phases = join(parts, parts[0].verdict.now, node(0).policy).phases
    return [(view.phase, view.role) for view in phases]


def test_the_phases_of_all_nodes_have_the_order_of_a_start() -> None:
    launch, distributed = ("launch", None), ("distributed", None)
    weights, graphs, draft = ("weights", "target"), ("graphs", "target"), ("weights", "draft")
    late = entered(1, launch, distributed, later=60.0)
    cut = entered(0, distributed, weights)
    assert order(cut, late) == order(late, cut) == [launch, distributed, weights]
    # SGLang loads the draft model when the target has been captured: the order of a node counts more.
    ahead = entered(0, distributed, weights, graphs, draft)
    assert order(ahead, late) == [launch, distributed, weights, graphs, draft]


def test_nodes_that_contradict_each_other_have_every_phase_once() -> None:
    one, other = ("weights", "target"), ("weights", "draft")
    assert order(entered(0, one, other), entered(1, other, one, later=9.0)) == [one, other]


def test_a_clock_that_goes_wrong_moves_no_phase() -> None:
    late = node(1)
    right = part("node2", late)
    hour = 3600.0
    phases = tuple(replace(view, started=view.started + hour) for view in right.verdict.phases)
    wrong = replace(right, verdict=replace(right.verdict, now=right.verdict.now + hour, phases=phases))
    head = part("node1", node(0))
    assert (
        join((head, wrong), head.verdict.now, late.policy).phases
        == join((head, right), head.verdict.now, late.policy).phases
    )


def test_a_failed_worker_decides_and_the_others_wait_for_it() -> None:
    worker = node(1).fault("oom", "CUDA out of memory", rank=6)
    verdict = joined(node(0), worker)
    assert (verdict.state, verdict.failed_ranks) == ("failed", (6,))
    assert verdict.summary.startswith("Failed on node2: out of memory on TP6")
    assert verdict.summary.endswith("node1 waits for it.")
    assert verdict.cause is not None
    assert (verdict.cause.node, verdict.cause.kind) == ("node2", "oom")
    assert {view.note for view in verdict.ranks if view.node == "node1"} == {"waits for node2"}


@pytest.mark.parametrize("first", ["head", "worker"])
def test_a_lost_peer_is_the_consequence_of_what_the_other_node_says(first: str) -> None:
    """Whichever line came first: the clocks of two hosts prove no order of moments."""
    head, worker = node(0), node(1)
    (head if first == "worker" else worker).wait(3)
    head.fault("peer-lost", "Connection closed by peer", rank=0, secondary=True)
    worker.fault("oom", "CUDA out of memory", rank=5)
    verdict = joined(head, worker)
    assert verdict.cause is not None
    assert (verdict.state, verdict.cause.kind, verdict.cause.node, verdict.cause.secondary) == (
        "failed",
        "oom",
        "node2",
        False,
    )
    assert "node1 ended after it" in verdict.summary


def test_a_worker_that_was_killed_explains_the_nccl_error_of_the_head() -> None:
    worker = node(1).spawn(0).wait(1).sample().wait(1).kill(None).sample()
    head = node(0).wait(9).fault("nccl", "remote process exited", rank=1)
    verdict = joined(head, worker)
    assert verdict.state == "failed"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.node) == ("killed", "node2")
    assert verdict.summary.startswith("Failed: node2 was stopped")


def test_a_head_that_was_stopped_stops_the_start() -> None:
    head = node(0).ending("sigterm")
    worker = node(1).wait(2).fault("peer-lost", "Connection closed", rank=4, secondary=True)
    verdict = joined(head, worker)
    assert (verdict.state, verdict.summary.startswith("Stopped on node1")) == ("stopped", True)


def test_a_node_that_is_ahead_waits_and_is_not_stalled() -> None:
    head = node(0).wait(10).end("weights", range(4), seconds=12.0)
    head_part = part("node1", head, after=4000)
    assert head_part.verdict.state == "stalled"
    worker = node(1).spawn(4).wait(4010)
    for rank in range(4):
        worker.fault_in(rank)
    worker.sample().bar(3, 64)
    verdict = join((head_part, part("node2", worker)), head_part.verdict.now, head.policy)
    assert verdict.state in ("starting", "slow")
    assert "node2" in verdict.summary


def test_all_that_stand_still_wait_for_the_node_without_a_server() -> None:
    head = Timeline(State(node="host")).add(LinkChanged(at=START, status="up"))
    head.found(tp=8, nnodes=2).launch(tp=8, nnodes=2).wait(20).begin("distributed", range(4))
    verdict = joined(head, empty(), after=7200)
    assert verdict.state == "stalled"
    assert verdict.summary == "Stalled: node1 waits for node2, where no server runs."
    assert verdict.cause is not None
    assert verdict.cause.node == "node2"
    assert [(view.node, view.note) for view in verdict.ranks[4:]] == [("node2", "no server there yet")] * 4


def test_the_node_of_a_stopped_process_is_the_culprit() -> None:
    worker = node(1).spawn(4, "sglang::scheduler_TP{}")
    for rank in range(4):
        worker.change(rank, title=f"sglang::scheduler_TP{rank + 4}")
    worker.sample().wait(1)
    worker.change(2, state="T").sample().wait(30).sample()
    verdict = joined(node(0), worker)
    assert (verdict.state, verdict.failed_ranks) == ("stalled", (6,))
    assert verdict.summary.startswith("Stalled on node2")


def test_a_ready_line_of_the_head_is_not_all_while_another_node_loads() -> None:
    head = node(0).wait(30).end("weights", range(4), seconds=30.0).end("kv-cache", range(4))
    head.reached("scheduler-up", "http-up", "ready")
    worker = node(1).wait(30)
    verdict = joined(head, worker)
    assert (verdict.state, verdict.phase) == ("starting", "weights")
    assert "node2" in verdict.summary
    head.add(HttpAnswered(at=head.now, path="/health", status=200))
    assert joined(head, worker).state == "ready"


def test_the_readiness_of_the_head_counts() -> None:
    head = node(0).wait(30).end("weights", range(4), seconds=30.0).end("kv-cache", range(4))
    head.reached("scheduler-up").wait(1).reached("http-up").wait(4).reached("ready")
    worker = node(1).wait(30).end("weights", SIDE[1], seconds=30.0).end("kv-cache", SIDE[1]).reached("node-up")
    alone = part("node2", worker)
    assert alone.verdict.state == "standby"
    ready = joined(head, worker)
    assert (ready.state, ready.phase) == ("ready", "serving")
    assert ready.summary.endswith("2 nodes.")
    assert joined(node(0), worker).state == "starting"
    lost = joined(head, worker.fault("oom", "CUDA out of memory", rank=4))
    assert lost.state == "degraded"
    assert "node1 serves, but node2 failed: out of memory" in lost.summary


def test_nothing_there() -> None:
    verdict = joined(empty(), empty())
    assert verdict.state == "waiting"
    assert "node1 and node2" in verdict.summary
    worker = node(1).wait(30).end("weights", SIDE[1], seconds=30.0).end("kv-cache", SIDE[1]).reached("node-up")
    before_the_head = joined(empty(), worker)
    assert before_the_head.state == "starting"
    assert before_the_head.summary == "No server on the head node node1 yet; node2 is up."


def test_a_lost_connection_is_said_and_judged_by_the_others() -> None:
    worker = node(1).add(LinkChanged(at=START, status="lost", why="It was cut."))
    verdict = joined(node(0), worker)
    assert verdict.state == "starting"
    assert "There is no connection to node2 now." in verdict.summary or "node2" in verdict.summary
    gone = empty().add(LinkChanged(at=START, status="lost", why="It was cut."))
    assert "There is no connection to node2 now." in joined(node(0), gone).summary


def test_warnings_have_their_node_unless_all_say_them() -> None:
    both, one = Advisory("slow-storage", "NFS"), Advisory("memory-tight", "0.4 GB")
    parts = [part("node1", node(0)), part("node2", node(1))]
    parts[0] = replace(parts[0], verdict=replace(parts[0].verdict, warnings=(both, one)))
    parts[1] = replace(parts[1], verdict=replace(parts[1].verdict, warnings=(both,)))
    told = join((parts[0], parts[1]), parts[0].verdict.now, node(0).policy).warnings
    assert [warning.detail for warning in told] == ["NFS", "node1: 0.4 GB"]


def test_servers_of_their_own_keep_their_ranks_apart() -> None:
    def alone() -> Timeline:
        line = Timeline(State(node="host")).add(LinkChanged(at=START, status="up"))
        return line.found(tp=2).launch(tp=2).spawn(2).begin("weights", range(2))

    verdict = joined(alone(), alone())
    assert [(view.rank, view.node) for view in verdict.ranks] == [
        (0, "node1"),
        (1, "node1"),
        (2, "node2"),
        (3, "node2"),
    ]
    assert "servers of their own" in verdict.evidence[0]


def test_a_job_log_that_holds_all_nodes_doubles_no_rank() -> None:
    """Both nodes' followers read the same file, so each part knows all ranks; every rank is on its own node."""

    def reads_all(number: int) -> Timeline:
        line = Timeline(State(node="host")).add(LinkChanged(at=START, status="up"))
        line.found(tp=8, nnodes=2, node_rank=number).launch(tp=8, nnodes=2, node_rank=number)
        return line.wait(20).begin("weights", range(8))

    verdict = joined(reads_all(0), reads_all(1))
    assert [view.node for view in verdict.ranks] == ["node1"] * 4 + ["node2"] * 4


def test_one_node_is_judged_as_it_is() -> None:
    alone = part("node1", node(0))
    assert join((alone,), alone.verdict.now, node(0).policy) is alone.verdict


def test_the_decider_is_who_the_sentence_is_of() -> None:
    parts = (part("node1", node(0)), part("node2", node(1).fault("oom", "CUDA out of memory", rank=6)))
    assert decider(parts, parts[0].verdict.now).node == "node2"
