"""The real kubectl against an API server of ours: its options, its streams, its exit codes and its refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from kubestub import ApiServer, api_server
from simulated import needs_linux
from waiting import alive, eventually, pid_in

from bringup.core.errors import Unreachable
from bringup.hosts.command_log import CommandLog
from bringup.hosts.control.lives import Life, life
from bringup.hosts.local import LocalHost
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.splice import Splice
from bringup.hosts.ways import make_way

OLDEST = 31
"""Minor version of the first kubectl that runs commands over WebSocket without being asked to."""
STAMP = "2026-01-02T10:00:{:02}.000000000Z"
PATIENCE = 60.0


def minor() -> int:
    """Return the minor version of the client; 0 where there is none."""
    if shutil.which("kubectl") is None:
        return 0
    told = subprocess.run(["kubectl", "version", "--client", "-o", "json"], capture_output=True, check=False)
    return int(json.loads(told.stdout or b"{}").get("clientVersion", {}).get("minor", "0").rstrip("+"))


pytestmark = [needs_linux, pytest.mark.skipif(minor() < OLDEST, reason="no kubectl here that is new enough")]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server(tmp_path / "container.log") as server:
        (tmp_path / "kubeconfig").write_text(server.kubeconfig())
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        # What it learns of the server is kept below the home folder.
        monkeypatch.setenv("HOME", str(tmp_path))
        yield server


@pytest.fixture
async def inside(cluster: ApiServer) -> AsyncIterator[PrefixedHost]:
    host = await PrefixedHost.enter(LocalHost("box"), make_way("kube", "default/llm-0/engine"))
    yield host
    await host.close()


async def test_a_script_runs_there(inside: PrefixedHost) -> None:
    done = await inside.run("""cat; echo "it's $((1+1))"; echo no >&2; exit 7""", stdin=b"given\n")
    # kubectl adds a line of its own where a command fails.
    assert (done.status, done.stdout, done.stderr.splitlines()[0]) == (7, b"given\nit's 2\n", b"no")
    assert (await inside.run("head -c 200000 /dev/zero")).stdout == b"\0" * 200_000


async def test_a_stream_ends_there_when_it_is_left(inside: PrefixedHost, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    async with inside.stream(f"echo begun; echo $$ >{file}; while :; do sleep 1; done") as stream:
        assert await stream.read() == b"begun\n"
        pid = await pid_in(file)
        assert alive(pid)
    await eventually(lambda: not alive(pid), PATIENCE)


async def test_its_log_is_followed_and_begun_again_where_it_was(cluster: ApiServer, inside: PrefixedHost) -> None:
    cluster.log.write_text("".join(f"{STAMP.format(second)} line {second}\n" for second in range(4)))
    splice = Splice()
    for last in (3, 4):
        seen: list[bytes] = []
        with cluster.log.open("a") as file:
            file.write(f"{STAMP.format(last)} line {last}, too\n")
        async with aclosing(CommandLog(inside, splice, quiet=0.1).items()) as items:
            async for chunk in items:
                seen.append(chunk.data)
                if b"too\n" in b"".join(seen):
                    break
        whole = [b"line 0", b"line 1", b"line 2", b"line 3", b"line 3, too"]
        assert b"".join(seen).splitlines() == (whole if last == 3 else [b"line 4, too"])
    first, again = (parse_qs(urlsplit(asked).query) for asked in cluster.asked if "/log?" in asked)
    assert (first["follow"], first["timestamps"], first["container"]) == (["true"], ["true"], ["engine"])
    assert again["sinceTime"] == ["2026-01-02T10:00:01Z"]


async def test_a_pod_that_is_not_there(cluster: ApiServer) -> None:
    with pytest.raises(Unreachable, match='pods "other" not found'):
        await PrefixedHost.enter(LocalHost("box"), make_way("kube", "default/other"))


async def test_a_container_that_is_not_in_the_pod(cluster: ApiServer) -> None:
    with pytest.raises(Unreachable, match="container sidecar"):
        await PrefixedHost.enter(LocalHost("box"), make_way("kube", "default/llm-0/sidecar"))


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (
            {"phase": "Running", "containerStatuses": [{"name": "engine", "state": {"running": {}}}]},
            Life("runs", "Running"),
        ),
        (
            {
                "phase": "Pending",
                "containerStatuses": [
                    {
                        "name": "engine",
                        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image x"}},
                    }
                ],
            },
            Life("waits", "Pending, ImagePullBackOff: no such image x"),
        ),
        (
            {
                "phase": "Pending",
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "reason": "Unschedulable",
                        "message": "0/3 nodes: Insufficient nvidia.com/gpu",
                    }
                ],
            },
            Life("waits", "Pending, Unschedulable: 0/3 nodes: Insufficient nvidia.com/gpu"),
        ),
        (
            {
                "phase": "Failed",
                "containerStatuses": [
                    {"name": "engine", "state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}
                ],
            },
            Life("ended", "Failed, OOMKilled, exit status 137"),
        ),
    ],
)
async def test_whether_its_pod_lives(cluster: ApiServer, status: dict[str, object], told: Life) -> None:
    cluster.status = status
    assert await life(LocalHost("box"), "pod pod/llm-0") == told
