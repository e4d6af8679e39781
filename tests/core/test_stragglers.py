"""Who is behind: by files, by memory, by the time of the peers, by a line that never came; and who is not."""

from dataclasses import replace

import pytest
from timeline import ROOT, Timeline, loading, tp

from bringup.core.events import PhaseBegan, PhaseEnded, Process


def late(line: Timeline, after: float = 0.0) -> list[int]:
    return [view.rank for view in line.verdict(after).ranks if view.straggler]


def at_shards(line: Timeline, *numbers: int, of: int = 40) -> Timeline:
    """Let each rank read one file after the other, up to its number."""
    for step in range(1, max(numbers) + 1):
        line.wait(1)
        for rank, number in enumerate(numbers):
            line.map(rank, min(step, number), of=of)
        line.sample()
    return line


@pytest.mark.parametrize(
    ("numbers", "behind"),
    [
        ((20, 20, 12, 20), [2]),
        ((20, 20, 17, 20), []),
        ((20, 12, 12, 20, 20, 20), [1, 2]),
        ((20, 12), []),
        ((9, 20, 20, 20), [0]),
        ((20, 20, 20, 20), []),
    ],
)
def test_a_rank_is_behind_by_what_its_maps_show(numbers, behind):
    assert late(at_shards(loading(len(numbers)).spawn(len(numbers)), *numbers)) == behind


def test_read_ahead_in_bursts_is_nobody_behind():
    """All have opened the same files; that one has put away fewer of them is the loader's way."""
    line = at_shards(loading(4).spawn(4), 20, 20, 20, 20)
    for rank in range(3):
        line.map(rank, *range(28, 30), of=40)
    line.map(3, *range(20, 30), of=40)
    assert late(line.wait(1).sample()) == []


def test_those_who_are_through_count_once_they_are_through_for_a_moment():
    line = at_shards(loading(4).spawn(4), 40, 40, 25, 40).end("weights", [0, 1, 3], seconds=40.0)
    assert late(line, after=1) == []
    assert late(line, after=6) == [2]


def test_the_last_one_by_a_few_files_is_not_behind():
    line = at_shards(loading(4).spawn(4), 40, 40, 38, 40).end("weights", [0, 1, 3], seconds=40.0)
    assert late(line, after=6) == []


def test_a_rank_that_takes_far_longer_than_its_peers_took():
    line = loading(4).wait(30).end("weights", [0, 1, 2], seconds=30.0)
    assert late(line, after=25) == []
    assert late(line, after=45) == [3]


def test_a_rank_that_never_begins_what_the_others_began():
    line = Timeline().launch(tp=4).wait(20).begin("distributed", [0, 1, 3])
    assert late(line, after=20) == []
    assert late(line, after=40) == [2]
    assert line.verdict(40).state == "slow"
    assert "TP2" in line.verdict(40).summary


def test_the_first_to_begin_makes_nobody_late():
    assert late(Timeline().launch(tp=4).wait(20).begin("distributed", [1]), after=100) == []


def test_ranks_of_another_node_are_not_waited_for():
    line = Timeline().launch(tp=8, nnodes=2, node_rank=1).wait(20).begin("distributed", range(4, 8))
    assert late(line, after=100) == []
    line = Timeline().launch(tp=8, nnodes=2, node_rank=1).wait(20).begin("distributed", [4, 5, 7])
    assert late(line, after=100) == [6]


def test_what_only_the_first_rank_prints_makes_nobody_late():
    line = loading(4, algorithm="EAGLE3").wait(30).end("weights", range(4), seconds=30.0)
    line.begin("graphs", [0], role="draft", part="decode")
    assert late(line, after=100) == []


def test_a_worker_that_prints_nothing_is_behind_by_its_maps():
    """vLLM 0.12 and later: the bar of the first one is far ahead, and one of the silent ones is not."""
    line = Timeline().launch(engine="vllm", tp=4).spawn(4, title="VLLM::Worker_TP{}").begin("weights", [0])
    assert late(at_shards(line, 30, 30, 30, 12)) == [3]


def test_a_replica_that_is_behind_is_named_by_its_own_name():
    line = Timeline().launch(engine="vllm", tp=2, dp=2).spawn(0)
    for replica in range(2):
        core = Process(pid=200 + replica, ppid=ROOT, start=2, title=f"VLLM::EngineCore_DP{replica}")
        line.tree[core.pid] = core
        for worker in range(2):
            pid = 300 + 10 * replica + worker
            line.tree[pid] = Process(pid=pid, ppid=core.pid, start=3, title=f"VLLM::Worker_TP{worker}", state="R")
            line.add(PhaseBegan(at=line.now, labels=tp(worker), pid=pid, phase="weights"))
    for shard in range(1, 31):
        line.wait(1)
        for pid in (300, 301, 310, 311):
            name = f"/models/target/model-{min(shard, 10 if pid == 311 else 30):05}-of-00040.safetensors"
            line.tree[pid] = replace(line.tree[pid], shards=(name,))
        line.sample()
    assert late(line) == [3]
    assert "DP1 TP1" in line.verdict().summary


def test_pipeline_stages_that_hold_fewer_layers_are_measured_like_all_others():
    """Every stage walks through every file, whatever it keeps of it."""
    line = Timeline().launch(tp=2, pp=2)
    for stage in range(2):
        for worker in range(2):
            pid = ROOT + 1 + 2 * stage + worker
            title = f"sglang::scheduler_PP{stage}_TP{worker}"
            line.tree[pid] = Process(pid=pid, ppid=ROOT, start=2, title=title, state="R")
            line.add(PhaseBegan(at=line.now, labels=(("pp", stage), ("tp", worker)), phase="weights"))
    line.tree[ROOT] = Process(pid=ROOT, ppid=1, start=1, title="python -m sglang.launch_server")
    assert late(at_shards(line.sample(), 30, 30, 30, 10)) == [3]
    assert "PP1 TP1" in line.verdict().summary


def test_who_waits_says_for_whom():
    line = loading(4).wait(30).end("weights", [0, 1, 2], seconds=30.0)
    notes = [view.note for view in line.verdict(5).ranks]
    assert notes == ["done in 30.0 s, waits for TP3"] * 3 + ["begun"]


def test_nobody_is_behind_in_what_all_have_ended():
    line = at_shards(loading(4).spawn(4), 40, 40, 25, 40).end("weights", range(4), seconds=40.0)
    line.add(PhaseEnded(at=line.now, labels=tp(0), phase="kv-cache"))
    assert late(line, after=6) == []
