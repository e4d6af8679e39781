"""Ready means ready: what must agree, what contradicts, and what is said once it serves."""

from __future__ import annotations

import pytest
from story import Story, loaded, loading, serving
from timeline import ROOT

from bringup.core.events import (
    ChannelClosed,
    Checkpoint,
    CheckpointSeen,
    Decoded,
    HttpAnswered,
    LogOpened,
    PortSeen,
    Warned,
)


def answer(story: Story, status: int | None, path: str = "/health") -> Story:
    return story.add(HttpAnswered(at=story.now, path=path, status=status, error="" if status else "timeout"))


def up(story: Story) -> Story:
    """Graphs done, HTTP up, the warm-up running."""
    story.end("kv-cache", range(2)).begin("graphs", range(2), role="target", part="decode").wait(5)
    story.end("graphs", range(2), role="target", part="decode").reached("scheduler-up", "http-up").wait(1)
    return story


def test_an_open_port_is_not_ready() -> None:
    story = up(loaded(2))
    story.add(PortSeen(at=story.now, port=30000, pid=ROOT)).wait(5)
    story.expect("starting", phase="warmup")


def test_health_200_before_the_ready_line_is_not_ready() -> None:
    story = answer(up(loaded(2)), 200)
    story.wait(30)
    story.expect("starting", phase="warmup")


def test_a_503_after_the_ready_line_is_believed_until_it_turns() -> None:
    story = answer(up(loaded(2)), 503)
    story.said |= {"ready"}
    story.reached("ready").wait(6)
    answer(story, 503).wait(1)
    story.expect("starting", words="503")
    answer(story, 200)
    story.expect("ready", within=2)


def test_the_old_server_on_the_port_is_named_and_nothing_is_ready() -> None:
    story = up(loaded(2))
    story.add(PortSeen(at=story.now, port=30000, pid=4711, title="python -m sglang.launch_server --port 30000"))
    answer(story, 200).reached("ready")
    story.serves = False
    story.wait(20)
    story.expect("starting", "slow", warnings=("port-conflict",))


def test_a_bind_error_after_the_ready_line_takes_it_back() -> None:
    story = answer(up(loaded(2)), 200)
    story.fault("port-in-use", "[Errno 98] address already in use", vetoes_ready=True)
    story.expect("failed", cause="port-in-use", failed_ranks=())
    story.reached("ready")
    story.serves = False
    story.wait(10)
    story.expect("failed", cause="port-in-use", words="port")


def test_without_a_log_http_and_the_port_must_do() -> None:
    story = Story().found(tp=2, port=30000, model="/models/target").spawn(2).working([0, 1])
    story.add(LogOpened(at=story.now, path="/dev/null", kind="null"))
    story.add(ChannelClosed(at=story.now, channel="log", why="standard output is /dev/null")).wait(30)
    story.expect("starting", warnings=("channel-missing",))
    story.serves = True
    story.said |= {"ready"}
    answer(story.add(PortSeen(at=story.now, port=30000, pid=ROOT)), 200).working(())
    story.expect("ready", within=2)


def test_without_a_log_a_stranger_that_answers_is_not_ready() -> None:
    story = Story().found(tp=2, port=30000, model="/models/target").spawn(2).working([0, 1])
    story.add(ChannelClosed(at=story.now, channel="log", why="no log")).wait(30)
    answer(story.add(PortSeen(at=story.now, port=30000, pid=4711, title="nginx")), 200).wait(10)
    story.expect("starting", warnings=("port-conflict",))


def test_a_failing_probe_alone_never_makes_a_serving_server_failed() -> None:
    story = answer(serving(2), 200).wait(10)
    answer(story, None).wait(60)
    story.expect("ready")
    answer(story, None)
    story.expect("degraded", within=120, words="/health")
    answer(story, 200)
    story.expect("ready", within=2)


@pytest.mark.parametrize("who", [1, None])
def test_a_process_that_was_stopped_while_it_serves_is_said(who: int | None) -> None:
    story = answer(serving(2), 200).wait(5)
    story.said |= {"degraded"}
    story.change(who, state="T")
    name = "TP1 is" if who == 1 else "the launcher is"
    verdict = story.expect("degraded", within=6, words=f"Serving on port 30000, but {name} stopped (state T).")
    assert verdict.hang == ("stopped" if who == 1 else "")
    if who == 1:
        assert verdict.ranks[1].trouble == "stopped"
    story.change(who, state="S")
    story.expect("ready", within=2)


def test_a_first_request_that_compiles_is_not_degraded() -> None:
    story = answer(serving(1), 200).wait(5)
    answer(story, 503)
    for second in range(400):
        story.child(300, "cicc", cpu_s=float(second)).wait(1)
        answer(story, 503)
    story.expect("ready")


def test_a_rank_that_dies_under_a_serving_launcher_is_said_at_once() -> None:
    story = serving(4).wait(30).kill(3)
    story.expect("degraded", "failed", within=3, words="TP3")


@pytest.mark.parametrize(("lens", "state"), [((1.0, 1.0), "ready"), ((1.0, 1.0, 1.0), "degraded")])
def test_a_draft_that_is_never_right_takes_three_lines(lens: tuple[float, ...], state: str) -> None:
    story = serving(2, algorithm="EAGLE3")
    story.said |= {"degraded"}
    story.add(*(Decoded(at=story.now, accept_len=value, running=4) for value in lens))
    story.expect(state)


def test_a_draft_that_is_right_again_is_no_trouble() -> None:
    story = serving(2, algorithm="EAGLE3")
    story.add(*(Decoded(at=story.now, accept_len=value, running=4) for value in (1.0, 1.0, 2.7, 1.0, 3.1)))
    story.expect("ready", accept_len=3.1)


def test_unmatched_names_are_a_warning_and_no_failure() -> None:
    story = loading(2).working([0, 1])
    for _ in range(2):
        story.add(Warned(at=story.now, kind="unmatched-weights", detail="layers.0.x not found in params_dict"))
    verdict = story.expect("starting", warnings=("unmatched-weights",))
    assert sum(advisory.kind == "unmatched-weights" for advisory in verdict.warnings) == 1


def test_graphs_that_are_disabled_are_said_and_it_gets_ready_without_them() -> None:
    story = loaded(2).end("kv-cache", range(2))
    story.add(Warned(at=story.now, kind="graphs-disabled", detail="--disable-cuda-graph is set"))
    story.reached("scheduler-up", "http-up").wait(2)
    answer(story, 200).reached("ready")
    story.expect("ready", warnings=("graphs-disabled",))


# --- a log that lacks the ready line -------------------------------------------------------------------------


def without_line(version: str, path: str, *said: str, **more: str) -> Story:
    """A server that answers 200 on its own port for 20 minutes, and whose log never says that it is ready."""
    story = up(loaded(2, version=version, **more)).working(())
    story.said |= set(said)
    story.serves = True
    story.add(PortSeen(at=story.now, port=30000, pid=ROOT))
    for _ in range(20):
        answer(story, 200, path).wait(60)
    return story


@pytest.mark.parametrize(
    ("version", "path", "more"),
    [("0.5.9", "/health", {}), ("0.5.20", "/ready", {}), ("0.9.0", "/health", {"engine": "vllm"})],
)
def test_a_server_that_answers_for_minutes_is_ready_though_its_log_lacks_the_line(
    version: str, path: str, more: dict[str, str]
) -> None:
    verdict = without_line(version, path, "ready", **more).expect("ready", phase="serving")
    assert "log: no ready line yet" in verdict.evidence
    assert f"http: {path} answers HTTP 200" in verdict.evidence


def test_health_that_fails_after_that_degrades_and_takes_nothing_back() -> None:
    story = without_line("0.5.9", "/health", "ready")
    story.expect("ready")
    answer(story, 503).wait(60)
    story.expect("degraded", within=120, words="Serving on port 30000, but /health has been failing")


def test_a_health_that_proves_nothing_is_named_in_a_stall() -> None:
    verdict = without_line("0.4.9", "/health", "stalled").expect(
        "stalled", phase="warmup", words="/health answers HTTP 200"
    )
    assert "log: no ready line yet" not in verdict.evidence


# --- the files ----------------------------------------------------------------------------------------------


def test_a_checkpoint_with_a_missing_file_is_said_though_the_start_gets_ready() -> None:
    names = tuple(f"model-{number:05}-of-00024.safetensors" for number in range(1, 25))
    story = serving(2)
    files = Checkpoint(role="target", folder="/models/target", present=names[:23], expected=names, basis="index")
    story.add(CheckpointSeen(at=story.now, checkpoint=files)).wait(2)
    verdict = story.expect("ready", "degraded", warnings=("missing-shards",))
    assert any("24" in advisory.detail for advisory in verdict.warnings)


def test_a_checkpoint_that_is_whole_is_not_mentioned() -> None:
    names = tuple(f"model-{number:05}-of-00024.safetensors" for number in range(1, 25))
    story = loading(2).working([0, 1])
    files = Checkpoint(role="target", folder="/models/target", present=names, expected=names, basis="index")
    story.add(CheckpointSeen(at=story.now, checkpoint=files)).wait(2)
    assert not story.expect("starting").warnings
