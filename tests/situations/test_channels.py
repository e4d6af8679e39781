"""Channels that are missing, old, or move under the reader; and what stands before a start."""

from __future__ import annotations

from story import Story, loading, serving

from bringup.core.events import (
    ChannelClosed,
    ChannelOpened,
    GpuApp,
    GpusSeen,
    LinesRead,
    LinkChanged,
    LogMoved,
    Searching,
)


def test_no_server_is_waiting_for_one() -> None:
    story = Story().add(Searching(at=0.0, seeks="Looking for a server on port 30000."))
    story.wait(60)
    story.expect("waiting", engine=None, phase=None, words="port 30000")


def test_a_server_that_appears_begins_a_start() -> None:
    story = Story().add(Searching(at=0.0, seeks="Looking for a server.")).wait(30)
    story.found(tp=2).spawn(2, title="python -m multiprocessing.spawn").working([0, 1]).wait(30)
    story.expect("starting", phase="launch", attempt=1)


def test_a_host_that_is_never_reached_is_unknown() -> None:
    story = Story().add(LinkChanged(at=0.0, status="refused", why="no route to host"))
    story.expect("unknown")


def test_a_lost_connection_says_nothing_of_the_server() -> None:
    story = loading(2).working([0, 1]).wait(30)
    story.sampled = False
    story.add(LinkChanged(at=story.now, status="lost", why="the connection was closed")).wait(1800)
    verdict = story.expect("starting", "slow")
    assert verdict.stale_s is not None
    story.add(LinkChanged(at=story.now, status="up"))
    story.sampled = True
    story.wait(2)
    assert story.expect("starting", "slow").stale_s is None


def test_a_lost_connection_does_not_make_a_server_ready() -> None:
    story = serving(2).wait(5)
    story.sampled = False
    story.add(LinkChanged(at=story.now, status="lost")).wait(600)
    verdict = story.expect("ready")
    assert verdict.stale_s is not None


def test_a_log_that_is_missing_leaves_the_maps() -> None:
    story = Story(shards=10).found(tp=2, model="/models/target").spawn(2)
    story.add(ChannelClosed(at=story.now, channel="log", why="standard output is /dev/null"))
    story.paces = {0: 0.1, 1: 0.05}
    story.wait(60)
    story.expect("starting", "slow", warnings=("channel-missing",), engine="sglang", ranks_expected=2)


def test_a_channel_that_comes_back_is_not_missing_any_more() -> None:
    story = loading(2).working([0, 1]).add(ChannelClosed(at=0.0, channel="gpus", why="nvidia-smi hangs"))
    story.wait(2)
    story.expect("starting", warnings=("channel-missing",))
    story.add(ChannelOpened(at=story.now, channel="gpus")).wait(2)
    assert not [w for w in story.expect("starting").warnings if w.kind == "channel-missing"]


def test_a_rotated_log_takes_nothing_back() -> None:
    story = loading(4).working(range(4)).bar(30, 64).end("weights", [1], seconds=20.0).wait(5)
    story.add(LogMoved(at=story.now, how="rotated")).wait(5)
    story.expect("starting", phase="weights", bar=(30, 64), done={"weights": (1,)})
    story.bar(31, 64).wait(1)
    story.expect("starting", bar=(31, 64), done={"weights": (1,)})


def test_a_log_that_is_gone_and_comes_back_goes_on() -> None:
    story = loading(2).working([0, 1]).bar(3, 8).add(LogMoved(at=0.0, how="gone")).wait(30)
    story.add(LogMoved(at=story.now, how="back")).bar(5, 8).wait(1)
    story.expect("starting", bar=(5, 8), attempt=1)


def test_what_was_in_the_file_before_keeps_its_own_times() -> None:
    story = loading(2).working([0, 1])
    story.add(LinesRead(at=story.now - 500, size=9_000_000, lines=90_000, unknown=3)).wait(2)
    story.expect("starting", phase="weights")


def test_memory_of_a_stranger_before_the_start_is_named() -> None:
    story = Story().found(tp=2).spawn(2).working([0, 1])
    orphan = GpuApp(pid=4711, gpu=0, used=60_000, title="sglang::scheduler_TP0", user="ops", orphan=True)
    story.add(GpusSeen(at=story.now, gpus=(), apps=(orphan,))).wait(5)
    verdict = story.expect("starting", warnings=("gpu-memory-taken",))
    assert any("4711" in advisory.detail for advisory in verdict.warnings)
