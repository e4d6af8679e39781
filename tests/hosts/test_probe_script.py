"""The probe's script, run by the shells and awks there are, on real processes."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fakehost import Tree, make_shards, running
from probing import Probe, probing

from bringup.core.events import ChannelClosed, Process
from bringup.hosts.local import LocalHost

SHELLS = [("dash", "mawk"), ("busybox ash", "busybox"), ("bash", "gawk")]


@asynccontextmanager
async def watching(host: LocalHost, tree: Tree, **options: object) -> AsyncIterator[Probe]:
    async with probing(host, tree.pid, interval=0.2, **options) as probe:
        yield probe


def rank(pid: int, title: str) -> Callable[[dict[int, Process]], bool]:
    return lambda seen: pid in seen and seen[pid].title == title


def mapped(pid: int, *files: Path) -> Callable[[dict[int, Process]], bool]:
    return lambda seen: pid in seen and seen[pid].shards == tuple(map(str, files))


@pytest.mark.parametrize(("shell", "awk"), SHELLS)
async def test_ranks_and_their_shards(machine: LocalHost, tmp_path: Path, shell: str, awk: str) -> None:
    if shutil.which(shell.split()[0]) is None or shutil.which(awk) is None:
        pytest.skip(f"{shell} or {awk} is missing here")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "awk").symlink_to(str(shutil.which(awk)))
    one, two, three = make_shards(tmp_path / "it's a model", 3)
    with running(tmp_path, 2) as tree:
        first, second = tree.children
        tree.become_ranks()
        first.do("map", one)
        async with watching(machine, tree, shell=shell, path=programs) as probe:
            await probe.until(rank(first.pid, "sglang::scheduler_TP0"))
            seen = await probe.until(mapped(first.pid, one))
            assert set(seen) == {tree.pid, first.pid, second.pid}
            assert seen[second.pid].shards == ()
            assert seen[tree.pid].title.startswith("python3 -m sglang.launch_server --model-path")
            assert seen[first.pid].ppid == tree.pid
            assert seen[first.pid].rss_kb > 1000
            assert seen[first.pid].rchar > 0
            first.do("map", two, three)
            await probe.until(mapped(first.pid, one, two, three))
            first.do("unmap", one, two)
            await probe.until(mapped(first.pid, three))
            assert probe.decoder.skipped == 0


async def test_a_title_that_changes(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        (child,) = tree.children
        async with watching(machine, tree) as probe:
            await probe.until(lambda seen: child.pid in seen and "launch_server" in seen[child.pid].title)
            tree.become_ranks()
            await probe.until(rank(child.pid, "sglang::scheduler_TP0"))


async def test_a_title_that_changes_without_the_name(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        (child,) = tree.children
        async with watching(machine, tree) as probe:
            await probe.until(lambda seen: child.pid in seen)
            child.do("title", "VLLM::Worker_TP0")
            await probe.until(rank(child.pid, "VLLM::Worker_TP0"))


@pytest.mark.parametrize(
    "odd", ["a\nP\t1 S\nb", "x\tE\t0\ty", "; $(touch pwned) `id` '\"\\", "\x1b]0;title\x07é\xff", "100%s %n", "-n -e"]
)
async def test_names_that_look_like_anything(machine: LocalHost, tmp_path: Path, odd: str) -> None:
    with running(tmp_path, 1) as tree:
        (child,) = tree.children
        child.do("title", odd, f") S 1 1 {odd}"[:15])
        async with watching(machine, tree) as probe:
            seen = await probe.until(lambda seen: child.pid in seen and not seen[child.pid].title.startswith("["))
            process = seen[child.pid]
            assert process.ppid == tree.pid
            assert process.title.isprintable()
            assert process.comm.isprintable()
            assert process.title[:1] == odd[:1] or odd.startswith("\x1b")
            assert probe.decoder.skipped == 0
    assert not (tmp_path / "pwned").exists()


async def test_processes_that_come_and_go(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        (child,) = tree.children
        async with watching(machine, tree) as probe:
            await probe.until(lambda seen: child.pid in seen)
            spawned = child.do("spawn", "sleep", "60")
            seen = await probe.until(rank(spawned, "sleep 60"))
            assert seen[spawned].comm == "sleep"
            os.kill(spawned, 9)
            await probe.until(lambda seen: spawned in seen and seen[spawned].state == "Z")


async def test_a_launcher_that_leaves_its_children(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 2) as tree:
        async with watching(machine, tree) as probe:
            await probe.until(lambda seen: len(seen) == 3)
            tree.launcher.do("leave")
            gone = await probe.gone()
    assert gone.pid == tree.pid
    assert gone.orphans == tuple(sorted(child.pid for child in tree.children))


async def test_a_launcher_that_never_was(machine: LocalHost) -> None:
    async with probing(machine, 4_194_303, interval=0.2) as probe:
        assert (await probe.gone()).orphans == ()


async def test_who_listens_on_the_port(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        port = tree.children[0].do("listen")
        async with watching(machine, tree, port=port) as probe:
            listener = await probe.port(lambda seen: seen.pid is not None)
            assert (listener.port, listener.pid) == (port, tree.children[0].pid)
            tree.children[0].close()
            assert (await probe.port(lambda seen: seen.pid is None)).title == ""


async def test_a_stranger_on_the_port(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path) as tree, socket.create_server(("::1", 0), family=socket.AF_INET6) as stranger:
        async with watching(machine, tree, port=stranger.getsockname()[1]) as probe:
            listener = await probe.port(lambda seen: seen.pid is not None)
    assert listener.pid == os.getpid()
    own = Path("/proc/self/cmdline").read_bytes().replace(b"\0", b" ").decode().split()
    assert listener.title.split()[:2] == own[:2]


async def test_the_hugging_face_cache_shows_its_own_names(machine: LocalHost, tmp_path: Path) -> None:
    store = tmp_path / "models--org--it's"
    blob = store / "blobs" / ("ab" * 32)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"x" * 5000)
    name = store / "snapshots" / ("cd" * 20) / "model-00001-of-00002.safetensors"
    name.parent.mkdir(parents=True)
    name.symlink_to(f"../../blobs/{blob.name}")
    with running(tmp_path, 1) as tree:
        tree.children[0].do("map", name)
        async with watching(machine, tree) as probe:
            await probe.until(mapped(tree.children[0].pid, name))


async def test_another_users_server(machine: LocalHost, tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("becoming another user needs root and setpriv")
    tmp_path.chmod(0o755)
    with running(tmp_path, 1) as tree:
        shell = "setpriv --reuid 65534 --regid 65534 --clear-groups sh"
        async with watching(machine, tree, shell=shell) as probe:
            closed = await probe.event(ChannelClosed, lambda event: event.channel == "maps")
            seen = await probe.until(lambda seen: len(seen) == 2)
    assert "root's processes" in closed.why
    assert [process.shards for process in seen.values()] == [None, None]
    assert all(process.threads == 1 and process.user == "root" for process in seen.values())


async def test_looking_for_a_server(machine: LocalHost, tmp_path: Path) -> None:
    async with probing(machine, None, within=os.getpid()) as probe:
        await probe.until_candidates(lambda found: not found)
        with running(tmp_path, 1) as tree:
            await probe.until_candidates(lambda found: found == {tree.pid, tree.children[0].pid})
        await probe.until_candidates(lambda found: not found)


async def test_looking_below_one_process_only(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 2) as tree:
        async with probing(machine, None, within=tree.children[0].pid) as probe:
            await probe.until_candidates(lambda found: found == {tree.children[0].pid})
        async with probing(machine, None, within=os.getpid(), patterns=("no.such[word",)) as probe:
            await probe.until_candidates(lambda found: not found)
            assert probe.decoder.now is not None
