"""Whose a bar is: it names no rank, and in many layouts several ranks draw one."""

import pytest
from timeline import Timeline, loading, tp

from bringup.core.bars import bar_of
from bringup.core.events import Bar, PhaseBegan, PhaseEnded


def pp(stage: int, rank: int):
    return (("pp", stage), ("tp", rank))


def owners(line: Timeline) -> list[int | None]:
    return [bar.owner for bar in line.state.attempt.bars]


@pytest.mark.parametrize(
    ("layout", "kind", "owner"),
    [
        ({"tp": 8}, "shards", 0),
        ({"tp": 8}, "graphs", 0),
        ({"tp": 4, "pp": 2}, "shards", 0),
        ({"tp": 4, "pp": 2}, "graphs", None),
        ({"tp": 4, "dp": 2}, "shards", None),
        ({"tp": 4, "dp": 2}, "graphs", None),
        ({"tp": 8, "dp": 8, "dp_attention": True}, "shards", 0),
        ({"tp": 8, "dp": 8, "dp_attention": True}, "graphs", 0),
        ({"tp": 8, "ep": 8}, "graphs", 0),
        ({"tp": 16, "nnodes": 2, "node_rank": 0}, "shards", 0),
        ({"tp": 4, "pp": 2, "nnodes": 2, "node_rank": 0}, "graphs", 0),
        ({"tp": 4, "pp": 2, "nnodes": 2, "node_rank": 1}, "graphs", 4),
        ({"tp": 8, "nnodes": 2, "node_rank": 1}, "compile", 4),
        ({"engine": "vllm", "tp": 4, "pp": 2}, "graphs", 0),
        ({"engine": "vllm", "tp": 4, "dp": 2}, "shards", 0),
    ],
)
def test_an_unlabelled_bar_belongs_to_the_one_rank_that_can_have_drawn_it(layout, kind, owner):
    assert owners(Timeline().launch(**layout).bar(1, 9, kind=kind)) == [owner]


def test_a_bar_that_every_rank_draws_is_nobodys():
    assert owners(loading(2).bar(1, 9, everyone=True)) == [None]
    assert owners(loading(1).bar(1, 9, everyone=True)) == [0]


def test_a_label_tells_whose_a_bar_is():
    line = Timeline().launch(engine="vllm", tp=2, dp=2)
    for replica, done in ((0, 3), (1, 5), (0, 4)):
        labels = (("dp", replica), ("tp", 0))
        line.add(Bar(at=line.now, labels=labels, kind="shards", done=done, total=8))
    views = line.verdict().ranks
    assert [(view.rank, view.done) for view in views] == [(0, 4), (1, None), (2, 5), (3, None)]
    bar = bar_of(line.state.attempt, "weights", "target", owner=2)
    assert bar is not None
    assert bar.done == 5


def test_several_bars_in_one_log_never_look_like_one_that_runs_backwards():
    line = Timeline().launch(tp=2, dp=2)
    for replica in range(2):
        line.add(PhaseBegan(at=line.now, labels=(("dp", replica), ("tp", 0)), phase="weights"))
    counts = []
    for done in (1, 1, 2, 4, 3, 5, 4, 8, 5):
        counts.append(line.wait(1).bar(done, 8).state.attempt.bars[0].done)
        verdict = line.verdict()
        assert verdict.bar is None
        assert [view.progress for view in verdict.ranks] == [None] * 4
    assert counts == sorted(counts)


def test_a_step_of_one_of_several_bars_is_work():
    line = Timeline().launch(tp=2, dp=2).bar(5, 8).wait(50).bar(2, 8)
    assert line.state.attempt.bars[0].moved_at == line.now


def test_each_pipeline_stage_captures_in_step_with_its_own_first_rank():
    """The log of the second stage's node: its first rank draws the bar, and says nothing of the first stage."""
    line = Timeline().launch(tp=2, pp=2, nnodes=2, node_rank=1)
    for rank in range(2):
        line.add(PhaseBegan(at=line.now, labels=pp(1, rank), phase="graphs", role="target", part="decode"))
    verdict = line.bar(3, 12, kind="graphs").verdict()
    assert [(view.rank, view.progress, view.source) for view in verdict.ranks] == [(2, 0.25, "log"), (3, 0.25, "peers")]
    assert verdict.ranks[1].note == "captures in step with rank 2"


def test_stages_in_one_log_imply_nothing_of_each_other():
    line = Timeline().launch(tp=2, pp=2)
    for stage in range(2):
        for rank in range(2):
            line.add(PhaseBegan(at=line.now, labels=pp(stage, rank), phase="graphs", role="target", part="decode"))
    assert {view.progress for view in line.bar(3, 12, kind="graphs").verdict().ranks} == {None}


def test_a_load_is_never_implied_by_the_first_rank():
    """vLLM 0.12 and later: the other workers print nothing, and can hang while the first one's bar is full."""
    line = Timeline().launch(engine="vllm", tp=3).begin("weights", [0]).bar(11, 11)
    views = line.verdict().ranks
    assert [(view.progress, view.source) for view in views] == [(0.99, "log"), (None, "none"), (None, "none")]
    assert views[1].note == "prints nothing itself"


def test_a_replica_that_is_done_does_not_fill_the_others():
    line = Timeline().launch(engine="vllm", tp=1, dp=2)
    for replica in range(2):
        line.add(PhaseBegan(at=line.now, labels=(("dp", replica),), phase="weights"))
        line.add(Bar(at=line.now, labels=(("dp", replica),), kind="shards", done=3 + replica, total=4))
    line.add(PhaseEnded(at=line.now, labels=(("dp", 1),), phase="weights"))
    assert [view.progress for view in line.verdict().ranks] == [0.75, 1.0]


@pytest.mark.parametrize(
    ("layout", "names"),
    [
        ({"tp": 2}, ["TP0", "TP1"]),
        ({"tp": 2, "pp": 2}, ["PP0 TP0", "PP0 TP1", "PP1 TP0", "PP1 TP1"]),
        ({"tp": 2, "dp": 2}, ["DP0 TP0", "DP0 TP1", "DP1 TP0", "DP1 TP1"]),
        ({"dp": 2, "pp": 2}, ["DP0 PP0", "DP0 PP1", "DP1 PP0", "DP1 PP1"]),
        ({"tp": 2, "dp": 2, "dp_attention": True}, ["TP0", "TP1"]),
        ({"tp": 4, "nnodes": 2, "node_rank": 1}, ["TP2", "TP3"]),
        ({"tp": 1}, ["rank 0"]),
    ],
)
def test_ranks_that_said_nothing_yet_have_their_names_from_the_layout(layout, names):
    views = Timeline().launch(**layout).verdict().ranks
    shown = [
        " ".join(f"{name.upper()}{number}" for name, number in view.labels) or f"rank {view.rank}" for view in views
    ]
    assert shown == names


def test_a_rank_keeps_the_labels_that_it_prints():
    line = loading(2, ep=2).add(PhaseEnded(at=0.0, labels=(*tp(1), ("ep", 1)), phase="weights"))
    assert [dict(view.labels) for view in line.verdict().ranks] == [{"tp": 0}, {"tp": 1}]
