"""Pauses that end by themselves, and channels that fall silent: neither is a stall, and what is known is said."""

from __future__ import annotations

import pytest
from story import Story, loaded, loading

from bringup.core.events import ChannelClosed, Gpu, GpusSeen
from bringup.core.verdict import Verdict


def frozen(story: Story, seconds: int) -> Story:
    """Let the sampler be frozen for so long, while nvidia-smi goes on and the log is quiet."""
    story.sampled = False
    for _ in range(seconds):
        row = tuple(
            Gpu(index=n, used=9000, total=143_771, utilization=0, power=120.0, power_limit=700.0) for n in (0, 1)
        )
        story.add(GpusSeen(at=story.now, gpus=row, apps=())).wait(1)
    return story


def missing(verdict: Verdict) -> list[str]:
    return [one.detail for one in verdict.warnings if one.kind == "channel-missing"]


# --- storage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wchan", "seconds"),
    [
        ("folio_wait_bit_common", 32),
        ("", 50),
        ("os_acquire_rwlock_write", 50),
        ("rpc_wait_bit_killable", 62),
        ("nfs_wait_bit_killable", 240),
    ],
)
def test_a_pause_of_the_storage_is_slow_names_the_rank_and_ends(wchan: str, seconds: int) -> None:
    story = loading(8).working(range(8)).wait(10).change(3, state="D", wchan=wchan)
    story.wait(seconds)
    story.expect("slow", hang="", failed_ranks=(), words=("TP3", "state D", wchan))
    story.change(3, state="R").wait(2)
    verdict = story.expect("starting")
    assert "TP3" not in verdict.summary


def test_a_network_file_system_that_is_dead_is_called_so_in_the_end() -> None:
    story = loading(8).working(range(8)).wait(10).change(3, state="D", wchan="rpc_wait_bit_killable").wait(290)
    story.expect("slow", hang="")
    story.expect("stalled", within=20, hang="uninterruptible", failed_ranks=(3,), words="a network file system")


# --- a sampler that is frozen -------------------------------------------------------------------------------


def test_a_frozen_sampler_is_no_stall_and_is_said() -> None:
    story = frozen(loading(2).working([0, 1]).wait(30), 600)
    verdict = story.expect("starting", "slow", hang="", warnings=("channel-missing",))
    assert missing(verdict) == ["processes: no sample for 600 s"]
    assert verdict.stale_s is None, "the GPUs still answer"
    assert max(view.quiet_s or 0.0 for view in verdict.ranks) < 5


def test_a_sample_that_is_late_by_a_little_is_not_worth_a_warning() -> None:
    verdict = frozen(loading(2).working([0, 1]).wait(30), 7).expect("starting")
    assert missing(verdict) == []


def test_a_sampler_that_comes_back_goes_on_where_it_was() -> None:
    story = frozen(loading(2).working([0, 1]).wait(30), 300)
    story.sampled = True
    verdict = story.wait(2).expect("starting")
    assert (verdict.stale_s, missing(verdict)) == (None, [])


def test_with_the_processes_closed_only_the_log_counts_and_patience_is_that_of_the_log() -> None:
    story = loading(2).working([0, 1]).wait(30)
    story.add(ChannelClosed(at=story.now, channel="processes", why="no sample for 15 s"))
    frozen(story, 1500).expect("starting", "slow", hang="")
    story.expect("stalled", within=900, words="the log has been silent")


# --- the launcher -------------------------------------------------------------------------------------------


def test_a_stopped_launcher_is_named_during_the_load_and_recovers() -> None:
    story = loading(4).working(range(4)).wait(10).change(None, state="T")
    verdict = story.expect("stalled", within=6, hang="stopped", words="the launcher, PID 100, is stopped")
    assert "processes: the launcher, PID 100, is stopped" in verdict.evidence
    story.change(2, state="T").wait(5)
    story.expect("stalled", hang="stopped", failed_ranks=(2,), words="the launcher, PID 100, and TP2 are stopped")
    story.change(None, state="S").change(2, state="R")
    story.expect("starting", "slow", within=3, hang="")


def test_a_launcher_that_is_the_rank_itself_is_called_by_the_name_of_the_rank() -> None:
    story = loaded(1)
    story.tree.pop(101)
    story.change(None, title="sglang::scheduler_TP0", state="R", minflt=1).wait(1).change(None, state="T")
    verdict = story.expect("stalled", "failed", within=6)
    assert "launcher" not in verdict.summary
