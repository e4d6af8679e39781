"""A router's log is recognised as a router's: no phases, no ranks, ready when it serves."""

from __future__ import annotations

import pytest
from explaining import explained
from loggen import sglang_log

UVICORN = (
    "INFO:     Started server process [71]\nINFO:     Waiting for application startup.\n"
    "INFO:     Application startup complete.\n"
    "INFO:     Uvicorn running on http://127.0.0.1:7000 (Press CTRL+C to quit)\n"
)
COMMAND = (
    "Starting router with command: python3 -m sglang_router.launch_router --port 7000 --prefill http://10.0.0.2:8100\n"
)
RUST = "2026-03-02 09:14:29  INFO sglang_router_rs::server: src/server.rs:830: Starting router on 0.0.0.0:7000 | x\n"
STACK = "[2026-03-02 09:14:29,301] INFO: Scraping metrics from 0 engine(s) (engine_stats.py:146:vllm_router.stats)\n"


@pytest.mark.parametrize(
    ("begin", "up"),
    [
        (COMMAND, UVICORN),
        ("[MiniLB] Overriding policy to random\n", UVICORN),
        (STACK, UVICORN),
        (
            RUST,
            "2026-03-02 09:14:31  INFO sglang_router_rs::server: src/server.rs:960: Starting server on 0.0.0.0:7000\n",
        ),
    ],
)
def test_a_router_is_ready_when_it_serves(begin: str, up: str) -> None:
    waits = explained(f"{begin}Node 10.0.0.2:8100 is not ready yet\n".encode())
    assert (waits.state, waits.engine, waits.phase, waits.role) == ("starting", "router", None, None)
    serves = explained((begin + up).encode())
    assert (serves.state, serves.engine, serves.phase, serves.role) == ("ready", "router", None, None)


def test_an_engine_in_the_same_log_is_what_the_log_is_about() -> None:
    verdict = explained((COMMAND + UVICORN).encode() + sglang_log("0.5.9", tp=2, until="weights"))
    assert (verdict.state, verdict.engine, verdict.phase, verdict.attempt) == ("starting", "sglang", "weights", 1)


def test_a_web_server_of_another_container_says_nothing_of_the_engine() -> None:
    engine = b"".join(
        b"engine-1  | " + line for line in sglang_log("0.5.9", tp=2, until="weights").splitlines(keepends=True)
    )
    other = "".join(f"proxy-1  | {line}\n" for line in UVICORN.splitlines())
    assert explained(engine + other.encode()).phase == "weights"


def test_a_bare_web_server_is_no_router() -> None:
    assert explained(UVICORN.encode()).engine is None
