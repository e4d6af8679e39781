"""The real docker client against a daemon of ours: its options, its streams, its exit codes and its refusals."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from dockerstub import Daemon, daemon
from simulated import needs_linux
from waiting import alive, eventually, pid_in

from bringup.core.errors import ChannelRefused, Unreachable
from bringup.hosts.command_log import CommandLog
from bringup.hosts.control.lives import Life, life
from bringup.hosts.local import LocalHost
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.splice import Splice
from bringup.hosts.ways import make_way

pytestmark = [needs_linux, pytest.mark.skipif(shutil.which("docker") is None, reason="no docker client here")]
STAMP = "2026-01-02T10:00:{:02}.000000000Z"


@pytest.fixture
def docker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    # The path of a socket may have 107 bytes, and pytest's folders are deep.
    with tempfile.TemporaryDirectory(prefix="dk") as folder, daemon(Path(folder)) as server:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/docker.sock")
        monkeypatch.setenv("DOCKER_CONFIG", folder)
        monkeypatch.delenv("DOCKER_CONTEXT", raising=False)
        yield server


@pytest.fixture
async def inside(docker: Daemon) -> AsyncIterator[PrefixedHost]:
    host = await PrefixedHost.enter(LocalHost("box"), make_way("docker", "llm"))
    yield host
    await host.close()


async def test_a_script_runs_there(inside: PrefixedHost) -> None:
    done = await inside.run("""cat; echo "it's $((1+1))"; echo no >&2; exit 7""", stdin=b"given\n")
    assert (done.status, done.stdout, done.stderr) == (7, b"given\nit's 2\n", b"no\n")


async def test_a_stream_ends_there_when_it_is_left(inside: PrefixedHost, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    async with inside.stream(f"echo begun; echo $$ >{file}; while :; do sleep 1; done") as stream:
        assert await stream.read() == b"begun\n"
        pid = await pid_in(file)
        assert alive(pid)
    await eventually(lambda: not alive(pid))


async def test_its_log_is_followed_and_begun_again_where_it_was(docker: Daemon, inside: PrefixedHost) -> None:
    docker.log.write_text("".join(f"{STAMP.format(second)} line {second}\n" for second in range(4)))
    splice = Splice()
    for last in (3, 4):
        seen: list[bytes] = []
        with docker.log.open("a") as file:
            file.write(f"{STAMP.format(last)} line {last}, too\n")
        async with aclosing(CommandLog(inside, splice, quiet=0.1).items()) as items:
            async for chunk in items:
                seen.append(chunk.data)
                if b"too\n" in b"".join(seen):
                    break
        whole = [b"line 0", b"line 1", b"line 2", b"line 3", b"line 3, too"]
        assert b"".join(seen).splitlines() == (whole if last == 3 else [b"line 4, too"])
    first, again = (parse_qs(urlsplit(asked).query) for asked in docker.asked if "/logs" in asked)
    assert (first["follow"], first["timestamps"], first["stdout"], first["stderr"]) == (["1"],) * 4
    assert float(again["since"][0]) == 1_767_348_001.0


async def test_a_container_that_is_not_there(docker: Daemon) -> None:
    with pytest.raises(Unreachable, match="other"):
        await PrefixedHost.enter(LocalHost("box"), make_way("docker", "other"))


async def test_a_container_that_stops(docker: Daemon, inside: PrefixedHost) -> None:
    docker.down.set()
    with pytest.raises(ChannelRefused, match="container llm is not running"):
        await inside.run("true")


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"Status": "running", "Running": True}, Life("runs", "running")),
        ({"Status": "exited", "ExitCode": 3}, Life("ended", "exited, exit status 3")),
        (
            {"Status": "exited", "ExitCode": 137, "OOMKilled": True, "Error": "no such device"},
            Life("ended", "exited, exit status 137, OOMKilled: no such device"),
        ),
        (
            {"Status": "restarting", "Running": True, "Restarting": True, "ExitCode": 1},
            Life("waits", "restarting, exit status 1"),
        ),
        ({"Status": "paused", "Running": True, "Paused": True}, Life("runs", "paused")),
    ],
)
async def test_whether_its_container_lives(docker: Daemon, state: dict[str, object], told: Life) -> None:
    docker.state = state
    assert await life(LocalHost("box"), "container llm docker") == told
    assert await life(LocalHost("box"), "container other docker") == Life()
