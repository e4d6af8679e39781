"""Who is which rank, and which model: parallel layouts, nodes, orders of the draft, vLLM's own ways."""

from __future__ import annotations

from typing import Any

import pytest
from story import Story, loading
from timeline import START
from vllmgen import vllm_records

from bringup.core.events import Labels, PhaseBegan, PhaseEnded


def edges(story: Story, kind: type[PhaseBegan | PhaseEnded], labels: list[Labels], **more: Any) -> Story:
    return story.add(*(kind(at=story.now, phase="weights", labels=each, **more) for each in labels))


def dp_tp(dp: int, tp: int) -> list[Labels]:
    return [(("dp", d), ("tp", t)) for d in range(dp) for t in range(tp)]


def test_replicas_of_data_parallelism_are_ranks_of_their_own() -> None:
    story = Story(engine="").launch(tp=2, dp=2).wait(20)
    edges(story, PhaseBegan, dp_tp(2, 2)).bar(3, 8).wait(5)
    verdict = story.expect("starting", ranks_expected=4, phase="weights")
    # Both replicas draw a bar, and none says whose it is.
    assert [view.source for view in verdict.ranks] == ["none"] * 4
    edges(story, PhaseEnded, dp_tp(1, 2)).wait(5)
    story.expect("starting", done={"weights": (0, 1)}, phase="weights")
    edges(story, PhaseEnded, dp_tp(2, 2)[2:]).wait(1)
    story.expect("starting", done={"weights": (0, 1, 2, 3)})


def test_with_attention_in_parallel_the_tensor_rank_counts_all() -> None:
    story = Story(engine="").launch(tp=4, dp=2, dp_attention=True).wait(20)
    ranks: list[Labels] = [(("dp", t // 2), ("tp", t)) for t in range(4)]
    edges(story, PhaseBegan, ranks).bar(3, 8).wait(5)
    verdict = story.expect("starting", ranks_expected=4)
    assert (verdict.ranks[0].source, verdict.ranks[0].progress) == ("log", 3 / 8)
    edges(story, PhaseEnded, ranks[:3]).wait(5)
    story.expect("starting", done={"weights": (0, 1, 2)})


def test_stages_of_a_pipeline_are_counted_through() -> None:
    story = Story(engine="").launch(tp=2, pp=2).wait(20)
    ranks: list[Labels] = [(("pp", p), ("tp", t)) for p in range(2) for t in range(2)]
    edges(story, PhaseBegan, ranks).wait(5)
    edges(story, PhaseEnded, ranks[2:]).wait(5)
    verdict = story.expect("starting", ranks_expected=4, done={"weights": (2, 3)})
    assert [view.rank for view in verdict.ranks if view.progress == 1.0] == [2, 3]


def test_experts_in_parallel_add_no_ranks() -> None:
    story = Story(engine="").launch(tp=4, ep=4).wait(20)
    ranks: list[Labels] = [(("ep", t), ("tp", t)) for t in range(4)]
    edges(story, PhaseBegan, ranks)
    edges(story, PhaseEnded, ranks[1:]).wait(2)
    story.expect("starting", ranks_expected=4, done={"weights": (1, 2, 3)})


def test_a_worker_node_that_is_up_stands_by_and_is_never_ready() -> None:
    everyone = range(4, 8)
    story = Story().launch(tp=8, nnodes=2, node_rank=1).wait(20).begin("distributed", everyone).wait(9)
    story.end("distributed", everyone, seconds=9.0).begin("weights", everyone).wait(60)
    story.expect("starting", ranks_expected=4, phase="weights")
    story.end("weights", everyone, seconds=60.0).end("kv-cache", everyone).wait(2)
    story.begin("graphs", everyone, role="target", part="decode").wait(9)
    story.end("graphs", everyone, role="target", part="decode").reached("node-up")
    story.expect("standby", words="head node")
    story.wait(7200)
    story.expect("standby")


def test_a_head_node_counts_its_own_ranks() -> None:
    story = Story().launch(tp=8, nnodes=2, node_rank=0).wait(20).begin("weights", range(4)).wait(9)
    story.end("weights", [1, 2, 3])
    verdict = story.expect("starting", ranks_expected=4, done={"weights": (1, 2, 3)})
    assert [view.rank for view in verdict.ranks] == [0, 1, 2, 3]


# --- target and draft ---------------------------------------------------------------------------------------


def test_draft_after_target_before_the_captures() -> None:
    """SGLang from 0.5.14 on."""
    story = loading(2, algorithm="EAGLE3").working([0, 1]).bar(24, 24).wait(30)
    story.expect("starting", role="target", phase="weights")
    story.end("weights", [0]).wait(5)
    story.expect("starting", role="target", phase="weights", done={"weights": (0,)})
    story.end("weights", [1]).begin("weights", [0, 1]).bar(0, 1).wait(5)
    story.expect("starting", role="draft", phase="weights", bar=(0, 1), done={"weights": ()})
    story.bar(1, 1).wait(1)
    story.expect("starting", role="draft", phase="weights", done={"weights": ()})
    story.end("weights", [0, 1]).end("kv-cache", [0, 1]).wait(1)
    story.begin("graphs", [0, 1], role="target", part="verify").bar(2, 8, kind="graphs").wait(5)
    story.expect("starting", role="target", phase="graphs", bar=(2, 8))
    story.end("graphs", [0, 1], role="target", part="verify").begin("graphs", [0], role="draft", part="decode").wait(5)
    story.expect("starting", role="draft", phase="graphs")


def test_draft_after_the_captures_of_the_target() -> None:
    """SGLang to 0.5.13."""
    story = loading(2, algorithm="EAGLE").working([0, 1]).wait(30).end("weights", [0, 1])
    story.end("kv-cache", [0, 1]).begin("graphs", [0, 1], role="target", part="decode").wait(9)
    story.expect("starting", role="target", phase="graphs")
    story.end("graphs", [0, 1], role="target", part="decode").wait(1)
    story.begin("weights", [0, 1]).bar(0, 1).wait(5)
    story.expect("starting", role="draft", phase="weights", done={"weights": ()})
    story.end("weights", [1]).wait(2)
    story.expect("starting", role="draft", phase="weights", done={"weights": (1,)})


def test_a_second_load_without_a_draft_is_the_same_model_again() -> None:
    story = loading(2).working([0, 1]).wait(10).end("weights", [0, 1]).wait(1)
    story.end("weights", [0, 1], again=True).wait(1)
    story.expect("starting", "slow", role=None, done={"weights": (0, 1)})


# --- vLLM ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.8.5", "0.10.2", "0.16.0", "0.24.0", "0.32.0"])
@pytest.mark.parametrize("draft", [False, True])
def test_vllm_becomes_ready_and_not_a_line_before(version: str, draft: bool) -> None:
    story = Story(engine="vllm")
    seen = []
    records = vllm_records(version, tp=2, draft=draft)
    last = next(index for index, (_, data) in enumerate(records) if b"Application startup complete" in data)
    for index, (_, data) in enumerate(records):
        story.t += 1.0
        if index == last:
            story.serves = True
            story.said |= {"ready"}
        story.raw(data.decode())
        seen.append(story.look())
    story.expect("ready", engine="vllm", ranks_expected=2)
    order = [phase for index, phase in enumerate(v.phase for v in seen) if index == 0 or phase != seen[index - 1].phase]
    assert order == sorted(order, key=order.index), "a phase came twice"
    assert order[-1] == "serving"
    assert all(verdict.now >= START for verdict in seen)


def test_vllms_killed_worker_is_named_before_its_launcher_gives_up() -> None:
    story = Story(engine="vllm").found(engine="vllm", tp=2).spawn(2, title="VLLM::Worker_TP{}").wait(20)
    story.launch(engine="vllm", tp=2).begin("weights", range(2)).working([0, 1]).wait(20).kill(1)
    story.expect("failed", within=2, cause="killed", failed_ranks=(1,))
