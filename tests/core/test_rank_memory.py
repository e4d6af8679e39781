"""GPU memory as a meter of the load: only where it grows with it, and only against a size that somebody named."""

from dataclasses import dataclass

import pytest
from timeline import FOLDER, ROOT, START, Timeline, tp

from bringup.core.events import (
    Checkpoint,
    CheckpointSeen,
    Fact,
    Gpu,
    GpuApp,
    GpusSeen,
    Launch,
    PhaseBegan,
    PhaseEnded,
)

GIB = 1024
CONTEXT = 600
"""MiB of the driver's context, there before the load."""


@dataclass
class Machine(Timeline):
    """A start on GPUs whose memory is told rank by rank."""

    def hold(self, *used: float) -> "Machine":
        """Let a second pass and nvidia-smi answer with GiB of weights beside the context."""
        apps = tuple(GpuApp(ROOT + 1 + rank, rank, CONTEXT + round(gib * GIB)) for rank, gib in enumerate(used))
        gpus = tuple(Gpu(app.gpu, used=app.used, total=80 * GIB) for app in apps)
        return self.wait(1).add(GpusSeen(at=self.now, gpus=gpus, apps=apps))

    def sized(self, gib: float, **more) -> "Machine":
        size = round(gib * 1024**3)
        return self.add(CheckpointSeen(at=self.now, checkpoint=Checkpoint("target", FOLDER, size=size, **more)))


def vllm(ranks: int = 4, **more) -> Machine:
    """vLLM 0.12 and later: the first worker alone prints what it does."""
    line = Machine().launch(engine="vllm", tp=ranks, **more).spawn(ranks, title="VLLM::Worker_TP{}")
    return line.hold(*[0] * ranks).begin("weights", [0])


def grow(line: Machine, *rates: float, seconds: int = 12) -> Machine:
    for second in range(1, seconds + 1):
        line.hold(*[rate * second for rate in rates])
    return line


def test_memory_that_grows_with_the_load_is_its_meter():
    line = grow(vllm().sized(160), 1.5, 1.5, 1.5, 2.0)
    views = line.verdict().ranks
    assert [view.source for view in views] == ["memory"] * 4
    assert [round(view.progress or 0, 2) for view in views] == [0.45, 0.45, 0.45, 0.6]
    assert views[3].note == "holds 24.0 of about 40.0 GiB"


def test_memory_never_says_that_a_load_is_done():
    assert grow(vllm().sized(160), 1.5, 1.5, 1.5, 1.5, seconds=40).verdict().ranks[1].progress == 0.99


@pytest.mark.parametrize("steps", [[40], [20, 40], [10, 20, 30, 40]])
def test_parameters_that_are_allocated_at_once_are_no_load(steps):
    line = vllm().sized(160)
    for gib in [*steps, *[40] * 30]:
        line.hold(gib, gib, gib, gib)
    assert {(view.progress, view.source) for view in line.verdict().ranks} == {(None, "none")}


def test_sglang_allocates_first_so_its_memory_is_no_meter():
    line = Machine().launch(tp=2).spawn(2).hold(0, 0).begin("weights", [0, 1]).sized(80)
    assert [view.source for view in grow(line, 1.5, 1.5).verdict().ranks] == ["none", "none"]


def test_without_an_expectation_there_is_no_share():
    assert [view.source for view in grow(vllm(), 1.5, 1.5, 1.5, 1.5).verdict().ranks] == ["none"] * 4


def test_an_expectation_that_comes_too_late_makes_no_meter_of_what_is_nearly_full():
    line = grow(vllm(), 3, 3, 3, 3).sized(160)
    assert line.hold(39, 39, 39, 39).verdict().ranks[2].source == "none"


def test_a_load_that_was_running_before_the_first_look_has_no_known_beginning():
    line = Machine().launch(engine="vllm", tp=2).spawn(2, title="VLLM::Worker_TP{}").begin("weights", [0]).sized(80)
    assert [view.source for view in grow(line.wait(60), 1.5, 1.5).verdict().ranks] == ["none", "none"]


def test_maps_go_before_memory_and_memory_before_nothing():
    line = grow(vllm().sized(160), 1.5, 1.5, 1.5, 1.5)
    line.map(1, 1, of=10).sample().wait(1).map(1, 2, of=10).sample().wait(1).map(1, *range(9, 10), of=10).sample()
    assert [view.source for view in line.verdict().ranks] == ["memory", "maps", "memory", "memory"]


def test_the_bar_of_rank_0_goes_before_its_memory():
    line = grow(vllm().sized(160).bar(1, 10), 1.5, 1.5, 1.5, 1.5)
    assert [view.source for view in line.verdict().ranks] == ["log", "memory", "memory", "memory"]


def test_the_log_of_the_engine_can_name_the_size():
    line = vllm().add(
        Fact(at=START, name="checkpoint", value="EXT4. Checkpoint size: 160.00 GiB. Available RAM: 9 GiB.")
    )
    assert round(grow(line, 1.5, 1.5, 1.5, 1.5).verdict().ranks[1].progress or 0, 2) == 0.45


def test_what_a_peer_measured_goes_before_the_size_of_the_files():
    line = vllm().sized(160).begin("weights", [1])
    line.add(PhaseEnded(at=line.now, labels=tp(0), phase="weights", gib=30.0))
    assert round(grow(line, 1.5, 1.5, 1.5, 1.5).verdict().ranks[1].progress or 0, 2) == 0.6


def test_what_an_earlier_start_in_the_log_measured_is_an_expectation():
    line = vllm()
    line.add(PhaseEnded(at=line.now, labels=tp(0), phase="weights", gib=36.0)).fault("oom", rank=1)
    line.add(Launch(at=line.now, engine="vllm", model=FOLDER, tp=4)).hold(0, 0, 0, 0).sample().hold(0, 0, 0, 0)
    line.add(PhaseBegan(at=line.now, labels=tp(0), phase="weights"))
    assert round(grow(line, 1.5, 1.5, 1.5, 1.5).verdict().ranks[2].progress or 0, 2) == 0.5


def test_pipeline_stages_share_the_files_and_replicas_do_not():
    line = Machine().launch(engine="vllm", tp=2, pp=2).spawn(4, title="VLLM::Worker_PP0_TP{}").sized(160)
    line.tree[103] = line.tree[103].__class__(pid=103, ppid=ROOT, start=2, title="VLLM::Worker_PP1_TP0", state="R")
    line.tree[104] = line.tree[103].__class__(pid=104, ppid=ROOT, start=2, title="VLLM::Worker_PP1_TP1", state="R")
    line.sample().hold(0, 0, 0, 0).begin("weights", [0])
    assert [round(view.progress or 0, 2) for view in grow(line, 1.5, 1.5, 1.5, 1.5).verdict().ranks] == [0.45] * 4


def test_a_rank_far_behind_in_memory_is_a_straggler():
    line = grow(vllm().sized(160), 2, 2, 0.5, 2)
    assert [view.rank for view in line.verdict().ranks if view.straggler] == [2]


def test_memory_that_is_given_back_takes_nothing_from_the_bar():
    line = grow(vllm().sized(160), 2, 2, 2, 2)
    before = line.verdict().ranks[1].progress
    assert line.hold(1, 1, 1, 1).verdict().ranks[1].progress == before
