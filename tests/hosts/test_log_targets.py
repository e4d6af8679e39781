"""Where servers write, asked of real processes with real files, pipes and terminals."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from fakehost import running
from loggedin import LoggedIn

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogTarget
from bringup.engines import load_engines
from bringup.hosts.discover import discover
from bringup.hosts.discover.log_targets import Descriptor, Surroundings, find_targets, log_target_for
from bringup.hosts.local import LocalHost

ENGINES = load_engines()
AROUND = Surroundings(pid=71, user="ann", login="bob")
CONTAINER = "0123456789ab" + "c" * 52


async def logs_of(host: LocalHost, pid: int) -> tuple[LogTarget, ...]:
    (server,) = (await discover(host, ENGINES, pid=pid, within=os.getpid())).servers
    return server.logs


async def test_one_file_for_both_streams(machine: LocalHost, tmp_path: Path) -> None:
    log = tmp_path / "a log;$(id)\n.txt"
    with log.open("wb") as file, running(tmp_path, stdout=file, stderr=subprocess.STDOUT) as tree:
        (target,) = await logs_of(machine, tree.pid)
    assert (target.path, target.kind) == (str(log), "file")
    assert "\n" not in target.note


async def test_two_files(machine: LocalHost, tmp_path: Path) -> None:
    out, err = tmp_path / "out.log", tmp_path / "err.log"
    with out.open("wb") as first, err.open("wb") as second, running(tmp_path, stdout=first, stderr=second) as tree:
        targets = await logs_of(machine, tree.pid)
    assert [(target.path, target.kind) for target in targets] == [(str(out), "file"), (str(err), "file")]


async def test_a_file_beside_nothing_is_the_log(machine: LocalHost, tmp_path: Path) -> None:
    log = tmp_path / "err.log"
    with log.open("wb") as file, running(tmp_path, stderr=file) as tree:
        targets = await logs_of(machine, tree.pid)
    assert [target.path for target in targets] == [str(log)]


async def test_a_deleted_file_is_read_through_the_descriptor(machine: LocalHost, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with log.open("wb") as file, running(tmp_path, stdout=file, stderr=file) as tree:
        tree.launcher.do("print", "before")
        log.unlink()
        (target,) = await logs_of(machine, tree.pid)
        assert target.kind == "deleted"
        assert target.path == f"/proc/{tree.pid}/fd/1"
        assert Path(target.path).read_bytes() == b"before\n"
    assert "deleted" in target.note


async def test_a_new_file_in_the_place_of_the_log_is_not_the_log(machine: LocalHost, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with log.open("wb") as file, running(tmp_path, stdout=file, stderr=file) as tree:
        log.unlink()
        log.write_text("another server's")
        (target,) = await logs_of(machine, tree.pid)
    assert target.kind == "deleted"


async def test_the_file_behind_a_pipe(machine: LocalHost, tmp_path: Path) -> None:
    log = tmp_path / "tee'd.log"
    first = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    tee = subprocess.Popen(["tee", str(log)], stdin=first.stdout, stdout=subprocess.DEVNULL)
    assert first.stdin is not None
    assert first.stdout is not None
    first.stdout.close()
    with running(tmp_path, stdout=first.stdin, stderr=subprocess.STDOUT) as tree:
        first.stdin.close()
        (target,) = await logs_of(machine, tree.pid)
    assert (target.path, target.kind) == (str(log), "file")
    assert f"tee (PID {tee.pid})" in target.note
    assert (first.wait(10), tee.wait(10)) == (0, 0)


async def test_a_pipe_that_leads_to_no_file(machine: LocalHost, tmp_path: Path) -> None:
    reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert reader.stdin is not None
    with running(tmp_path, stdout=reader.stdin, stderr=subprocess.STDOUT) as tree:
        reader.stdin.close()
        (target,) = await logs_of(machine, tree.pid)
    reader.wait(60)
    assert (target.path, target.kind) == ("", "pipe")
    assert f"cat (PID {reader.pid})" in target.note


async def test_a_terminal(machine: LocalHost, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    try:
        with running(tmp_path, stdout=theirs, stderr=theirs) as tree:
            (target,) = await logs_of(machine, tree.pid)
            name = os.ttyname(theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (target.path, target.kind) == ("", "terminal")
    assert name in target.note


async def test_no_log_at_all(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path) as tree:
        (target,) = await logs_of(machine, tree.pid)
    assert (target.path, target.kind) == ("", "null")


async def test_a_file_of_another_mount_namespace(machine: LocalHost, tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("mount namespaces need root and unshare")
    inner = tmp_path / "inner"
    inner.mkdir()
    script = f"mount -t tmpfs none {inner} && exec >{inner}/server.log 2>&1 && echo x && exec sleep 60"
    process = subprocess.Popen(["unshare", "-m", "sh", "-c", script])
    try:
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            assert process.poll() is None
        (target,) = await logs_of(machine, process.pid)
        assert (target.path, target.kind) == (f"/proc/{process.pid}/root{inner}/server.log", "file")
        assert Path(target.path).read_text() == "x\n"
    finally:
        process.kill()
        process.wait()


def only(descriptor: Descriptor, around: Surroundings = AROUND) -> LogTarget:
    (target,) = find_targets({1: descriptor}, around)
    return target


def test_what_may_not_be_read_says_who_could() -> None:
    hidden = only(Descriptor())
    assert hidden.kind == "denied"
    assert "cannot be read by bob. Log in as ann or root" in hidden.note
    closed = only(Descriptor("e", "/home/ann/server.log"))
    assert (closed.path, closed.kind) == ("", "denied")
    assert "/home/ann/server.log cannot be read by bob" in closed.note


def test_what_may_not_be_seen_of_a_unit_or_container_names_its_log() -> None:
    around = Surroundings(pid=71, user="root", login="bob", cgroup="0::/system.slice/llm.service\n")
    unit = only(Descriptor(), around)
    assert unit.kind == "denied"
    assert "where stdout of root's process 71 goes cannot be read by bob. log in as root, or" in unit.note.lower()
    assert unit.note.endswith("in the journal unless it says otherwise: journalctl -f -u llm.service")
    container = only(Descriptor(), replace(around, cgroup=f"0::/system.slice/docker-{CONTAINER}.scope"))
    assert container.note.endswith("docker logs -f 0123456789ab")


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="needs to become somebody else")
async def test_what_another_user_sees_of_a_process_of_root(tmp_path: Path) -> None:
    host = LoggedIn()
    with running(tmp_path) as tree:
        (target,) = await logs_of(host, tree.pid)
    await host.close()
    assert target.kind == "denied"
    assert f"Where stdout of root's process {tree.pid} goes cannot be read by nobody. Log in as root, or" in target.note


def test_a_socket_outside_of_a_unit_may_be_the_journals() -> None:
    assert "journalctl -f _PID=71" in only(Descriptor("so", "socket:[12]")).note


@pytest.mark.parametrize(
    ("flags", "cgroup", "kind", "command"),
    [
        ("so", "0::/system.slice/sglang.service\n", "journal", "journalctl -f -u sglang.service"),
        (
            "so",
            "0::/user.slice/user-7.slice/user@7.service/app.slice/llm.service",
            "journal",
            "--user -f -u llm.service",
        ),
        ("po", f"0::/system.slice/docker-{CONTAINER}.scope", "container", "docker logs -f 0123456789ab"),
        ("po", f"12:cpu:/docker/{CONTAINER}\n0::/", "container", "docker logs -f 0123456789ab"),
        ("po", f"0::/machine.slice/libpod-{CONTAINER}.scope", "container", "podman logs -f 0123456789ab"),
        ("po", f"0::/kubepods/burstable/pod12/{CONTAINER}", "container", "crictl logs -f 0123456789ab"),
    ],
)
def test_the_journal_and_containers_name_their_own_command(flags: str, cgroup: str, kind: str, command: str) -> None:
    around = Surroundings(pid=71, user="ann", login="bob", cgroup=cgroup)
    target = only(Descriptor(flags, "pipe:[12]" if "p" in flags else "socket:[12]"), around)
    assert (target.path, target.kind) == ("", kind)
    assert command in target.note


def test_tmux_is_named() -> None:
    around = Surroundings(pid=71, user="ann", login="bob", terminal="tmux")
    assert "tmux capture-pane" in only(Descriptor("co", "/dev/pts/3"), around).note


async def test_a_named_log(machine: LocalHost, tmp_path: Path) -> None:
    log = tmp_path / "it's $(a) log"
    log.touch()
    assert await log_target_for(machine, str(log)) == LogTarget(str(log), "file")
    # HOME is the test's own folder.
    assert (await log_target_for(machine, f"~/{log.name}")).path == str(log)


async def test_a_named_log_that_cannot_be_had(machine: LocalHost, tmp_path: Path) -> None:
    with pytest.raises(ChannelRefused, match=r"There is no .*nothing on box") as missing:
        await log_target_for(machine, str(tmp_path / "nothing"))
    assert missing.value.reason == "missing"
    with pytest.raises(ChannelRefused, match="is a folder"):
        await log_target_for(machine, str(tmp_path))
    with pytest.raises(ChannelRefused, match="not a plain file"):
        await log_target_for(machine, "/dev/null")
