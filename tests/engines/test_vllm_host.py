"""vLLM on a host: what its processes are called and what its command line sets."""

from __future__ import annotations

import pytest

from bringup.core.ranks import labels_of_title, rank_of
from bringup.core.state import Attempt
from bringup.engines import load_engines

(VLLM,) = [engine for engine in load_engines() if engine.name == "vllm"]


@pytest.mark.parametrize(
    ("title", "part"),
    [
        ("VLLM::EngineCore", "controller"),
        ("VLLM::EngineCore_DP1", "controller"),
        ("VLLM::Worker", "scheduler"),
        ("VLLM::Worker_TP1", "scheduler"),
        ("VLLM::APIServer_0", "controller"),
        ("VLLM::DPCoordinator", "controller"),
        ("/v/bin/python3 /v/bin/vllm serve /models/m --port 8100", "launcher"),
        ("vllm serve /models/m", "launcher"),
        ("python -m vllm.entrypoints.openai.api_server --model /m", "launcher"),
        ("python3 -B -c from multiprocessing.spawn import spawn_main; spawn_main() --multiprocessing-fork", "child"),
        ("python3 -m vllm_router.app --port 8000", None),
        ("grep vllm serve", None),
        ("tail -f vllm.log", None),
        ("bash -c vllm serve /m", None),
    ],
)
def test_processes_are_known_by_their_titles(title: str, part: str | None) -> None:
    found = VLLM.titles.classify(title)
    assert (found[0] if found else None) == part


@pytest.mark.parametrize(
    ("title", "attempt", "rank"),
    [
        ("VLLM::Worker_TP1", Attempt(tp=2, launched=True), 1),
        ("VLLM::Worker_DP1_PP0_TP1_EP3", Attempt(tp=2, dp=2, launched=True), 3),
        ("VLLM::Worker", Attempt(tp=2, launched=True), None),
        ("VLLM::EngineCore", Attempt(tp=2, launched=True), None),
        ("VLLM::EngineCore", Attempt(tp=1, launched=True), 0),
        ("VLLM::EngineCore_DP1", Attempt(tp=1, dp=2, launched=True), 1),
        ("VLLM::EngineCore_DP1", Attempt(tp=2, dp=2, launched=True), None),
        ("VLLM::EngineCore_TP1", Attempt(tp=2, launched=True), 1),
    ],
)
def test_which_process_is_which_rank(title: str, attempt: Attempt, rank: int | None) -> None:
    labels = labels_of_title(title)
    assert labels is not None
    assert rank_of(attempt, labels) == rank


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("serve /m --tensor-parallel-size 2 --port=8100", {"model": "/m", "tp": 2, "port": 8100}),
        ("--model /m -tp 4 -pp 2 -dp 2", {"model": "/m", "tp": 4, "pp": 2, "dp": 2}),
        (
            "serve /m --api-server-count 2 --nnodes 2 --node-rank 1",
            {"model": "/m", "servers": 2, "nnodes": 2, "node_rank": 1},
        ),
        ("serve /m --speculative-config.model /d", {"model": "/m", "draft_model": "/d"}),
    ],
)
def test_flags(flags: str, expected: dict[str, object]) -> None:
    assert VLLM.read_command(["vllm", *flags.split()]) == expected


@pytest.mark.parametrize("equals", [True, False])
def test_a_mapping_as_the_value_of_a_flag(equals: bool) -> None:
    value = '{"method": "eagle3", "model": "/d", "num_speculative_tokens": 3}'
    words = [f"--speculative-config={value}"] if equals else ["--speculative-config", value]
    assert VLLM.read_command(["vllm", "serve", "/m", *words]) == {
        "model": "/m",
        "draft_model": "/d",
        "algorithm": "eagle3",
    }
