"""What stands in the way of a start is said before it fails: GPU memory, the port, and what cannot be told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from timeline import ROOT, START, Timeline, loading, serving

from bringup.core.events import Checkpoint, CheckpointSeen, Gpu, GpuApp, GpusSeen, PortSeen, Searching
from bringup.core.preflight import Holder, called, holders, in_short

TITLE = "sglang::scheduler_TP{}"


def smi(line: Timeline, *apps: GpuApp, gpus: int = 8, idle: int = 500) -> Timeline:
    used = {gpu: idle + sum(app.used or 0 for app in apps if app.gpu == gpu) for gpu in range(gpus)}
    rows = tuple(Gpu(index=gpu, used=mib, total=143_771) for gpu, mib in used.items())
    return line.add(GpusSeen(at=line.now, gpus=rows, apps=apps))


def waiting(*apps: GpuApp, idle: int = 500) -> Timeline:
    line = Timeline()
    return smi(line.add(Searching(at=line.now, seeks="Looking.")), *apps, idle=idle)


def orphan(gpu: int, pid: int | None = None, used: int = 61_000) -> GpuApp:
    return GpuApp(pid or 4000 + gpu, gpu, used, TITLE.format(gpu), "root", orphan=True, since=START - 3600)


def warnings(line: Timeline, kind: str = "gpu-memory-taken") -> list[str]:
    return [one.detail for one in line.verdict().warnings if one.kind == kind]


def test_nothing_is_in_the_way_of_free_gpus() -> None:
    line = waiting()
    assert line.verdict().state == "waiting"
    assert line.verdict().warnings == ()


def test_orphans_are_told_before_the_start() -> None:
    line = waiting(*(orphan(gpu) for gpu in (0, 1, 2, 5)), GpuApp(77, 6, 8_000, "python train.py", "ada"))
    assert warnings(line) == [
        "GPUs 0-2 and 5: 238.3 GiB are held by 4 orphans, PID 4000-4002 and 4005",
        "GPU 6: 7.8 GiB are held by ada's process, PID 77 (python train.py)",
    ]
    assert "CUDA_VISIBLE_DEVICES" in line.verdict().warnings[0].advice


def test_a_process_on_several_gpus_is_one() -> None:
    line = waiting(orphan(0, pid=7), orphan(1, pid=7))
    assert holders(line.state) == (
        Holder(7, (0, 1), 122_000, orphan=True, title=TITLE.format(0), user="root", since=START - 3600),
    )
    assert warnings(line) == ["GPUs 0-1: 119.1 GiB are held by an orphan, PID 7 (sglang::scheduler_TP0)"]


@pytest.mark.parametrize(("used", "told"), [(1023, 0), (1024, 1), (None, 0)])
def test_what_a_desktop_holds_is_no_warning(used: int | None, told: int) -> None:
    assert len(warnings(waiting(GpuApp(9, 0, used, "Xorg", "root")))) == told


def test_memory_without_a_process_is_told_too() -> None:
    assert warnings(waiting(idle=4_095)) == []
    assert warnings(waiting(idle=12_288)) == ["GPUs 0-7: 96.0 GiB are held by no process that can be seen from here"]


def test_memory_of_a_process_that_the_driver_does_not_measure_is_not_unnamed() -> None:
    assert warnings(waiting(*(GpuApp(9 + gpu, gpu, None, "x") for gpu in range(8)), idle=40_000)) == []


@pytest.mark.parametrize(
    ("pid", "title", "told"),
    [
        (812, "nginx: master", ["Port 30000 is taken: PID 812 (nginx: master) listens on it"]),
        (0, "", ["Port 30000 is taken: a process that cannot be seen from here listens on it"]),
        (None, "", []),
    ],
)
def test_a_port_that_is_taken(pid: int | None, title: str, told: list[str]) -> None:
    line = waiting()
    line.add(PortSeen(at=line.now, port=30_000, pid=pid, title=title))
    assert warnings(line, "port-conflict") == told
    if told:
        assert "another port" in line.verdict().warnings[0].advice


def test_an_orphan_is_told_while_there_is_time() -> None:
    """The ranks import modules; the memory is not asked for yet."""
    line = smi(Timeline().found(tp=8).launch(tp=8).spawn(8), orphan(2))
    assert line.verdict().state == "starting"
    assert warnings(line) == ["GPU 2: 59.6 GiB are held by an orphan, PID 4002 (sglang::scheduler_TP2)"]


def test_the_servers_own_processes_are_nobodys_warning() -> None:
    own = (GpuApp(ROOT + 1 + rank, rank, 60_000, TITLE.format(rank)) for rank in range(8))
    assert warnings(smi(loading().spawn(8), *own)) == []


@pytest.mark.parametrize(("ranks", "told"), [(8, 1), (4, 0)])
def test_somebody_elses_process_matters_where_its_gpu_is_needed(ranks: int, told: int) -> None:
    line = Timeline().found(tp=ranks).launch(tp=ranks).spawn(ranks)
    assert len(warnings(smi(line, GpuApp(77, 7, 30_000, "train", "ada")))) == told
    smi(line, GpuApp(77, 7, 30_000, "train", "ada"), GpuApp(ROOT + 1, 7, 2_000))
    assert len(warnings(line)) == 1, "a rank of this server is on that GPU"


def test_a_server_that_serves_is_left_alone() -> None:
    line = smi(serving(), GpuApp(77, 0, 8_000, "train", "ada"), orphan(1))
    assert line.verdict().state == "ready"
    assert warnings(line) == []


def test_what_was_said_of_the_port_is_not_said_of_the_next_server() -> None:
    line = waiting()
    line.add(PortSeen(at=line.now, port=30_000, pid=812, title="nginx"))
    assert line.found(port=30_000).state.port_pid is None


def test_a_disk_that_cannot_be_told_is_a_missing_channel() -> None:
    seen = Checkpoint(role="target", folder="/models/a", present=("model.safetensors",), size=5)
    line = Timeline().found().launch()
    line.add(CheckpointSeen(at=line.now, checkpoint=seen))
    assert "storage: the kind of disk below /models/a cannot be told" in warnings(line, "channel-missing")
    line.add(CheckpointSeen(at=line.now, checkpoint=replace(seen, filesystem="ext4")))
    assert not [text for text in warnings(line, "channel-missing") if text.startswith("storage")]


def test_a_program_is_called_without_its_folder() -> None:
    assert called("/opt/venv/bin/python3 -m http.server 30000") == "python3 -m http.server 30000"
    assert called("sglang::scheduler_TP0") == "sglang::scheduler_TP0"
    assert called("nginx: master process /usr/sbin/nginx") == "nginx: master process /usr/sbin/nginx"
    assert len(called("x" * 500)) == 48


def test_numbers_in_short() -> None:
    assert in_short([2]) == "2"
    assert in_short([0, 1, 2, 5]) == "0-2 and 5"
    assert in_short([1, 3, 5, 7, 9, 11, 13, 15]) == "1, 3, 5, 7, 9 and 3 more"
