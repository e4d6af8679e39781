from timeline import ROOT, START, Timeline, loading, serving

from bringup.core.arrival import without_arrival
from bringup.core.assess import assess
from bringup.core.events import ChannelClosed, Decoded, HttpAnswered, PortSeen, Process


def test_ready_says_where_and_after_how_long():
    verdict = serving(2).verdict(1)
    assert verdict.state == "ready"
    assert verdict.summary == "Ready on port 30000 after 1 min 11 s."
    assert verdict.phase == "serving"
    assert dict(verdict.ranks_done)["graphs"] == (0, 1)


def test_an_open_port_is_not_ready():
    line = loading(1).end("weights").reached("http-up").add(HttpAnswered(at=START, path="/health", status=200))
    assert (line.verdict().state, line.verdict().phase) == ("starting", "warmup")


def test_a_bind_error_takes_ready_back():
    line = loading(1).end("weights").fault("port-in-use", "address already in use", vetoes_ready=True)
    verdict = line.wait(5).reached("http-up", "ready").verdict()
    assert (verdict.state, verdict.cause and verdict.cause.kind, verdict.failed_ranks) == ("failed", "port-in-use", ())


def test_a_stranger_on_the_port_is_not_this_server():
    line = serving(1).spawn(1, title="sglang::scheduler")
    assert line.add(PortSeen(at=line.now, port=30000, pid=ROOT)).verdict().state == "ready"
    verdict = line.add(PortSeen(at=line.now, port=30000, pid=4711, title="old server")).verdict()
    assert verdict.state != "ready"
    assert [warning.kind for warning in verdict.warnings] == ["port-conflict"]


def test_a_failing_probe_alone_never_fails_a_server():
    line = serving(1).add(HttpAnswered(at=START + 80, path="/health", status=200))
    line.add(HttpAnswered(at=line.now + 10, path="/health", status=503))
    assert line.verdict(60).state == "ready"
    verdict = line.verdict(500)
    assert verdict.state == "degraded"
    assert "/health" in verdict.summary


def test_a_compile_excuses_a_failing_probe():
    line = serving(1).spawn(1, title="sglang::scheduler").add(HttpAnswered(at=START + 80, path="/health", status=200))
    line.add(HttpAnswered(at=line.now + 10, path="/health", status=503)).wait(400)
    line.tree[500] = Process(pid=500, ppid=101, start=5, title="nvcc", comm="nvcc", state="R")
    assert line.sample().verdict().state == "ready"


def test_a_draft_that_is_never_accepted_degrades():
    line = serving(2, algorithm="EAGLE3")
    for _ in range(2):
        line.add(Decoded(at=line.now, accept_len=1.0, running=4))
    assert line.verdict().state == "ready"
    verdict = line.add(Decoded(at=line.now, accept_len=1.0, running=4)).verdict()
    assert (verdict.state, verdict.accept_len) == ("degraded", 1.0)
    assert [warning.kind for warning in verdict.warnings] == ["draft-mismatch"]
    assert line.add(Decoded(at=line.now, accept_len=2.5, running=4)).verdict().state == "ready"


def test_a_worker_node_stands_by_however_long():
    line = Timeline().launch(tp=4, nnodes=2, node_rank=1).begin("weights", [2, 3]).end("weights", [2, 3])
    assert line.reached("node-up").verdict(1800).state == "standby"


def test_a_router_has_no_phases():
    line = Timeline().launch(engine="router").reached("ready")
    assert (line.verdict().state, line.verdict().phase) == ("ready", None)


def test_without_a_log_http_on_the_own_port_is_ready_and_the_gap_is_named():
    line = Timeline().found(tp=1).spawn(1, title="sglang::scheduler")
    line.add(ChannelClosed(at=START, channel="log", why="stdout goes to /dev/null"))
    line.wait(60).add(HttpAnswered(at=line.now, path="/health", status=200), PortSeen(at=line.now, port=1, pid=ROOT))
    verdict = line.sample().verdict()
    assert verdict.state == "ready"
    assert any("the log (stdout goes to /dev/null)" in text for text in verdict.evidence)


def test_a_server_that_says_503_after_its_own_ready_line_is_not_ready_yet():
    line = serving(1)
    line.add(HttpAnswered(at=line.now + 1, path="/health", status=503))
    assert line.verdict(2).state == "ready"
    line.add(HttpAnswered(at=line.now + 9, path="/health", status=503))
    verdict = line.verdict(10)
    assert verdict.state == "starting"
    assert verdict.summary == "The ready line came, but /health answers HTTP 503."
    assert line.verdict(500).state == "stalled"
    line.add(HttpAnswered(at=line.now + 12, path="/health", status=200))
    assert line.verdict(13).state == "ready"


def test_a_probe_that_cannot_connect_contradicts_unless_the_port_is_known_to_be_held():
    line = serving(1).wait(30)
    line.add(HttpAnswered(at=line.now, path="/health", error="refused"))
    verdict = line.verdict(1)
    assert verdict.state == "starting"
    assert "http: /health answers refused" in verdict.evidence
    line.spawn(1, title="sglang::scheduler").add(PortSeen(at=line.now, port=30000, pid=ROOT))
    assert line.verdict(1).state == "ready"


def test_a_launcher_that_was_stopped_before_we_came_is_said_in_two_samples():
    line = serving(1).spawn(1, title="sglang::scheduler").wait(1).sample()
    assert line.verdict().state == "ready"
    late = serving(1).wait(60)
    late.spawn(1, title="sglang::scheduler").state = serving(1).wait(60).state
    late.change(None, state="T").sample().wait(1).sample()
    assert late.verdict().state == "ready"
    verdict = assess(without_arrival(late.state), late.now, late.policy)
    assert (verdict.state, verdict.summary) == (
        "degraded",
        "Serving on port 30000, but the launcher is stopped (state T).",
    )
    late.change(None, state="S").wait(1).sample()
    assert late.verdict(10).state == "ready"
