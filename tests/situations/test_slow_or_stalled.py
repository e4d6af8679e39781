"""Slow is not stalled: work on any channel, and the shapes that a real hang has."""

from __future__ import annotations

import pytest
from story import Story, loaded, loading
from timeline import tp

from bringup.core.events import Bar, ChannelClosed, Compiling, Gpu, GpusSeen, PhaseBegan


def gpus(story: Story, count: int, *, power: float, utilization: int = 100, used: int = 70_000) -> Story:
    row = tuple(
        Gpu(index=n, used=used, total=143_771, utilization=utilization, power=power, power_limit=700.0)
        for n in range(count)
    )
    return story.add(GpusSeen(at=story.now, gpus=row, apps=()))


# --- slow ---------------------------------------------------------------------------------------------------


def test_a_slow_and_steady_rank_is_slow_and_never_stalled() -> None:
    story = loading(4)
    story.paces = {0: 0.5, 1: 0.5, 2: 0.02, 3: 0.5}
    story.wait(60)
    story.expect("slow", within=60, phase="weights", stragglers=(2,), words="TP2")
    story.wait(1800)
    story.expect("slow", stragglers=(2,), hang="")


def test_a_full_bar_is_one_bar_of_one_rank() -> None:
    story = loading(8).working(range(8))
    for done in range(65):
        story.bar(done, 64).wait(1)
    story.end("weights", [0, 1, 2, 3, 4, 5, 6], seconds=66.0).working({7})
    story.expect("starting", done={"weights": (0, 1, 2, 3, 4, 5, 6)})
    story.wait(180)
    story.expect("slow", stragglers=(7,), words="TP7", phase="weights", bar=(64, 64))


def test_page_faults_alone_are_work() -> None:
    story = loading(2).working([1])
    story.wait(1500)
    story.expect("starting", "slow", hang="")


def test_an_open_shard_that_changes_is_work_while_the_log_is_silent() -> None:
    story = loading(2)
    story.paces = {0: 0.01, 1: 0.01}
    story.wait(1500)
    verdict = story.expect("starting", "slow", hang="")
    assert {view.source for view in verdict.ranks} == {"maps"}


def test_a_page_cache_that_ends_makes_it_slow() -> None:
    story = loading(1)
    for done in range(1, 31):
        story.bar(done, 64).working([0]).wait(1)
    story.expect("starting")
    for done in range(31, 36):
        story.wait(40).bar(done, 64)
    verdict = story.expect("slow")
    # The thirty shards from the cache say nothing about those that come from the disk.
    assert verdict.eta_s is None or verdict.eta_s[1] > 29 * 20


def test_a_compiler_explains_much_silence() -> None:
    story = loaded(1).begin("graphs", [0], role="target", part="decode").bar(0, 8, kind="graphs").working(())
    for minute in range(40):
        story.child(300, "cicc", start=300 + minute, cpu_s=float(minute)).wait(30)
        story.child(300, "cicc", cpu_s=minute + 25.0).wait(30)
    story.expect("starting", "slow", phase="graphs", hang="")
    del story.tree[300]
    story.wait(5).end("graphs", [0], role="target", part="decode")
    story.expect("starting")


def test_an_announced_compile_is_waited_for_and_then_not_for_ever() -> None:
    story = loaded(1).begin("graphs", [0], role="target", part="decode").bar(0, 20, kind="graphs").working(())
    story.add(Compiling(at=story.now, what="DeepGEMM")).wait(1800)
    story.expect("slow", phase="graphs", hang="")
    story.expect("stalled", within=7200)


def test_a_download_reads_from_the_network_and_is_no_stall() -> None:
    story = Story().found(tp=1).spawn(1).wait(20).launch(tp=1, model="someone/a-model").begin("weights", [0])
    story.add(Bar(at=story.now, kind="download", done=0, total=4))
    for second in range(1500):
        story.change(0, rchar=second * 50_000_000).wait(1)
    story.expect("starting", "slow", hang="")


# --- stalled ------------------------------------------------------------------------------------------------


def test_a_stopped_rank_is_named_within_seconds_and_recovers() -> None:
    story = loading(4).working(range(4)).wait(10).change(2, state="T")
    story.expect("stalled", within=6, hang="stopped", failed_ranks=(2,), phase="weights", words=("TP2", "stopped"))
    story.wait(120)
    story.expect("stalled", hang="stopped")
    story.change(2, state="R")
    story.expect("starting", "slow", within=3, hang="", failed_ranks=())


def test_a_rank_that_waits_for_dead_storage_is_named() -> None:
    story = loading(4).working(range(4)).wait(10).change(1, state="D", wchan="folio_wait_bit_common")
    story.expect("slow", within=40, words=("TP1", "folio_wait_bit_common"), hang="")
    story.expect("stalled", within=40, hang="uninterruptible", failed_ranks=(1,), words=("TP1", "state D"))


def test_a_rank_that_waits_for_storage_and_gets_it_is_reading() -> None:
    story = loading(4).working(range(4))
    for _ in range(20):
        story.wait(20).change(1, state="D", wchan="folio_wait_bit_common").fault_in(1).wait(5).change(1, state="R")
    story.expect("starting", "slow", hang="")


def test_all_wait_for_one_and_it_is_named() -> None:
    story = loading(8).working(range(8)).wait(30)
    story.end("weights", [rank for rank in range(8) if rank != 6], seconds=30.0).working(())
    story.expect("stalled", within=900, hang="waits-for-one", failed_ranks=(6,), words="TP6")


def test_full_gpus_at_idle_power_only_spin() -> None:
    story = loaded(2).begin("graphs", [0, 1], role="target", part="decode").bar(1, 8, kind="graphs").working(())
    story.spinning = {0, 1}
    verdict = None
    for _ in range(400):
        gpus(story, 2, power=118.0).said |= {"stalled"}
        verdict = story.wait(10).look()
        if verdict.state == "stalled":
            break
    assert verdict is not None
    assert (verdict.state, verdict.hang) == ("stalled", "spinning")


def test_full_gpus_at_full_power_are_no_hang_before_their_time() -> None:
    story = loaded(2).begin("graphs", [0, 1], role="target", part="decode").bar(1, 8, kind="graphs").working(())
    story.spinning = {0, 1}
    for _ in range(60):
        gpus(story, 2, power=610.0).wait(10)
    story.expect("starting", "slow", hang="")


def test_nothing_anywhere_is_a_stall() -> None:
    story = loading(2).working(())
    story.wait(200)
    story.expect("stalled", within=900, phase="weights", hang="silent")


def test_a_barrier_that_never_fills_stalls_the_group() -> None:
    story = Story().found(tp=4).spawn(4).wait(20).launch(tp=4).begin("distributed", range(3))
    story.wait(60)
    story.expect("starting", "slow", phase="distributed")
    story.expect("stalled", within=900, phase="distributed", failed_ranks=(3,), words="TP3")


def test_a_moment_of_a_debugger_is_no_stall() -> None:
    story = loading(2).working([0, 1]).wait(10).change(1, state="T").wait(1)
    story.change(1, state="R").wait(30)
    story.expect("starting")


# --- only the log -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["processes", "maps"])
def test_with_a_channel_closed_patience_grows_and_it_is_said(why: str) -> None:
    story = Story().launch(tp=8).wait(20)
    story.add(*(PhaseBegan(at=story.now, phase="weights", labels=tp(rank)) for rank in range(8))).bar(60, 64)
    story.add(ChannelClosed(at=story.now, channel=why, why="permission denied")).wait(1200)
    story.expect("starting", "slow", warnings=("channel-missing",), words="silent")
    story.expect("stalled", within=3600, words="log")


def test_a_probe_that_is_lost_stops_the_clock_of_judgement() -> None:
    story = loading(2).working([0, 1]).wait(30)
    story.sampled = False
    story.wait(3000)
    verdict = story.expect("starting", "slow", hang="")
    assert verdict.stale_s is not None
    assert verdict.stale_s > 2900
