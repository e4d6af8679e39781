"""What the kernel log explains, and what it does not."""

import pytest
from timeline import ROOT, Timeline, loading, serving

from bringup.core.events import KernelLine, KernelSaid
from bringup.core.kernel import is_unexplained

OOM = "Out of memory: Killed process {} (python3) total-vm:8kB"
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def said(line: Timeline, kind: str, text: str, pid: int | None = None, ago: float = 1.0) -> Timeline:
    found = KernelLine(at=line.now - ago, kind=kind, text=text, pid=pid)  # type: ignore[arg-type]
    return line.add(KernelSaid(at=line.now, lines=(found,)))


def lost(ranks: int = 2) -> Timeline:
    return loading(ranks).spawn(ranks).wait(1).kill(1).sample()


def test_a_rank_that_the_oom_killer_took_is_failed_with_the_kernels_line():
    line = lost()
    assert is_unexplained(line.state, line.verdict())
    verdict = said(line, "oom", OOM.format(ROOT + 2), ROOT + 2).verdict()
    assert (verdict.state, verdict.failed_ranks) == ("failed", (1,))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.line_number, verdict.cause.rank) == ("oom", None, 1)
    assert verdict.cause.line == OOM.format(ROOT + 2)
    assert "main memory" in verdict.cause.advice
    assert verdict.summary == (
        "Failed: the kernel killed the process of TP1 because the machine ran out of memory while loading weights."
    )
    assert f"kernel: {OOM.format(ROOT + 2)}" in verdict.evidence
    assert not is_unexplained(line.state, verdict)


def test_a_launcher_that_was_taken_is_failed_not_stopped():
    line = loading(2).found().spawn(2).wait(1).kill(None).sample()
    assert line.verdict().state == "stopped"
    verdict = said(line, "oom", OOM.format(ROOT), ROOT).verdict()
    assert (verdict.state, verdict.cause and verdict.cause.kind) == ("failed", "oom")
    assert "the kernel killed a process of it" in verdict.summary


def test_what_the_engine_says_of_a_killed_child_is_explained_too():
    line = lost().fault("killed", "Rank 1 scheduler died (exit code: -9)", rank=None)
    verdict = said(line, "oom", OOM.format(ROOT + 2), ROOT + 2).verdict()
    assert (verdict.cause and verdict.cause.kind, verdict.failed_ranks) == ("oom", (1,))


def test_a_peer_that_complains_is_a_consequence():
    line = lost().fault("peer-lost", "Connection closed by peer", rank=0, secondary=True)
    assert is_unexplained(line.state, line.verdict())
    verdict = said(line, "oom", OOM.format(ROOT + 2), ROOT + 2).verdict()
    assert (verdict.cause and verdict.cause.kind, verdict.failed_ranks) == ("oom", (1,))


@pytest.mark.parametrize("how", ["sigterm", "sigint"])
def test_a_stop_that_was_asked_for_is_not_explained_by_the_kernel(how: str):
    line = loading(2).found().spawn(2).ending(how).wait(1).kill(None).kill(1).kill(0).sample()
    assert not is_unexplained(line.state, line.verdict())
    assert said(line, "oom", OOM.format(ROOT), ROOT).verdict().state == "stopped"


def test_an_error_of_its_own_comes_before_what_the_kernel_says():
    line = lost().fault("bad-checkpoint", rank=1)
    verdict = said(line, "oom", OOM.format(ROOT + 2), ROOT + 2).verdict()
    assert verdict.cause is not None
    assert verdict.cause.kind == "bad-checkpoint"


def test_a_line_of_an_earlier_start_or_without_a_time_proves_nothing():
    line = lost()
    for ago in (line.t + 3600, line.now):
        verdict = said(line, "oom", OOM.format(ROOT + 2), ROOT + 2, ago=ago).verdict()
        assert verdict.cause is not None
        assert verdict.cause.kind == "killed"


def test_a_fault_of_a_gpu_that_names_nobody_counts_near_the_loss_only():
    far = said(lost().wait(1000), "gpu-fault", XID, ago=500).verdict()
    assert far.cause is not None
    assert far.cause.kind == "killed"
    near = said(lost(), "gpu-fault", XID, ago=20).verdict()
    assert near.cause is not None
    assert (near.cause.kind, near.failed_ranks) == ("gpu-fault", (1,))
    assert "the GPU driver reported a fault (Xid)" in near.summary


def test_a_crash_counts_for_what_was_lost_first():
    crash = "python3[{}]: segfault at 0 ip 0 sp 0 error 4 in libcuda.so"
    verdict = said(lost(), "fault", crash.format(ROOT + 2), ROOT + 2).verdict()
    assert (verdict.cause and verdict.cause.kind, verdict.failed_ranks) == ("kernel", (1,))
    assert "the process of TP1 crashed" in verdict.summary
    torn_down = lost().wait(3).kill(0).sample()
    verdict = said(torn_down, "fault", crash.format(ROOT + 1), ROOT + 1).verdict()
    assert (verdict.cause and verdict.cause.kind, verdict.failed_ranks) == ("killed", (1,))


def test_a_stall_with_a_gpu_fault_of_its_own_process_has_a_cause():
    line = loading(2).spawn(2).wait(250).sample()
    assert is_unexplained(line.state, line.verdict())
    text = f"NVRM: Xid (PCI:0000:3b:00): 31, pid={ROOT + 1}, name=python3, MMU Fault"
    verdict = said(line, "gpu-fault", text, ROOT + 1).verdict()
    assert (verdict.state, verdict.cause and verdict.cause.kind) == ("stalled", "gpu-fault")
    assert not is_unexplained(line.state, verdict)


def test_while_all_is_well_nobody_asks():
    line = loading(2).spawn(2)
    assert not is_unexplained(line.state, line.verdict())
    line = serving(2).spawn(2).wait(1)
    assert not is_unexplained(line.state, line.verdict())
    line.kill(1).sample()
    assert is_unexplained(line.state, line.verdict())


def test_the_same_lines_are_not_taken_twice():
    line = lost()
    for _ in range(3):
        said(line, "oom", OOM.format(7), 7)
    assert len(line.state.kernel) == 1
