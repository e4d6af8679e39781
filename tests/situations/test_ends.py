"""How a start ends: the first real error counts, the one that printed nothing, and who was ended from outside."""

from __future__ import annotations

import pytest
from story import Story, loaded, loading, serving

from bringup.core.events import ActionStep, HttpAnswered, KernelLine, KernelSaid, Server, ServerFound, Warned


def test_out_of_memory_on_one_rank_counts_and_what_follows_does_not() -> None:
    story = loaded(8).begin("graphs", range(8), role="target", part="decode").wait(3)
    story.fault("oom", "torch.OutOfMemoryError: CUDA out of memory.", rank=3)
    story.expect("failed", cause="oom", failed_ranks=(3,), words=("TP3",))
    for rank in (0, 1, 2):
        story.fault("peer-lost", "Connection closed by peer", rank=rank, secondary=True)
    story.ending("child-failed").ending("tree-killed").wait(2)
    for rank in range(8):
        story.kill(rank)
    story.wait(1).kill(None).wait(2)
    story.expect("failed", cause="oom", failed_ranks=(3,), phase="graphs")


def test_too_small_a_cache_is_no_out_of_memory() -> None:
    story = loaded(2)
    story.fault("kv-too-small", "Not enough memory. Please try to increase --mem-fraction-static.", rank=0)
    verdict = story.expect("failed", cause="kv-too-small")
    assert verdict.cause is not None
    assert "raise" in verdict.cause.advice


def test_a_rank_that_goes_without_a_word_is_named() -> None:
    story = loading(4).working(range(4)).wait(30).kill(2)
    story.expect("failed", within=2, cause="killed", failed_ranks=(2,), words="TP2")


def test_the_first_of_those_that_go_is_the_one() -> None:
    story = loading(4).working(range(4)).wait(30).kill(1)
    story.expect("failed", within=2, failed_ranks=(1,))
    for rank in (0, 2, 3):
        story.kill(rank)
    story.wait(1).kill(None).wait(3)
    story.expect("failed", cause="killed", failed_ranks=(1,))


def test_a_launcher_that_takes_its_ranks_along_slowly_was_stopped() -> None:
    story = loading(4).working(range(4)).wait(30).kill(None).kill(0).kill(1)
    story.expect("stopped", within=2)
    story.kill(2).wait(1).kill(3).wait(3)
    story.expect("stopped", failed_ranks=())


def test_the_kernel_log_says_who_was_out_of_memory() -> None:
    story = loading(2).working(range(2)).wait(30).kill(1)
    story.expect("failed", within=2, cause="killed", failed_ranks=(1,))
    line = KernelLine(at=story.now, text="Out of memory: Killed process 102 (sglang::schedul)", kind="oom", pid=102)
    story.add(KernelSaid(at=story.now, lines=(line,))).wait(2)
    story.expect("failed", cause="oom", failed_ranks=(1,))


def test_a_launcher_that_the_kernel_took_has_failed() -> None:
    story = loading(2).working(range(2)).wait(30).kill(None).kill(0).kill(1)
    story.expect("stopped", "failed", within=2)
    line = KernelLine(at=story.now, text="Out of memory: Killed process 100 (python)", kind="oom", pid=100)
    story.said |= {"failed"}
    story.add(KernelSaid(at=story.now, lines=(line,))).wait(2)
    story.expect("failed", cause="oom")


def test_a_zombie_is_gone() -> None:
    story = loading(4).working(range(4)).wait(10).change(3, state="Z")
    story.expect("failed", within=3, failed_ranks=(3,), words="TP3")


def test_a_launcher_that_goes_without_a_word_was_ended_from_outside() -> None:
    story = loading(2).working(range(2)).wait(10).kill(None).kill(0).kill(1)
    story.expect("stopped", "failed", within=2, cause="killed")


@pytest.mark.parametrize("kind", ["nccl", "bad-path", "bad-checkpoint", "config", "gpu-fault", "disk-full", "driver"])
def test_an_error_of_a_rank_is_the_cause(kind: str) -> None:
    story = loading(4).working(range(4)).wait(10).fault(kind, "what it said", rank=1)
    story.expect("failed", cause=kind, failed_ranks=(1,))
    story.ending("child-failed").kill(1).wait(20)
    story.expect("failed", cause=kind, failed_ranks=(1,))


def test_a_lost_peer_is_a_consequence_and_it_is_said() -> None:
    story = Story().launch(tp=4).wait(20).begin("weights", range(4)).wait(10)
    for rank in (0, 1, 3):
        story.fault("peer-lost", "Connection closed by peer", rank=rank, secondary=True)
    verdict = story.expect("failed", cause="peer-lost", words="elsewhere")
    assert verdict.cause is not None
    assert verdict.cause.secondary


def test_a_watchdog_is_a_cause_with_its_own_name() -> None:
    story = serving(2).wait(60)
    story.fault("watchdog", "Watchdog timeout (self.watchdog_timeout=300)", rank=0).ending("child-failed")
    story.expect("failed", cause="watchdog")


def test_a_dump_of_the_watchdog_is_a_warning_while_it_goes_on() -> None:
    story = serving(2).wait(60)
    story.add(Warned(at=story.now, kind="watchdog", detail="a forward took longer than half of the limit"))
    story.expect("ready", warnings=("watchdog",))


def test_a_warm_up_that_fails_is_a_failure_of_its_own() -> None:
    story = loaded(1).end("kv-cache", [0]).reached("scheduler-up", "http-up").wait(2)
    story.fault("warmup", "Initialization failed. warmup error: 500")
    story.expect("failed", cause="warmup")


# --- ended from outside -------------------------------------------------------------------------------------


def test_a_sigterm_that_was_seen_is_a_stop_and_its_noise_is_none() -> None:
    story = serving(2).wait(60).ending("sigterm")
    story.expect("stopped", within=3, cause="killed", failed_ranks=())
    story.ending("draining", remaining=3).wait(10)
    story.expect("stopped", words="3 requests")
    story.ending("tree-killed").kill(0).kill(1).wait(1).kill(None).wait(5)
    story.expect("stopped", cause="killed", failed_ranks=())


def test_a_signal_is_believed_after_a_moment_where_health_still_answers() -> None:
    story = serving(2)
    story.add(HttpAnswered(at=story.now, path="/health", status=200)).wait(5).ending("sigterm")
    assert "signal" in story.look().summary
    story.expect("stopped", within=4)


def test_a_signal_is_believed_at_once_where_health_fails() -> None:
    story = serving(2)
    story.add(HttpAnswered(at=story.now, path="/health", status=200)).wait(5).ending("sigterm").wait(1)
    story.add(HttpAnswered(at=story.now, path="/health", error="refused"))
    story.expect("stopped")


def test_a_signal_in_a_log_alone_is_believed_at_once() -> None:
    story = Story().launch(tp=1).wait(20).reached("http-up", "ready")
    story.expect("ready")
    story.wait(60).ending("sigterm")
    story.expect("stopped", cause="killed")


# --- again --------------------------------------------------------------------------------------------------


def test_a_restart_in_the_same_log_is_another_attempt_and_clean() -> None:
    story = loading(2).working(range(2)).wait(5).fault("oom", "CUDA out of memory", rank=1)
    story.expect("failed", attempt=1)
    story.ending("child-failed").kill(0).kill(1).kill(None).wait(3)
    story.sampled = False
    story.wait(20)
    started = story.now
    story.said |= {"starting", "waiting", "slow"}
    server = Server(pid=900, start=9, engine="sglang", argv=("python",), started_at=started, tp=2)
    story.add(ServerFound(at=story.now, server=server)).wait(1)
    story.expect("starting", phase="launch", cause=None, failed_ranks=())
    story.wait(20).launch(tp=2)
    story.expect("starting", attempt=2, cause=None, failed_ranks=(), done={"weights": ()})
    assert story.state.earlier[0].kind == "oom"


def act(story: Story, step: str, **more: object) -> Story:
    """Let the operator's own stop go a step further."""
    event = {"at": story.now, "action": "stop", "step": step, **more}
    return story.add(ActionStep(**event))  # type: ignore[arg-type]


@pytest.mark.parametrize("before", ["serving", "loading"])
def test_a_stop_of_the_operators_own_is_one_while_processes_go_one_by_one(before: str) -> None:
    story = serving(4) if before == "serving" else loading(4).working(range(4)).wait(10)
    act(story, "SIGTERM sent to python (PID 100).", left=10.0).wait(1)
    for rank in (2, 0, 1):
        act(story.kill(rank), "Some still run; SIGKILL in 7 s.", left=7.0)
        story.expect("stopped", within=2, cause="killed", failed_ranks=(), words=("being stopped", "SIGKILL in 7 s"))
    story.fault("peer-lost", "Connection closed by peer", rank=3, secondary=True)
    story.fault("unknown", "RuntimeError: the engine is dead", rank=3).wait(2)
    story.kill(3).kill(None).wait(1)
    act(story, "All processes have ended.", ended=True).wait(30)
    story.expect("stopped", cause="killed", words="Stopped")
    assert "being" not in story.look().summary


def test_a_restart_says_what_it_does_while_there_is_no_server() -> None:
    story = serving(2)
    act(story, "SIGTERM sent to python (PID 100).", action="restart").wait(1).kill(0).kill(1).kill(None)
    act(story, "Launching it again.", action="restart")
    verdict = story.expect("stopped", within=2, words=("being restarted", "Launching it again"))
    assert verdict.cause is not None
    assert verdict.cause.advice == "", "it is launched again without anybody's help"


def test_an_error_from_before_the_stop_is_what_ended_it() -> None:
    story = loading(2).working(range(2)).wait(10).fault("oom", "torch.OutOfMemoryError", rank=1)
    story.expect("failed", cause="oom")
    story.wait(5)
    act(story, "SIGTERM sent to python (PID 100).").wait(1).kill(0).kill(1).kill(None).wait(2)
    story.expect("failed", cause="oom", failed_ranks=(1,))


def test_a_rank_that_dies_long_after_a_stop_that_was_not_done_was_not_stopped() -> None:
    story = serving(2)
    act(story, "A stop is under way by eva@desk.", ended=True, failed=True).wait(60).kill(1)
    story.expect("degraded", within=3, words="ended while the launcher still runs")


def test_a_stop_that_leaves_something_says_what() -> None:
    story = serving(2)
    act(story, "SIGTERM sent to python (PID 100).").wait(1).kill(0)
    story.expect("stopped", within=2)
    act(story, "2 processes are left.", ended=True, failed=True).wait(20)
    story.expect("stopped", words=("has failed", "2 processes are left"))
