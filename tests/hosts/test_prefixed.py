"""Ways to a server by a command on a host, with stand-ins for the clients that really run what they are given."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from runtimes import Runtime
from runtimes import runtime as runtime
from waiting import alive, eventually, pid_in

from bringup.core.errors import ChannelRefused, Unreachable, UsageError
from bringup.hosts.local import LocalHost
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.ways import make_way

WAYS = [("docker", "llm"), ("kube", "default/llm-0"), ("kube", "default/llm-0/engine"), ("slurm", "4711@node1")]


async def entered(kind: str, name: str) -> PrefixedHost:
    return await PrefixedHost.enter(LocalHost("box"), make_way(kind, name))


@pytest.mark.parametrize(("kind", "name"), WAYS)
async def test_a_script_runs_there(kind: str, name: str, runtime: Runtime) -> None:
    host = await entered(kind, name)
    done = await host.run("""cat; echo "it's $((1+1))"; echo no >&2; exit 7""", stdin=b"given\n")
    assert (done.status, done.stdout, done.stderr) == (7, b"given\nit's 2\n", b"no\n")
    assert (await host.run("head -c 9000 /dev/zero", limit=100)).stdout == b"\0" * 100
    assert host.name.endswith(" on box")
    await host.close()


@pytest.mark.parametrize(("kind", "name"), WAYS)
async def test_a_stream_ends_there_when_it_is_left(kind: str, name: str, runtime: Runtime, tmp_path: Path) -> None:
    """What runs inside is no child of the client: it must end by itself."""
    host = await entered(kind, name)
    file = tmp_path / "pid"
    async with host.stream(f"echo begun; echo $$ >{file}; while :; do sleep 1; done") as stream:
        assert await stream.read() == b"begun\n"
        pid = await pid_in(file)
        assert alive(pid)
    await eventually(lambda: not alive(pid))
    await host.close()


async def test_a_stream_that_ends_by_itself_has_a_status(runtime: Runtime) -> None:
    host = await entered("docker", "llm")
    async with host.stream("echo one; echo two >&2; exit 3") as stream:
        assert await stream.read() == b"one\n"
        assert await stream.read() == b""
        done = await stream.status()
    assert (done.status, done.stderr) == (3, b"two\n")
    await host.close()


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("docker", "other", "No such container: other"),
        ("kube", "default/other", 'pods "other" not found'),
    ],
)
async def test_what_is_not_there_is_told_in_the_runtimes_words(
    kind: str, name: str, words: str, runtime: Runtime
) -> None:
    with pytest.raises(Unreachable, match=words):
        await entered(kind, name)


async def test_a_container_that_stops_closes_its_channels(runtime: Runtime) -> None:
    host = await entered("docker", "llm")
    runtime.tell("down")
    with pytest.raises(ChannelRefused, match="is not running"):
        await host.run("true")
    with pytest.raises(ChannelRefused, match="is not running"):
        async with host.stream("true") as stream:
            await stream.read()
    await host.close()


async def test_a_container_without_a_shell(runtime: Runtime) -> None:
    runtime.tell("noshell")
    with pytest.raises(Unreachable, match="Nothing can be run in the docker container llm on box") as told:
        await entered("docker", "llm")
    assert "no shell" in told.value.hint


async def test_a_client_that_is_not_installed(runtime: Runtime) -> None:
    (runtime.folder / "bin" / "srun").unlink()
    with pytest.raises(Unreachable, match=r"srun: .*not found"):
        await entered("slurm", "4711@node1")


async def test_a_file_inside_is_followed_by_its_inode(runtime: Runtime, tmp_path: Path) -> None:
    host = await entered("docker", "llm")
    log = tmp_path / "it's a log"
    log.write_bytes(bytes(range(256)) * 40)
    file = await host.open(str(log))
    look = await file.look(5000, 300)
    assert (look.data, look.size, look.head) == (log.read_bytes()[5000:5300], 10240, bytes(range(64)))
    assert (look.moved, look.exists) == (False, True)
    assert look.written == pytest.approx(log.stat().st_mtime, abs=1)
    log.rename(tmp_path / "old")
    assert (await file.look(0, 1)).exists is False
    log.write_bytes(b"new")
    assert (await file.look(0, 1)).moved
    log.unlink()
    with pytest.raises(ChannelRefused, match="does not exist") as missing:
        await host.open(str(log))
    assert missing.value.reason == "missing"
    await host.close()


async def test_no_connection_leads_inside_so_that_a_program_there_is_asked(runtime: Runtime) -> None:
    host = await entered("docker", "llm")
    with pytest.raises(ChannelRefused) as refused:
        await host.connect("127.0.0.1", 8000)
    assert refused.value.reason == "forbidden"
    await host.close()


async def test_a_unit_is_its_host_and_has_a_main_process(runtime: Runtime) -> None:
    host = await entered("unit", "sglang.service")
    assert await host.main_pid() == 0
    runtime.tell("mainpid", "4242")
    assert await host.main_pid() == 4242
    assert (await host.run("echo $0")).stdout != b""
    assert await (await entered("docker", "llm")).main_pid() is None
    await host.close()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("docker", ""),
        ("docker", "-rm"),
        ("docker", "a b"),
        ("docker", "a;reboot"),
        ("kube", "pod"),
        ("kube", "ns/pod/container/more"),
        ("kube", "ns/$(id)"),
        ("slurm", "job"),
        ("slurm", "4711@no de"),
        ("unit", "-f"),
        ("unit", "a\nb"),
    ],
)
def test_what_cannot_be_a_name(kind: str, name: str) -> None:
    with pytest.raises(UsageError, match=rf"cannot be what --{kind} names"):
        make_way(kind, name)


def test_commands_are_whole() -> None:
    user = make_way("unit", "user/llm@1.service")
    assert user.log_since("", 0) == ("journalctl --user --no-pager -q -f -n all -o short-iso-precise  -u llm@1.service")
    assert "--since=@7" in user.log_since("1970-01-01T00:00:07Z", 7)
    kube = make_way("kube", "default/llm-0/engine")
    assert kube.run == "kubectl exec -i -n default llm-0 -c engine --"
    assert "--since-time=1970-01-01T00:00:07Z" in kube.log_since("1970-01-01T00:00:07Z", 7)


async def test_a_read_that_waits_is_ended_with_the_host(runtime: Runtime) -> None:
    host = await entered("docker", "llm")
    async with host.stream("sleep 60") as stream:
        reading = asyncio.ensure_future(stream.read())
        await asyncio.sleep(0)
        await host.close()
        with pytest.raises(ChannelRefused):
            await reading
