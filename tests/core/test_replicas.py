"""Plain data parallelism: which replica a process or a line belongs to, where neither says so."""

from dataclasses import replace

import pytest
from timeline import ROOT, Timeline, tp

from bringup.core.events import Bar, PhaseBegan, PhaseEnded, Process
from bringup.core.ranks import name_of, worlds

CORE = 200
WORKER = 300


def tree(workers: int = 2, replicas: int = 2, title: str = "VLLM::Worker_TP{}") -> Timeline:
    """vLLM with a dense model: an engine core for each replica, and below it workers of the same names."""
    line = Timeline().launch(engine="vllm", tp=max(1, workers), dp=replicas).spawn(0)
    for replica in range(replicas):
        core = CORE + replica
        line.tree[core] = Process(pid=core, ppid=ROOT, start=2, title=f"VLLM::EngineCore_DP{replica}", state="S")
        for worker in range(workers):
            pid = WORKER + 10 * replica + worker
            line.tree[pid] = Process(pid=pid, ppid=core, start=3, title=title.format(worker), state="R", minflt=9)
    return line.sample()


def shown(line: Timeline) -> list[tuple[int, int | None, str]]:
    ranks = line.state.attempt.ranks
    return [(rank.rank, rank.pid, name_of(line.state.attempt, rank.rank)) for rank in ranks]


def test_the_engine_core_above_a_worker_tells_its_replica():
    expected = [(0, 300, "DP0 TP0"), (1, 301, "DP0 TP1"), (2, 310, "DP1 TP0"), (3, 311, "DP1 TP1")]
    assert shown(tree()) == expected


def test_a_worker_of_one_rank_an_engine_is_the_rank_and_not_its_core():
    assert shown(tree(workers=1, title="VLLM::Worker")) == [(0, 300, "DP0"), (1, 310, "DP1")]


def test_an_engine_core_without_workers_is_the_rank_itself():
    assert shown(tree(workers=0)) == [(0, 200, "DP0"), (1, 201, "DP1")]


def test_a_worker_and_its_core_do_not_take_turns_as_the_rank():
    """One engine, one worker (vLLM on a CPU): with both taken for rank 0 every sample would look like work."""
    line = Timeline().launch(engine="vllm", tp=1).spawn(0)
    line.tree[200] = Process(pid=200, ppid=ROOT, start=2, title="VLLM::EngineCore", state="S")
    line.tree[300] = Process(pid=300, ppid=200, start=3, title="VLLM::Worker", state="R")
    line.sample()
    at = line.now
    for _ in range(3):
        line.wait(1).sample()
    assert [(rank.pid, rank.faults.moved_at) for rank in line.state.attempt.ranks] == [(300, at)]


def test_workers_without_a_name_yet_are_nobody():
    assert shown(tree(workers=2, title="VLLM::Worker")) == []


def test_a_worker_whose_core_is_gone_stays_the_rank_it_was():
    line = tree().wait(1)
    line.tree.pop(CORE + 1)
    line.tree[310] = replace(line.tree[310], ppid=1)
    line.sample()
    assert shown(line)[2] == (2, 310, "DP1 TP0")
    assert line.state.attempt.ranks[2].gone_at is None


def test_a_title_that_names_its_replica_needs_no_tree():
    line = Timeline().launch(engine="sglang", tp=2, dp=2).spawn(0)
    for pid, title in enumerate(["DP0_TP0", "DP0_TP1", "DP1_TP0", "DP1_TP1"], 300):
        line.tree[pid] = Process(pid=pid, ppid=ROOT, start=3, title=f"sglang::scheduler_{title}")
    assert [rank.pid for rank in line.sample().state.attempt.ranks] == [300, 301, 302, 303]


def test_lines_of_one_name_are_put_to_their_replicas_by_the_process_that_wrote_them():
    line = tree()
    for pid in (310, 300):
        line.wait(1).add(PhaseBegan(at=line.now, labels=tp(0), pid=pid, phase="weights"))
    line.wait(9).add(PhaseEnded(at=line.now, labels=tp(0), pid=310, phase="weights", seconds=10.0))
    edges = {
        rank.rank: [(edge.phase, edge.ended is not None) for edge in rank.edges] for rank in line.state.attempt.ranks
    }
    assert edges == {0: [("weights", False)], 1: [], 2: [("weights", True)], 3: []}


def test_lines_of_a_worker_that_has_no_title_yet_are_its_replicas():
    line = tree(workers=1, title="/usr/bin/python3 -c from multiprocessing.spawn import spawn_main")
    line.add(PhaseBegan(at=line.now, labels=(), pid=310, phase="weights"))
    assert [rank.rank for rank in line.state.attempt.ranks if rank.edges] == [1]


def test_the_log_alone_keeps_writers_of_one_name_apart_and_claims_no_replica():
    line = Timeline().launch(engine="vllm", tp=2, dp=2)
    for pid, worker in ((41, 0), (42, 1), (51, 0), (52, 1)):
        line.add(PhaseBegan(at=line.now, labels=tp(worker), pid=pid, phase="weights"))
    attempt = line.state.attempt
    assert [(rank.rank, rank.labels, len(rank.edges)) for rank in attempt.ranks] == [
        (0, tp(0), 1),
        (1, tp(1), 1),
        (2, tp(0), 1),
        (3, tp(1), 1),
    ]


def test_what_was_counted_through_from_the_log_is_put_right_by_the_tree():
    """A look at a start that has been running: its log is read before the first sample of its processes."""
    line = Timeline().launch(engine="vllm", tp=2, dp=2)
    for pid, worker, seconds in ((310, 0, 11.0), (300, 0, 22.0), (311, 1, 33.0)):
        line.add(PhaseBegan(at=line.now, labels=tp(worker), pid=pid, phase="weights"))
        line.add(PhaseEnded(at=line.now, labels=tp(worker), pid=pid, phase="weights", seconds=seconds))
    assert [[edge.seconds for edge in rank.edges] for rank in line.state.attempt.ranks] == [[11.0], [33.0], [22.0]]
    line.tree = tree().tree
    ranks = line.wait(1).sample().state.attempt.ranks
    assert [(rank.pid, [edge.seconds for edge in rank.edges]) for rank in ranks] == [
        (300, [22.0]),
        (301, []),
        (310, [11.0]),
        (311, [33.0]),
    ]
    line.add(PhaseBegan(at=line.now, labels=tp(1), pid=301, phase="weights"))
    assert [name_of(line.state.attempt, rank) for rank in range(4)] == ["DP0 TP0", "DP0 TP1", "DP1 TP0", "DP1 TP1"]
    assert len(line.wait(1).sample().state.attempt.ranks[1].edges) == 1


def test_a_second_load_of_the_same_process_is_a_draft_and_no_other_replica():
    line = Timeline().launch(engine="vllm", tp=1, dp=2, algorithm="EAGLE3")
    line.add(PhaseBegan(at=line.now, labels=tp(0), pid=41, phase="weights"))
    line.wait(9).add(PhaseEnded(at=line.now, labels=tp(0), pid=41, phase="weights"))
    line.add(PhaseBegan(at=line.now, labels=tp(0), pid=41, phase="weights", role="draft"))
    assert [(rank.rank, [edge.role for edge in rank.edges]) for rank in line.state.attempt.ranks] == [
        (0, ["target", "draft"])
    ]


@pytest.mark.parametrize(
    ("arguments", "world", "expected"),
    [
        ({"engine": "sglang", "tp": 2, "dp": 2}, None, 2),
        ({"engine": "sglang", "tp": 4, "dp": 2, "dp_attention": True}, None, 1),
        ({"engine": "sglang", "tp": 4, "pp": 2}, None, 1),
        ({"engine": "vllm", "tp": 8, "dp": 2}, None, 1),
        ({"engine": "vllm", "tp": 8, "dp": 2}, 16, 1),
        ({"engine": "vllm", "tp": 8, "dp": 2}, 8, 2),
    ],
)
def test_how_many_worlds_a_launch_has(arguments, world, expected):
    line = Timeline().launch(**arguments)
    if world is not None:
        line.add(PhaseBegan(at=line.now, labels=(("rank", 3),), pid=7, phase="distributed", world=world))
    assert worlds(line.state.attempt) == expected


def test_ranks_of_one_world_over_all_replicas_are_numbered_through():
    """vLLM with expert parallelism: `world_size=16 rank=9` is the second replica's second worker."""
    line = Timeline().launch(engine="vllm", tp=8, dp=2)
    for rank in (1, 9):
        line.add(PhaseBegan(at=line.now, labels=(("rank", rank),), pid=70 + rank, phase="distributed", world=16))
    assert [rank.rank for rank in line.state.attempt.ranks] == [1, 9]


def test_ranks_of_a_world_of_their_own_are_numbered_within_their_replica():
    line = tree(title="/usr/bin/python3 -c from multiprocessing.spawn import spawn_main")
    for pid, rank in ((301, 1), (311, 1)):
        line.add(PhaseBegan(at=line.now, labels=(("rank", rank),), pid=pid, phase="distributed", world=2))
    assert [rank.rank for rank in line.state.attempt.ranks] == [1, 3]


def test_every_replica_shows_its_own_maps_and_nobody_the_bar_of_another():
    line = tree()
    for pid in (300, 301, 310, 311):
        line.add(PhaseBegan(at=line.now, labels=tp(pid % 10), pid=pid, phase="weights"))
    for number, pid in ((3, 310), (7, 301)):
        for shard in range(1, number + 1):
            names = (f"/models/target/model-{shard:05}-of-00010.safetensors",)
            line.tree[pid] = replace(line.tree[pid], shards=names)
            line.wait(1).sample()
    line.add(Bar(at=line.now, kind="shards", done=4, total=10))
    views = line.verdict().ranks
    assert [(view.progress, view.source) for view in views] == [
        (None, "none"),
        (0.6, "maps"),
        (0.2, "maps"),
        (None, "none"),
    ]
    assert line.verdict().bar is None
