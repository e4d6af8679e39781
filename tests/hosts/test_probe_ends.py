"""The probe's nvidia-smi, well and sick, and that nothing of a probe outlives its channel."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from fakehost import UUIDS, make_program, make_smi, running
from probing import probing
from waiting import alive, eventually

from bringup.core.events import ChannelClosed, GpusSeen, ProcessesSeen
from bringup.engines import load_engines
from bringup.hosts.discover import discover
from bringup.hosts.local import LocalHost
from bringup.hosts.probe import script
from bringup.hosts.ssh import SshHost

GPU = f"0, {UUIDS[0]}, 6464, 143771, 3, 125.76, 700.00, 40, NVIDIA H200\n"
GONE = 4_194_303
"""A process number that no Linux gives out."""


def session(leader: int) -> set[int]:
    """The living processes of a session."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("latin-1").rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.add(int(path.parent.name))
    return found


def sessions_of_children() -> set[int]:
    """Sessions led by children of this process."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("latin-1").rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[3] == path.parent.name:
            found.add(int(fields[3]))
    return found


async def test_gpus_of_ranks(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        tree.become_ranks()
        (child,) = tree.children
        path = make_smi(tmp_path, GPU, f"{child.pid}, {UUIDS[0]}, 6454, sglang::scheduler, with\na line, end\n").parent
        async with probing(machine, tree.pid, path=path) as probe:
            await probe.until(lambda seen: child.pid in seen)
            seen = await probe.event(GpusSeen)
    assert [(gpu.index, gpu.used, gpu.utilization, gpu.power) for gpu in seen.gpus] == [(0, 6464, 3, 125.76)]
    (app,) = seen.apps
    assert (app.pid, app.gpu, app.used, app.orphan) == (child.pid, 0, 6454, False)
    assert app.user == subprocess.check_output(["id", "-un"], text=True).strip()
    assert abs(seen.at - time.time()) < 60


async def test_memory_that_a_dead_server_left(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        (child,) = tree.children
        tree.launcher.do("leave")
        await eventually(lambda: not alive(tree.pid))
        path = make_smi(tmp_path, GPU, f"{child.pid}, {UUIDS[0]}, 6454, sglang::scheduler_TP0\n").parent
        async with probing(machine, GONE, path=path) as probe:
            (app,) = (await probe.event(GpusSeen)).apps
    assert (app.pid, app.orphan) == (child.pid, True)


async def test_a_driver_that_fails_says_why(machine: LocalHost, tmp_path: Path) -> None:
    failing = "echo 'NVIDIA-SMI has failed because it could not communicate with the driver.' >&2; exit 9\n"
    path = make_program(tmp_path, "nvidia-smi", failing).parent
    async with probing(machine, GONE, path=path) as probe:
        closed = await probe.event(ChannelClosed)
    assert closed.channel == "gpus"
    assert "could not communicate" in closed.why


async def test_no_nvidia_smi(machine: LocalHost) -> None:
    if shutil.which("nvidia-smi") is not None:
        pytest.skip("this machine has one")
    async with probing(machine, GONE) as probe:
        closed = await probe.event(ChannelClosed, lambda event: event.channel == "gpus")
    assert "no nvidia-smi" in closed.why


@pytest.mark.parametrize("shell", ["dash", "busybox ash", "bash"])
async def test_one_that_hangs_holds_up_nothing_and_is_ended(machine: LocalHost, tmp_path: Path, shell: str) -> None:
    hanging = f"trap '' TERM INT\necho $$ >>{tmp_path}/asked\nexec sleep 1000\n"
    path = make_program(tmp_path / "bin", "nvidia-smi", hanging).parent
    asked = tmp_path / "asked"
    async with probing(machine, GONE, shell=shell, path=path, patience=1, interval=0.2) as probe:
        await eventually(asked.exists)
        for _ in range(3):
            await probe.event(ProcessesSeen)
        closed = await probe.event(ChannelClosed)
        # The second question is asked only after the first one was ended.
        await eventually(lambda: len(asked.read_text().split()) > 1)
        first = int(asked.read_text().split()[0])
        await eventually(lambda: not Path(f"/proc/{first}").exists())
    assert closed.channel == "gpus"
    assert "did not answer within 1 s" in closed.why


@pytest.mark.parametrize("root", [os.getpid(), None], ids=["watching", "looking"])
async def test_nothing_is_left_when_the_channel_closes(machine: LocalHost, tmp_path: Path, root: int | None) -> None:
    path = make_program(tmp_path, "nvidia-smi", "exec sleep 1000\n").parent
    before = sessions_of_children()
    async with probing(machine, root, path=path) as probe:
        await probe.event(ProcessesSeen) if root else await probe.until_candidates(lambda found: True)
        (leader,) = sessions_of_children() - before
        await eventually(lambda: len(session(leader)) > 3)
    await eventually(lambda: not session(leader))


@pytest.mark.parametrize("root", [os.getpid(), None], ids=["watching", "looking"])
def test_nothing_is_left_when_nobody_reads(tmp_path: Path, root: int | None) -> None:
    make_smi(tmp_path, GPU, "")
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    process = subprocess.Popen(
        ["sh", "-c", script(root)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    while b"Q\t" not in process.stdout.readline():
        assert process.poll() is None
    process.stdout.close()
    process.wait(60)
    deadline = time.monotonic() + 60
    while session(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


async def test_over_ssh_it_is_the_same(ssh_host: SshHost, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        tree.become_ranks()
        (child,) = tree.children
        (server,) = (await discover(ssh_host, load_engines(), within=os.getpid())).servers
        assert server.pid == tree.pid
        async with probing(ssh_host, tree.pid, interval=0.2) as probe:
            seen = await probe.until(lambda seen: child.pid in seen and seen[child.pid].title.startswith("sglang::"))
            assert seen[tree.pid].start == server.start
            assert samplers(tree.pid)
        # The awk that samples has the launcher's number on its command line.
        await eventually(lambda: not samplers(tree.pid))


def samplers(root: int) -> list[int]:
    """The processes of probes that watch this launcher."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"\0root=%d\0" % root in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
