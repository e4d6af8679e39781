"""All combinations of what the channels answer to "does it serve", against a small oracle of its own."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from timeline import ROOT, START, Timeline

from bringup.core.events import ChannelClosed, HttpAnswered, LogOpened, PortSeen, Server, ServerFound
from bringup.core.verdict import Verdict

ANSWERS = ("yes", "no", "unknown")
PORT = 30000
READY_AT = 60.0
LATER = 20.0
"""Seconds after the ready line at which the screen is looked at: all probes have had time."""

TABLE = [
    (process, port, http, line, bind)
    for process, port, http, line, bind in itertools.product(
        ANSWERS, ("own", "foreign", "free", "unknown"), *[ANSWERS] * 3
    )
    # Without a log nobody can see a bind error either, and with one it is seen or not.
    if (line == "unknown") == (bind == "unknown")
]


def oracle(process: str, port: str, http: str, line: str, bind: str) -> str:
    """Return the state that must be said, by rules of this test alone."""
    if bind == "yes":
        return "failed"
    if process == "no":
        return "stopped"
    if port == "foreign" or line == "no":
        return "not ready"
    if line == "yes":
        contradicted = http == "no" or (port == "free" and http != "yes")
        return "not ready" if contradicted else "ready"
    return "ready" if http == "yes" and port != "free" else "not ready"


def told(process: str, port: str, http: str, line: str, bind: str) -> Verdict:
    """Let every channel give its answer, and look at the verdict."""
    tl = Timeline()
    if line == "unknown":
        tl.add(LogOpened(at=START, path="/dev/null", kind="null"))
    server = Server(pid=ROOT, start=1, engine="sglang", argv=("python",), port=PORT, started_at=START)
    tl.add(ServerFound(at=START, server=server))
    if line != "unknown":
        tl.launch(port=PORT).begin("weights").wait(30).end("weights").wait(20)
    tl.wait(READY_AT - tl.t)
    if bind == "yes":
        tl.fault("port-in-use", "address already in use", vetoes_ready=True)
    if line != "unknown":
        tl.reached("http-up", *(["ready"] if line == "yes" else []))
    tl.wait(LATER)
    if process == "unknown":
        tl.add(ChannelClosed(at=tl.now, channel="processes", why="another user's"))
    if process != "unknown":
        tl.spawn(1, title="sglang::scheduler")
    pid = {"own": ROOT, "foreign": 4711, "free": None, "unknown": 0}[port]
    # The owner is told apart by the tree: where that cannot be seen, the port's row is all there is.
    tl.add(PortSeen(at=tl.now, port=PORT, pid=pid, title="python -m sglang.launch_server" if port == "foreign" else ""))
    if http != "unknown":
        tl.add(HttpAnswered(at=tl.now, path="/health", status=200 if http == "yes" else 503))
    if process == "no":
        tl.kill(0).kill(None).sample()
    return tl.verdict(1)


@pytest.mark.parametrize("row", TABLE, ids="-".join)
def test_every_combination(row: tuple[str, str, str, str, str]) -> None:
    process, port, http, line, bind = row
    if process == "unknown" and port in ("own", "foreign"):
        port = "unknown"  # nobody can tell whose process it is
    verdict = told(*row)
    wanted = oracle(process, port, http, line, bind)
    got = verdict.state if verdict.state in ("ready", "failed", "stopped") else "not ready"
    assert got == wanted, verdict
    assert verdict.state != "degraded"
    if wanted == "failed":
        assert verdict.cause is not None
        assert verdict.cause.kind == "port-in-use"
    if wanted == "ready":
        check_evidence(verdict, process, port, http, line)
    if port == "foreign" and process == "yes" and bind != "yes":
        assert next(w.detail for w in verdict.warnings if w.kind == "port-conflict").startswith(
            "Port 30000 belongs to another process: PID 4711 (python -m sglang.launch_server)"
        )


def check_evidence(verdict: Verdict, process: str, port: str, http: str, line: str) -> None:
    """Every channel is named, either with what it says or as one that cannot be had."""
    text = "\n".join(verdict.evidence)
    assert ("process: the launcher, PID 100, is alive" in text) == (process == "yes")
    assert ("not available: the processes (another user's)" in text) == (process == "unknown")
    assert ("port: 30000 is held by this server, PID 100" in text) == (port == "own")
    assert ("not known: port (the owner cannot be told)" in text) == (port == "unknown" and process == "yes")
    assert ("http: /health answers HTTP 200" in text) == (http == "yes")
    assert ("not known: http (not asked yet)" in text) == (http == "unknown")
    assert ("log: ready line 21 s ago" in text) == (line == "yes")
    assert ("not known: log (its kind is null)" in text) == (line == "unknown")


def test_the_table_is_whole() -> None:
    assert len(TABLE) == 3 * 4 * 3 * 5
    assert {oracle(*row) for row in TABLE} == {"ready", "not ready", "failed", "stopped"}


def attached(**more: object) -> Timeline:
    """A server that runs, with its processes in sight and a log that shows nothing of a launch."""
    tl = Timeline().found(port=PORT, **more).spawn(1, title="sglang::scheduler").bytes()
    return tl.add(PortSeen(at=tl.now, port=PORT, pid=ROOT))


def test_a_log_that_says_nothing_of_a_launch_is_done_without_after_a_while() -> None:
    tl = attached().add(HttpAnswered(at=START + 5, path="/health", status=200))
    assert tl.verdict(30).state == "starting"
    tl.wait(70).sample()
    ready = tl.verdict()
    assert (ready.state, ready.phase) == ("ready", "serving")
    assert "not known: log (it shows nothing of a launch)" in ready.evidence


def test_a_log_that_shows_the_launch_must_say_ready() -> None:
    tl = attached().launch(port=PORT).add(HttpAnswered(at=START + 5, path="/health", status=200))
    tl.wait(200).bytes().sample()
    assert tl.verdict().state == "starting"


def test_a_socket_has_no_port() -> None:
    tl = attached(argv=("vllm", "serve", "--uds=/run/vllm.sock"), engine="vllm").launch(port=PORT).reached("ready")
    tl.wait(30).add(PortSeen(at=tl.now, port=PORT, pid=None)).sample()
    verdict = tl.verdict()
    assert verdict.state == "ready"
    assert "not known: port (it was told to listen on a Unix socket)" in verdict.evidence


def test_a_closed_port_is_said_and_in_the_end_degrades() -> None:
    tl = attached().launch(port=PORT).reached("ready").add(HttpAnswered(at=START + 9, path="/health", status=200))
    tl.wait(30).add(PortSeen(at=tl.now, port=PORT, pid=None)).sample()
    assert tl.verdict().state == "ready"
    tl.wait(400).add(PortSeen(at=tl.now, port=PORT, pid=None)).sample()
    verdict = tl.verdict()
    assert verdict.state == "degraded"
    assert "nobody listens on port 30000" in verdict.summary


def test_answers_that_time_out_for_ever_are_never_ready_and_never_fail() -> None:
    tl = attached().launch(port=PORT).reached("ready")
    said = []
    for _ in range(20):
        tl.wait(30).add(HttpAnswered(at=tl.now, path="/health", error="timeout", took=5.0)).sample()
        said.append(tl.verdict().state)
    assert list(dict.fromkeys(said)) == ["starting", "slow", "stalled"]


@pytest.mark.parametrize(
    "bad", [{"status": 500}, {"status": 503}, {"error": "timeout"}, {"error": "reset"}, {"error": "refused"}]
)
def test_every_no_of_http_holds_ready_back_for_as_long_as_it_was_never_good(bad: dict[str, Any]) -> None:
    tl = Timeline().found(port=PORT).spawn(1, title="sglang::scheduler").launch(port=PORT).reached("ready")
    for after in (5, 60, 300):
        tl.wait(after).add(HttpAnswered(at=tl.now, path="/health", **bad)).fault_in(0).sample()
        verdict = tl.verdict()
        assert verdict.state in ("starting", "slow")
        assert verdict.summary.startswith("The ready line came, but /health answers")
    tl.add(HttpAnswered(at=tl.now, path="/health", status=200))
    assert tl.verdict().state == "ready"


def test_a_question_put_before_the_ready_line_is_no_evidence_against_it() -> None:
    tl = attached().launch(port=PORT).wait(60).reached("ready").wait(4)
    tl.add(HttpAnswered(at=tl.now, path="/health", status=500, took=4.5)).sample()
    verdict = tl.verdict()
    assert verdict.state == "ready"
    assert "http: /health answers HTTP 500, asked before the ready line had settled" in verdict.evidence
    assert tl.verdict(400).state == "ready"


def test_a_server_that_was_ready_and_then_fails_is_degraded() -> None:
    tl = attached().launch(port=PORT).reached("ready").wait(9)
    tl.add(HttpAnswered(at=tl.now, path="/health", status=200)).wait(10)
    tl.add(HttpAnswered(at=tl.now, path="/health", status=500)).sample()
    assert tl.verdict(60).state == "ready"
    assert tl.verdict(200).state == "degraded"


def test_what_the_old_server_answered_is_forgotten_when_the_port_changes_hands() -> None:
    tl = attached().launch(port=PORT).reached("ready").add(PortSeen(at=START + 1, port=PORT, pid=4711, title="old"))
    tl.add(HttpAnswered(at=START + 2, path="/health", status=200)).wait(30)
    tl.add(PortSeen(at=tl.now, port=PORT, pid=ROOT)).sample()
    assert tl.state.http is None
    tl.add(HttpAnswered(at=tl.now, path="/health", status=503))
    assert tl.verdict().state == "starting"


def test_since_when_a_stranger_is_there() -> None:
    old = Server(pid=4711, start=7, engine="sglang", argv=("python",), started_at=START - 7200)
    tl = attached().launch(port=PORT).reached("ready")
    tl.add(PortSeen(at=START + 30, port=PORT, pid=4711, title="python -m sglang.launch_server")).wait(30).sample()
    assert "seen there for 0 s" in tl.verdict().summary
    tl.add(ServerFound(at=tl.now, server=tl.state.server, others=(old,)))  # type: ignore[arg-type]
    assert "an older sglang server, started 2 h ago" in tl.verdict().summary


def test_two_vllm_servers_on_one_port() -> None:
    rival = Server(pid=4711, start=7, engine="vllm", argv=("vllm",), port=PORT)
    for version, warned in (("0.16.0", True), ("0.28.0", False)):
        tl = (
            Timeline()
            .found(port=PORT, engine="vllm")
            .launch(engine="vllm", port=PORT, version=version)
            .reached("ready")
        )
        tl.add(ServerFound(at=tl.now, server=tl.state.server, others=(rival,)))  # type: ignore[arg-type]
        verdict = tl.verdict()
        assert verdict.state == "ready"
        assert [warning.kind for warning in verdict.warnings if "4711" in warning.detail] == ["port-conflict"] * warned


@pytest.mark.parametrize("argv", [("vllm", "serve", "m", "--headless"), ("vllm", "serve", "m")])
def test_a_headless_node_that_captures_nothing_stands_by(argv: tuple[str, ...]) -> None:
    tl = Timeline().found(engine="vllm", argv=argv, tp=2).begin("weights", [0, 1]).wait(30).end("weights", [0, 1])
    states = {tl.verdict(after).state for after in (5, 120, 4000)}
    assert ("standby" in states) == ("--headless" in argv)


@pytest.mark.parametrize("kind", ["null", "file"])
def test_the_dummy_server_of_a_worker_node_is_not_the_service(kind: str) -> None:
    tl = Timeline().found(port=PORT, nnodes=2, node_rank=1).spawn(1, title="sglang::scheduler_TP1")
    tl.add(LogOpened(at=tl.now, path="x", kind=kind), PortSeen(at=tl.now, port=PORT, pid=ROOT))
    assert tl.wait(50).sample().verdict().state == "starting"
    tl.add(HttpAnswered(at=tl.now, path="/health", status=200)).wait(100).sample()
    assert tl.verdict().state == "standby"
