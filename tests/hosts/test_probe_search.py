"""The probe before there is a server: who holds GPU memory, who listens on the port, who may become the server."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest
from fakehost import UUIDS, make_program, make_smi, running
from probing import probing

from bringup.core.events import ChannelClosed, GpusSeen
from bringup.hosts.local import LocalHost
from bringup.hosts.probe import ProbeDecoder

GPU = f"0, {UUIDS[0]}, 61440, 143771, 0, 78.10, 700.00, 31, NVIDIA H200\n"


async def test_who_holds_gpu_memory(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        tree.become_ranks()
        pid = tree.children[0].pid
        path = make_smi(tmp_path, GPU, f"{pid}, {UUIDS[0]}, 60000, python3\n").parent
        async with probing(machine, None, within=os.getpid(), path=path, interval=0.2) as probe:
            (app,) = (await probe.event(GpusSeen)).apps
    assert (app.pid, app.gpu, app.used, app.title) == (pid, 0, 60_000, "sglang::scheduler_TP0")
    assert app.user == Path(f"/proc/{os.getpid()}").owner()
    assert abs(app.since - time.time()) < 60
    assert not app.orphan


async def test_a_process_that_ended_has_neither_name_nor_age(machine: LocalHost, tmp_path: Path) -> None:
    path = make_smi(tmp_path, GPU, f"4194303, {UUIDS[0]}, 60000, [Not Found]\n").parent
    async with probing(machine, None, within=os.getpid(), path=path, interval=0.2) as probe:
        (app,) = (await probe.event(GpusSeen)).apps
    assert (app.title, app.user, app.since, app.orphan) == ("", "", 0.0, False)


@pytest.mark.parametrize("shell", ["dash", "bash"])
async def test_who_listens_on_the_port(machine: LocalHost, shell: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        async with probing(machine, None, within=os.getpid(), port=port, interval=0.1, shell=shell) as probe:
            taken = await probe.port(lambda seen: seen.pid is not None)
            listener.close()
            free = await probe.port(lambda seen: seen.pid is None)
    assert (taken.port, taken.pid) == (port, os.getpid())
    assert taken.title.startswith(Path("/proc/self/cmdline").read_bytes().split(b"\0")[0].decode())
    assert taken.at > 1_000_000_000
    assert (free.port, free.title) == (port, "")


async def test_gpus_are_not_asked_where_somebody_else_does(machine: LocalHost, tmp_path: Path) -> None:
    path = make_program(tmp_path, "nvidia-smi", f"touch {tmp_path}/asked\n").parent
    async with probing(machine, None, within=os.getpid(), path=path, interval=0.1, patience=0) as probe:
        for _ in range(3):
            await probe.until_candidates(lambda found: True)
    assert not (tmp_path / "asked").exists()
    assert not [row for row in probe._waiting if isinstance(row, ChannelClosed)]


def test_titles_and_ages_from_rows() -> None:
    rows = (
        "K\t1000500.250\t500.00\nH\tLinux\t100\t4096\t+0000\tann\tgpu-a\nG\t500.00\n"
        f"g\t{GPU}t\t71\tsglang::scheduler_TP0 \nt\tx\ty\na\t1/40/30000\tann\t71, {UUIDS[0]}, 5, python\n"
        f"a\t55/40\tbob\t72, {UUIDS[0]}, 6, /usr/bin/train\nQ\t500.10\n"
    )
    decoder = ProbeDecoder()
    (seen,) = [event for event in decoder.feed(rows.encode()) if isinstance(event, GpusSeen)]
    first, second = seen.apps
    assert (first.title, first.since, first.orphan) == ("sglang::scheduler_TP0", 1_000_300.25, True)
    assert (second.title, second.since, second.orphan) == ("/usr/bin/train", 0.0, False)
    assert decoder.skipped == 1
