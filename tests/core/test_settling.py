"""Lines that speak for every rank, ranks that are stuck, and what a late line may not change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from timeline import ROOT, Timeline, tp

from bringup.core.events import Bar, PhaseBegan, PhaseEnded, Reached
from bringup.core.state import Attempt


def vllm(ranks: int = 4, **more: object) -> Timeline:
    return Timeline().found(engine="vllm").launch(engine="vllm", tp=ranks, **more)


def edges(attempt: Attempt, rank: int) -> dict[str, bool]:
    (known,) = [known for known in attempt.ranks if known.rank == rank]
    return {f"{edge.phase} {edge.role}": edge.ended is not None for edge in known.edges}


def test_what_the_first_rank_goes_on_to_proves_that_all_have_loaded() -> None:
    line = vllm().begin("weights", range(4)).wait(9)
    line.add(PhaseEnded(at=line.now, labels=tp(0), phase="weights"))
    assert edges(line.state.attempt, 3) == {"weights target": False}
    line.add(PhaseBegan(at=line.now, labels=tp(0), phase="compile", everyone=True))
    assert edges(line.state.attempt, 3) == {"weights target": True}
    assert edges(line.state.attempt, 0) == {"weights target": True, "compile target": False}
    assert dict(line.verdict().ranks_done)["weights"] == (0, 1, 2, 3)


def test_ranks_that_print_nothing_are_not_called_late() -> None:
    line = vllm().begin("distributed", range(4)).wait(3)
    line.add(PhaseEnded(at=line.now, labels=tp(0), phase="distributed", everyone=True)).begin("weights", [0]).wait(20)
    line.end("weights", [0]).wait(400)
    line.add(PhaseBegan(at=line.now, labels=tp(0), phase="compile", everyone=True)).bytes().wait(60).bytes()
    verdict = line.verdict()
    assert (verdict.state, verdict.phase) == ("starting", "compile")
    assert not any(view.straggler for view in verdict.ranks)


def test_a_late_line_opens_nothing_that_is_proven_to_be_over() -> None:
    line = vllm().begin("weights", [0, 1]).wait(5)
    line.add(PhaseEnded(at=line.now, phase="kv-cache", everyone=True)).begin("weights", [2])
    assert edges(line.state.attempt, 2)["weights target"]


def test_one_replicas_engine_core_says_nothing_of_the_others() -> None:
    line = Timeline().found(engine="vllm").launch(engine="vllm", tp=1, dp=2)
    for replica in (0, 1):
        line.add(PhaseBegan(at=line.now, labels=(("enginecore", replica),), phase="weights"))
    line.add(PhaseEnded(at=line.now, labels=(("enginecore", 0),), phase="kv-cache", everyone=True))
    assert edges(line.state.attempt, 0)["weights target"]
    assert not edges(line.state.attempt, 1)["weights target"]


def test_a_draft_is_loaded_too_when_the_cache_is_sized() -> None:
    line = vllm(2, draft_model="/models/draft").begin("weights", [0, 1])
    line.add(PhaseEnded(at=line.now, phase="kv-cache", everyone=True))
    assert edges(line.state.attempt, 1)["weights draft"]


def test_with_the_engine_up_every_rank_has_gone_through_all_phases() -> None:
    line = vllm(2).begin("weights", [0, 1]).begin("graphs", [0])
    line.add(Bar(at=line.now, kind="graphs", done=4, total=4))
    line.add(Reached(at=line.now, milestone="scheduler-up", everyone=True))
    assert edges(line.state.attempt, 1) == {"weights target": True, "graphs target": True}


@pytest.mark.parametrize(("state", "stalled"), [("D", True), ("S", False)])
def test_a_rank_that_waits_for_storage_while_its_peers_went_on_is_stuck(state: str, stalled: bool) -> None:
    line = vllm(2).spawn(2, "VLLM::Worker_TP{}").sample().begin("weights", [0, 1])
    for _ in range(30):
        first = line.tree[ROOT + 1]
        line.tree[ROOT + 1] = replace(first, minflt=first.minflt + 1000)
        line.tree[ROOT + 2] = replace(line.tree[ROOT + 2], state=state)
        line.wait(2).sample()
    verdict = line.verdict()
    assert (verdict.state == "stalled") is stalled
    assert verdict.failed_ranks == ((1,) if stalled else ())
    assert ("TP1" in verdict.summary) is stalled
