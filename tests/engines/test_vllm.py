"""vLLM's logs of all versions, whole: what is said of each at each stage."""

from __future__ import annotations

import pytest
from explaining import explained
from vllmgen import FOLLOW, KV, OOM, STAGES, VERSIONS, vllm_log, vllm_records

EVERYONE = ("distributed", "weights", "kv-cache")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("tp", [1, 2])
@pytest.mark.parametrize("draft", [False, True])
def test_a_whole_start_is_ready(version: str, tp: int, draft: bool) -> None:
    verdict = explained(vllm_log(version, tp=tp, draft=draft))
    assert (verdict.state, verdict.phase, verdict.engine, verdict.version) == ("ready", "serving", "vllm", version)
    assert (verdict.attempt, verdict.ranks_expected, verdict.port, verdict.model) == (1, tp, 8100, "/models/m")
    done = dict(verdict.ranks_done)
    assert [done.get(phase) for phase in EVERYONE] == [tuple(range(tp))] * len(EVERYONE)
    assert (verdict.draft_model, verdict.failed_ranks, verdict.cause) == ("/models/d" if draft else None, (), None)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("tp", [1, 4])
@pytest.mark.parametrize("until", STAGES[:-1])
def test_every_stage_is_told_where_it_is(version: str, tp: int, until: str) -> None:
    verdict = explained(vllm_log(version, tp=tp, until=until))
    expected = {"graphs": {"warmup"}, "http": {"warmup"}}.get(until, {until})
    assert (verdict.state, {verdict.phase} <= expected) == ("starting", True), verdict.summary
    assert not any(view.straggler for view in verdict.ranks)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_first_error_of_a_worker_is_the_cause(version: str) -> None:
    verdict = explained(vllm_log(version, failure="oom"))
    assert (verdict.state, verdict.phase, verdict.failed_ranks) == ("failed", "weights", (1,))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.line, verdict.cause.secondary) == ("oom", OOM, False)
    assert "--tensor-parallel-size" in verdict.cause.advice


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("tp", [1, 2])
def test_without_an_error_of_a_worker_the_engine_cores_is_the_cause(version: str, tp: int) -> None:
    verdict = explained(vllm_log(version, tp=tp, failure="kv"))
    assert (verdict.state, verdict.phase) == ("failed", "kv-cache")
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.line, verdict.cause.secondary) == ("kv-too-small", KV, False)
    assert "raise --gpu-memory-utilization" in verdict.cause.advice


@pytest.mark.parametrize("version", VERSIONS)
def test_only_follow_on_lines_mean_that_a_process_was_killed(version: str) -> None:
    verdict = explained(vllm_log(version, failure="killed"))
    assert verdict.state == "failed"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.secondary) == ("killed", True)
    assert FOLLOW in verdict.cause.line
    assert "dmesg" in verdict.cause.advice


def test_a_restart_loop_is_about_the_last_start() -> None:
    verdict = explained(vllm_log("0.18.1", failure="oom") + vllm_log("0.18.1", until="weights"))
    assert (verdict.state, verdict.phase, verdict.attempt, verdict.cause) == ("starting", "weights", 2, None)


def test_two_names_before_one_line_give_the_next_line_to_the_other() -> None:
    records = vllm_records("0.16.0", until="weights")
    text = b"INFO 03-02 09:15:01 [cpu_model_runner.py:68] Warming up model for the compilation...\n"
    glued = b"(Worker_TP1 pid=201) (Worker_TP0 pid=200) " + text + text
    verdict = explained(b"".join(data for _, data in records) + glued)
    assert verdict.phase == "compile"
    assert [view.phase for view in verdict.ranks] == ["compile", "compile"]


def test_ready_waits_for_as_many_http_servers_as_were_asked_for() -> None:
    log = vllm_log("0.24.0").replace(b"'port': 8100", b"'port': 8100, 'api_server_count': 2")
    assert explained(log).state == "starting"
    assert explained(log + b"(ApiServer_1 pid=103) INFO:     Application startup complete.\n").state == "ready"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Shutting down FastAPI HTTP server.", "stopped"),
        ("[shutdown] API server: shutdown triggered", "stopped"),
        ("Worker proc VllmWorker-1 died unexpectedly (exit code: None), shutting down executor.", "failed"),
        ("Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.", "failed"),
        ("No available shared memory broadcast block found in 60 seconds.", "ready"),
    ],
)
def test_what_ends_a_server_that_serves(text: str, state: str) -> None:
    log = vllm_log("0.18.1") + f"(APIServer pid=101) INFO 03-02 09:30:00 [x.py:1] {text}\n".encode()
    verdict = explained(log)
    assert verdict.state == state
    assert (verdict.cause.kind if verdict.cause else None) == (None if state == "ready" else "killed")


def test_a_sigterm_during_the_start_is_a_stop() -> None:
    log = vllm_log("0.8.5", tp=1, until="weights") + (
        b'Traceback (most recent call last):\n  File "/opt/lib/vllm/cli/serve.py", line 9, in cmd\n'
        b"KeyboardInterrupt: terminated\n"
    )
    verdict = explained(log)
    assert (verdict.state, verdict.cause.kind if verdict.cause else None) == ("stopped", "killed")


def test_a_worker_node_that_has_captured_its_graphs_stands_by() -> None:
    log = vllm_log("0.24.0", until="graphs").replace(b"'port': 8100", b"'port': 8100, 'nnodes': 2, 'node_rank': 1")
    log = log.replace(b"'tensor_parallel_size': 2", b"'tensor_parallel_size': 4").replace(b"rank=0", b"rank=2")
    log = log.replace(b"rank=1", b"rank=3").replace(b"Worker_TP0", b"Worker_TP2").replace(b"Worker_TP1", b"Worker_TP3")
    here = b"".join(
        line for line in log.splitlines(keepends=True) if b"EngineCore" not in line and b"rank 0 in" not in line
    )
    verdict = explained(here, silent=600)
    assert (verdict.state, verdict.ranks_expected) == ("standby", 2)
