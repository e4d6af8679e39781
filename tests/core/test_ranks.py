import pytest
from timeline import Timeline, loading, tp

from bringup.core.events import Launch
from bringup.core.ranks import expected_ranks, has_draft, labels_of_title, rank_of, world_size
from bringup.core.reduce import reduce
from bringup.core.state import Attempt, State


def attempt(**more) -> Attempt:
    return reduce(State(), Launch(at=1.0, engine="sglang", **more)).attempt


@pytest.mark.parametrize(
    ("layout", "labels", "rank"),
    [
        ({"tp": 8}, {"tp": 3}, 3),
        ({"tp": 4, "pp": 2}, {"pp": 1, "tp": 2}, 6),
        ({"tp": 4, "pp": 2}, {"pp": 1}, 4),
        ({"tp": 2, "dp": 3}, {"dp": 2, "tp": 1}, 5),
        ({"tp": 2, "dp": 2, "pp": 2}, {"dp": 1, "pp": 1, "tp": 1}, 7),
        ({"dp": 4}, {"dp": 3}, 3),
        ({"tp": 8, "dp": 8, "dp_attention": True}, {"dp": 3, "tp": 3, "ep": 3}, 3),
        ({"tp": 16, "nnodes": 2, "node_rank": 1}, {"tp": 9}, 9),
        ({"tp": 1}, {}, 0),
        ({"tp": 8}, {}, None),
        ({"tp": 8}, {"ep": 4}, None),
        ({"tp": 8}, {"rank": 5}, 5),
        ({"tp": 8}, {"tp": 999_999}, None),
    ],
)
def test_labels_name_one_global_rank(layout, labels, rank):
    assert rank_of(attempt(**layout), tuple(sorted(labels.items()))) == rank


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ({"tp": 8}, range(8)),
        ({"tp": 4, "pp": 2}, range(8)),
        ({"tp": 2, "dp": 3}, range(6)),
        ({"tp": 8, "dp": 8, "dp_attention": True}, range(8)),
        ({"tp": 16, "nnodes": 2, "node_rank": 0}, range(8)),
        ({"tp": 16, "nnodes": 2, "node_rank": 1}, range(8, 16)),
    ],
)
def test_the_layout_says_which_ranks_this_log_should_hold(layout, expected):
    assert expected_ranks(attempt(**layout)) == tuple(expected)


def test_without_arguments_nothing_is_expected():
    assert expected_ranks(Attempt()) is None


def test_two_nodes_in_one_log_are_one_attempt_of_all_ranks():
    line = Timeline().launch(tp=16, nnodes=2, node_rank=0).wait(1).launch(tp=16, nnodes=2, node_rank=1)
    assert line.state.attempt.number == 1
    assert expected_ranks(line.state.attempt) == tuple(range(16))


def test_a_rank_of_another_node_that_is_heard_widens_what_is_expected():
    line = Timeline().launch(tp=16, nnodes=2, node_rank=0).begin("distributed", [3, 12])
    assert expected_ranks(line.state.attempt) == tuple(range(16))


@pytest.mark.parametrize(
    ("title", "labels"),
    [
        ("sglang::scheduler_DP0_TP3_EP3", (("dp", 0), ("ep", 3), ("tp", 3))),
        ("sglang::scheduler_PP1_ATTN_CP0_MOE_DP2_TP4", (("attn_cp", 0), ("moe_dp", 2), ("pp", 1), ("tp", 4))),
        ("sglang::scheduler", ()),
        ("sglang::scheduler_TP1   ", (("tp", 1),)),
        ("VLLM::Worker_TP1", (("tp", 1),)),
        ("sglang::detokenizer", None),
        ("/opt/python /opt/torch/_inductor/compile_worker/__main__.py --workers=32", None),
        ("python my_scheduler_TP3", None),
        ("sglang::scheduler_TP3 --flag", None),
    ],
)
def test_titles_of_rank_processes(title, labels):
    assert labels_of_title(title) == labels


@pytest.mark.parametrize(
    ("arguments", "draft"),
    [
        ({"algorithm": "EAGLE3"}, True),
        ({"algorithm": "NGRAM"}, False),
        ({"algorithm": ""}, False),
        ({"algorithm": "", "draft_model": "/models/draft"}, True),
    ],
)
def test_which_arguments_ask_for_a_draft_model(arguments, draft):
    assert has_draft(attempt(**arguments)) is draft


def test_world_size_is_never_zero():
    assert world_size(Attempt(tp=0)) == 1


def test_a_process_title_ties_a_rank_to_its_process():
    line = loading(2).spawn(2)
    assert [(rank.rank, rank.pid) for rank in line.state.attempt.ranks] == [(0, 101), (1, 102)]


def test_a_single_rank_has_no_label_in_its_title():
    line = Timeline().launch(tp=1).spawn(1, title="sglang::scheduler")
    assert [(rank.rank, rank.pid) for rank in line.state.attempt.ranks] == [(0, 101)]


def test_unlabelled_lines_of_a_large_launch_belong_to_the_main_process():
    line = Timeline().launch(tp=2).begin("download")
    assert not line.state.attempt.ranks
    assert [edge.phase for edge in line.state.attempt.main] == ["download"]


def test_pipeline_stages_print_tp_labels_of_their_own():
    line = Timeline().launch(tp=2, pp=2)
    line.begin("weights", [0])
    assert [rank.labels for rank in line.state.attempt.ranks] == [tp(0)]
