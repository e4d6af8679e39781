from __future__ import annotations

import shlex

import pytest

from bringup.core.decode import Decoder
from bringup.core.events import (
    Bar,
    Compiling,
    Ending,
    Event,
    Fact,
    Fault,
    LinesRead,
    PhaseBegan,
    PhaseEnded,
    Reached,
    Warned,
)
from bringup.engines import load_engines, load_wrappers

ENGINES, WRAPPERS = load_engines(), load_wrappers()
SGLANG = next(engine for engine in ENGINES if engine.name == "sglang")


def event_of(line: str) -> Event:
    """Return the one event of a line with a header."""
    decoder = Decoder(ENGINES, WRAPPERS, engine="sglang")
    (event,) = [e for e in decoder.feed(f"{line}\n".encode(), 0.0) if not isinstance(e, LinesRead)]
    return event


@pytest.mark.parametrize(
    ("header", "labels"),
    [
        ("[2026-03-02 09:14:29]", ()),
        ("[2026-03-02 09:14:29 TP3]", (("tp", 3),)),
        ("[2025-03-02 09:14:29 DP1 TP3]", (("dp", 1), ("tp", 3))),
        ("[2025-06-02 09:14:29 DP1 TP3 PP0]", (("dp", 1), ("pp", 0), ("tp", 3))),
        ("[2025-09-02 09:14:29 DP1 TP3 EP2 PP0]", (("dp", 1), ("ep", 2), ("pp", 0), ("tp", 3))),
        ("[2025-12-02 09:14:29 DP1 PP0 TP3 EP2]", (("dp", 1), ("ep", 2), ("pp", 0), ("tp", 3))),
        (
            "[2026-03-02 09:14:29.250 DP1 PP0 ATTN_CP0 MOE_DP4 TP3 EP2]",
            (("attn_cp", 0), ("dp", 1), ("ep", 2), ("moe_dp", 4), ("pp", 0), ("tp", 3)),
        ),
        ("[21:47:03 TP7]", (("tp", 7),)),
    ],
)
def test_the_groups_of_a_header_are_read_in_any_order(header: str, labels: tuple[tuple[str, int], ...]) -> None:
    event = event_of(f"{header} Load weight begin. avail mem=25.63 GB")
    assert isinstance(event, PhaseBegan)
    assert (event.phase, event.labels) == ("weights", labels)


@pytest.mark.parametrize(
    ("message", "kind", "role", "part"),
    [
        ("Capture cuda graph begin. This can take up to several minutes.", PhaseBegan, None, "decode"),
        ("Capture npu graph end. Time elapsed: 30.67 s. mem usage=8.77 GB.", PhaseEnded, None, "decode"),
        ("Capture piecewise CUDA graph begin. avail mem=1.00 GB", PhaseBegan, None, "prefill"),
        ("Capture target prefill CUDA graph begin. backend=breakable, num_tokens=[4]", PhaseBegan, "target", "prefill"),
        ("Capture target verify CUDA graph end. elapsed=17.21 s, mem usage=1.02 GB", PhaseEnded, "target", "verify"),
        ("Capture target decode CPU graph begin. backend=full, num_tokens_per_bs=1", PhaseBegan, "target", "decode"),
        ("Capture draft cuda graph begin. This can take up to several minutes.", PhaseBegan, "draft", "decode"),
        ("Capture draft extend cuda graph end. Time elapsed: 5.70 s.", PhaseEnded, "draft", "extend"),
        ("Capture draft extend CUDA graph begin. step=1, backend=full", PhaseBegan, "draft", "extend"),
        ("Capture Frozen-KV MTP draft cuda graph begin.", PhaseBegan, "draft", "decode"),
    ],
)
def test_captures_of_all_versions(message: str, kind: type[Event], role: str | None, part: str) -> None:
    event = event_of(f"[2026-03-02 09:14:29 TP1] {message}")
    assert isinstance(event, PhaseBegan | PhaseEnded)
    assert (type(event), event.phase, event.role, event.part) == (kind, "graphs", role, part)


def test_a_second_commit_of_weights_is_no_second_model() -> None:
    event = event_of(
        "[2026-03-02 09:14:29 TP1] Load weight end. Committed real weights after CUDA graph capture in 12.41 s"
    )
    assert isinstance(event, PhaseEnded)
    assert (event.again, event.seconds) == (True, 12.41)


@pytest.mark.parametrize(
    ("line", "kind", "secondary"),
    [
        ("Watchdog timeout (self.watchdog_timeout=300)", "watchdog", False),
        ("Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)", "watchdog", False),
        (
            "Subprocess scheduler_1 (pid=7) crashed with exit code -9. Triggering SIGQUIT for cleanup...",
            "killed",
            False,
        ),
        ("Subprocess detokenizer (pid=7) crashed with exit code -15. Triggering SIGQUIT", "killed", True),
        ("Subprocess scheduler_1 (pid=7) crashed with exit code 0. Triggering SIGQUIT", "unknown", True),
        ("Subprocess scheduler_1 (pid=7) crashed with exit code -11. Triggering SIGQUIT", "unknown", False),
        ("Rank 0 scheduler is dead. Please check if there are relevant logs.", "killed", True),
        ("Exit code: -9", "killed", False),
        ("Exit code: -3", "unknown", True),
        ("host:1:1 [2] misc/socket.cc:578 NCCL WARN connect to 10.0.0.2<5> returned Connection refused", "nccl", False),
        ("ERROR:    Application startup failed. Exiting.", "unknown", True),
    ],
)
def test_faults_with_a_header(line: str, kind: str, secondary: bool) -> None:
    event = event_of(f"[2026-03-02 09:14:29] {line}")
    assert isinstance(event, Fault)
    assert (event.kind, event.secondary, event.text) == (kind, secondary, line)


def test_a_bind_error_vetoes_ready() -> None:
    event = event_of(
        "[2026-03-02 09:14:29] ERROR:    [Errno 98] error while attempting to bind on address ('::', 1): in use"
    )
    assert isinstance(event, Fault)
    assert (event.kind, event.vetoes_ready) == ("port-in-use", True)


def test_the_rank_that_missed_the_barrier_is_named_by_torch_alone() -> None:
    event = event_of(
        "[rank0]:[E1129 12:35:01.582798180 ProcessGroupGloo.cpp:68] "
        "[Rank 0]: Ranks 2 failed to pass monitoredBarrier in 480000 ms"
    )
    assert isinstance(event, Fault)
    assert (event.kind, event.labels) == ("timeout", (("rank", 2),))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("SIGTERM received. signum=None frame=None. Draining requests and shutting down...", ("sigterm", None)),
        (
            "Gracefully exiting... Remaining number of requests 3. Remaining requests remaining_rids=[].",
            ("draining", 3),
        ),
        ("Received sigquit from a child proces. It usually means the child failed.", ("child-failed", None)),
        ("SIGQUIT received. signum=None, frame=None. It usually means one child failed.", ("child-failed", None)),
        ("kill_process_tree called: parent_pid=1, include_parent=True, pid=1", ("tree-killed", None)),
        ("INFO:     Shutting down", ("shutdown", None)),
    ],
)
def test_endings(line: str, expected: tuple[str, int | None]) -> None:
    event = event_of(f"[2026-03-02 09:14:29] {line}")
    assert isinstance(event, Ending)
    assert (event.how, event.remaining) == expected
    assert event.text == line


def test_lines_that_explain_a_silence() -> None:
    head = "[2026-03-02 09:14:29 TP0] "
    began = event_of(head + "Entering DeepGEMM JIT Pre-Compile session. It may take a long time")
    assert isinstance(began, Compiling)
    assert (began.what, began.ended) == ("DeepGEMM", False)
    ended = event_of(head + "FlashInfer autotune completed.")
    assert isinstance(ended, Compiling)
    assert ended.ended
    bar = event_of("DeepGEMM warmup:   5%|▍         | 769/16384 [00:41<12:55, 20.14it/s]")
    assert isinstance(bar, Bar)
    assert (bar.kind, bar.done, bar.total) == ("compile", 769, 16384)
    suspect = event_of("[Gloo] Rank 8 is NOT connected to: [1]")
    assert isinstance(suspect, Fact)
    assert (suspect.name, suspect.value) == ("suspect", "[Gloo] Rank 8 is NOT connected to: [1]")


def test_warnings_and_milestones() -> None:
    unmatched = event_of("[2026-03-02 09:14:29 TP0] Parameter model.layers.0.x not found in params_dict")
    assert isinstance(unmatched, Warned)
    assert (unmatched.kind, unmatched.detail) == ("unmatched-weights", "model.layers.0.x")
    node = event_of("[2026-03-02 09:14:29] Dummy health check server started in background thread at 10.0.0.2:1")
    assert isinstance(node, Reached)
    assert node.milestone == "node-up"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("sglang::scheduler", ("scheduler", ())),
        ("sglang::scheduler_DP0_PP1_TP3_EP3   ", ("scheduler", (("dp", 0), ("ep", 3), ("pp", 1), ("tp", 3)))),
        ("sglang::scheduler_MOE_DP1_TP3", ("scheduler", (("moe_dp", 1), ("tp", 3)))),
        ("sglang::detokenizer", ("detokenizer", ())),
        ("sglang::data_parallel_controller", ("controller", ())),
        ("python3 -m sglang.launch_server --model-path /m", ("launcher", ())),
        ("/v/bin/python3.12 -u -X dev -m sglang.launch_server --model-path /m", ("launcher", ())),
        ("python /src/python/sglang/launch_server.py --model /m", ("launcher", ())),
        ("/v/bin/python /v/bin/sglang serve --model-path /m", ("launcher", ())),
        ("sglang serve /m", ("launcher", ())),
        ("python3 -c from multiprocessing.spawn import spawn_main; spawn_main() --multiprocessing-fork", ("child", ())),
        ("python3 -B -c from multiprocessing.resource_tracker import main;main(3)", ("tracker", ())),
        ("python3 -m sglang_router.launch_router --port 1", ("router", ())),
        ("bash -c python3 -m sglang.launch_server --model-path /m", None),
        ("grep sglang.launch_server", None),
        ("vim sglang/launch_server.py", None),
        ("tail -f sglang::scheduler", None),
        ("python train.py", None),
    ],
)
def test_processes_are_known_by_their_titles(title: str, expected: object) -> None:
    assert SGLANG.titles.classify(title) == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--model-path /m --tp 8", {"model": "/m", "tp": 8}),
        ("--model /m --tp-size=8 --pp-size 2 --dp 4", {"model": "/m", "tp": 8, "pp": 2, "dp": 4}),
        (
            "--tensor-parallel-size 8 --data-parallel-size=2 --enable-dp-attention",
            {"tp": 8, "dp": 2, "dp_attention": True},
        ),
        ("--pipeline-parallel-size 2 --expert-parallel-size 8 --port 31000", {"pp": 2, "ep": 8, "port": 31000}),
        (
            "--speculative-algorithm EAGLE3 --speculative-draft-model-path /d --nnodes 2 --node-rank 1 --host 0.0.0.0",
            {"algorithm": "EAGLE3", "draft_model": "/d", "nnodes": 2, "node_rank": 1, "host": "0.0.0.0"},
        ),
        (
            "--speculative-algo NGRAM --speculative-draft-model /d --ep 4 --pp 1",
            {"algorithm": "NGRAM", "draft_model": "/d", "ep": 4, "pp": 1},
        ),
        ("--tp 2 --tp 4", {"tp": 4}),
        ("--tp", {}),
        ("--trust-remote-code", {}),
    ],
)
def test_a_command_line_tells_the_launch(flags: str, expected: dict[str, object]) -> None:
    assert SGLANG.read_command(["python3", "-m", "sglang.launch_server", *shlex.split(flags)]) == expected
