"""Every channel with what it says, since when it has been quiet, and why it cannot be had."""

from timeline import ROOT, Timeline, loading, serving

from bringup.core.events import (
    ChannelClosed,
    ChannelOpened,
    HttpAnswered,
    KernelLine,
    KernelSaid,
    PortSeen,
    Process,
)
from bringup.core.verdict import ChannelView, Verdict

ALL = ("log", "bar", "processes", "maps", "cpu", "compilers", "gpus", "memory", "port", "http", "kernel")


def view(verdict: Verdict, channel: str) -> ChannelView:
    return next(known for known in verdict.channels if known.channel == channel)


def test_all_channels_are_there_from_the_first_moment_on():
    channels = Timeline().verdict().channels
    assert tuple(known.channel for known in channels) == ALL
    assert all(known.heard_s is None and known.moved_s is None and known.open for known in channels)


def test_each_says_when_it_answered_and_when_it_showed_work():
    line = loading(2).spawn(2).bar(3, 24).gpus(0, 0)
    line.wait(5).fault_in(0).map(0, 3, of=24).sample()
    line.wait(7).sample().gpus(0, 100, used=9500)
    verdict = line.verdict(2)
    assert (view(verdict, "bar").says, view(verdict, "bar").moved_s) == ("3 of 24 shards of target", 14)
    assert (view(verdict, "processes").heard_s, view(verdict, "processes").moved_s) == (2, 9)
    assert (view(verdict, "maps").says, view(verdict, "maps").moved_s) == ("TP0 maps shard 3 of 24", 9)
    assert (view(verdict, "memory").says, view(verdict, "memory").moved_s) == ("19 of 281 GiB of the GPUs in use", 2)
    assert view(verdict, "gpus").says == "2 GPUs, 1 at full utilisation, 260 of 1400 W"
    assert view(verdict, "gpus").moved_s is None
    assert view(verdict, "log").moved_s == 14


def test_a_gpu_that_computes_shows_work():
    line = loading(1).spawn(1).wait(3).gpus(90, power=600.0)
    assert view(line.verdict(4), "gpus").moved_s == 4


def test_processes_in_odd_states_are_counted():
    line = loading(4).spawn(4).change(1, state="D").change(2, state="D").change(3, state="T").wait(1).sample()
    assert view(line.verdict(), "processes").says == "5 processes, 2 in state D, 1 in state T"


def test_cpu_is_told_in_cores():
    line = loading(2).spawn(2).wait(1).burn(0, 1, cores=0.75).sample()
    found = view(line.verdict(3), "cpu")
    assert found.says.startswith("1.5 cores by 2 ranks")
    assert (found.heard_s, found.moved_s) == (3, 3)


def test_compilers_are_named():
    line = loading(1).spawn(1).wait(1)
    assert view(line.verdict(), "compilers").says == "none runs"
    for pid, comm in ((500, "nvcc"), (501, "cicc"), (502, "cicc")):
        line.tree[pid] = Process(pid=pid, ppid=ROOT + 1, start=5, title=comm, comm=comm)
    found = view(line.sample().verdict(4), "compilers")
    assert (found.says, found.moved_s) == ("3 running: cicc and nvcc", 4)


def test_port_and_http_tell_who_and_what():
    line = serving(1).add(PortSeen(at=0.0, port=30000, pid=None))
    assert view(line.verdict(), "port").says == "nobody listens on 30000 yet"
    line.add(PortSeen(at=line.now, port=30000, pid=7, title="nginx: worker"))
    line.add(HttpAnswered(at=line.now, path="/health", status=503))
    verdict = line.verdict(6)
    assert view(verdict, "port").says == "nginx: worker listens on 30000"
    assert (view(verdict, "http").says, view(verdict, "http").heard_s) == ("HTTP 503 on /health", 6)
    assert view(verdict, "http").moved_s is None
    line.add(HttpAnswered(at=line.now, path="/health", status=200))
    assert view(line.verdict(2), "http").moved_s == 2


def test_the_kernel_log_is_silent_until_something_is_unexplained():
    line = loading(1).spawn(1)
    assert view(line.verdict(), "kernel").says == "not asked: nothing went without a word"
    line.add(KernelSaid(at=line.now, lines=()))
    assert (view(line.verdict(3), "kernel").says, view(line.verdict(3), "kernel").heard_s) == (
        "nothing about this server",
        3,
    )
    line.add(KernelSaid(at=line.now, lines=(KernelLine(at=line.now, kind="gpu-fault", text="NVRM: Xid 79"),)))
    assert view(line.verdict(), "kernel").says == "NVRM: Xid 79"


def test_what_cannot_be_had_gives_its_reason_and_takes_what_hangs_on_it_along():
    line = loading(1).spawn(1).gpus(0).wait(1)
    line.add(ChannelClosed(at=line.now, channel="processes", why="Another user's processes."))
    line.add(ChannelClosed(at=line.now, channel="gpus", why="There is no nvidia-smi."))
    verdict = line.verdict()
    for channel in ("processes", "cpu", "compilers"):
        found = view(verdict, channel)
        assert (found.open, found.heard_s, found.says) == (False, None, "Another user's processes.")
    assert [view(verdict, channel).open for channel in ("gpus", "memory", "log")] == [False, False, True]
    line.add(ChannelOpened(at=line.now, channel="gpus"))
    assert view(line.verdict(), "memory").open


def test_each_rank_says_when_each_of_its_channels_last_moved():
    line = loading(2).spawn(2).wait(5).fault_in(1).sample().wait(3).burn(1).sample()
    signs = dict(line.verdict(1).ranks[1].signs)
    assert (signs["cpu"], signs["faults"], signs["log"]) == (1, 4, 9)
