"""A server asked over HTTP, over the connection and by programs on the host; how often, and which path."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sshd import free_port

from bringup.core.errors import ChannelRefused, UsageError
from bringup.core.events import HttpAnswered, Process, Server, VersionSeen
from bringup.core.reduce import reduce
from bringup.core.state import Attempt, LogChannel, State
from bringup.core.versions import reaches
from bringup.hosts.base import ByteStream, Completed, Host
from bringup.hosts.local import LocalHost
from bringup.hosts.readiness import probe
from bringup.hosts.readiness.questions import load_routes, next_question, parse_routes, route_for

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
ROUTES = load_routes()
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"


@contextlib.asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that answers every request with these bytes and closes; None: never answers."""
    asked: list[bytes] = []

    talks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                asked.append(await reader.readuntil(b"\r\n\r\n"))
                if answer is None:
                    await reader.read()
                else:
                    writer.write(answer)
                    await writer.drain()
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], asked
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (OK, 200),
        (b"HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnot\r\n0\r\n\r\n", 503),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", 200),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\ncut off", 200),
    ],
)
async def test_a_status(host: Host, answer: bytes, status: int) -> None:
    async with answering(answer) as (port, asked):
        found = await probe(host, port, "/health?a=%20b", timeout=60)
    assert (found.status, found.error, found.path) == (status, "", "/health?a=%20b")
    assert asked[0].startswith(b"GET /health?a=%20b HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{port}\r\n".encode() in asked[0]
    assert found.event(7.0) == HttpAnswered(at=7.0, path="/health?a=%20b", status=status, took=found.took)


@pytest.mark.parametrize(("answer", "error"), [(b"", "reset"), (b"SSH-2.0-other\r\n\r\n", "other")])
async def test_no_status(answer: bytes, error: str) -> None:
    async with answering(answer) as (port, _):
        found = await probe(LocalHost(), port, "/health", timeout=60)
    assert (found.status, found.error) == (None, error)


async def test_nobody_listens(host: Host) -> None:
    found = await probe(host, free_port(), "/health", timeout=60)
    assert (found.status, found.error) == (None, "refused")


async def test_no_answer_in_time(host: Host) -> None:
    async with answering(None) as (port, _):
        found = await probe(host, port, "/health", timeout=0.2)
    assert (found.status, found.error) == (None, "timeout")


async def test_a_body_is_kept_up_to_its_limit() -> None:
    async with answering(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 100_000) as (port, _):
        found = await probe(LocalHost(), port, "/server_info", timeout=60)
    assert found.body == b"x" * 65536


class Fenced(LocalHost):
    """This machine, seen through an ssh server that forbids connections; only these programs are there."""

    def __init__(self, folder: Path, *programs: str) -> None:
        super().__init__("box")
        self._folder = folder
        for name in programs:
            (folder / name).symlink_to(shutil.which(name) or name)

    async def connect(self, host: str, port: int) -> ByteStream:
        raise ChannelRefused("no forwarding", reason="forbidden")

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        return await super().run(f"PATH={self._folder}\n{script}", stdin=stdin, timeout=timeout, limit=limit)


@pytest.mark.parametrize("program", ["curl", "bash"])
@pytest.mark.parametrize(("answer", "expected"), [(OK, (200, "")), (b"", (None, "reset")), (None, (None, "timeout"))])
async def test_asked_by_a_program(
    tmp_path: Path, program: str, answer: bytes | None, expected: tuple[int | None, str]
) -> None:
    fenced = Fenced(tmp_path, program)
    async with answering(answer) as (port, asked):
        for timeout in (1, 5, 25) if answer is None else (60,):
            found = await probe(fenced, port, "/a%20b", timeout=timeout)
            if asked:  # A machine on which it is not even asked within that time is given more.
                break
    assert (found.status, found.error) == expected
    assert asked[0].startswith(b"GET /a%20b HTTP/1.1\r\n")


@pytest.mark.parametrize("program", ["curl", "bash"])
async def test_a_program_finds_nobody(tmp_path: Path, program: str) -> None:
    found = await probe(Fenced(tmp_path, program), free_port(), "/health", timeout=60)
    assert (found.status, found.error) == (None, "refused")


async def test_no_way_to_ask(tmp_path: Path) -> None:
    with pytest.raises(ChannelRefused, match="neither curl nor bash") as refusal:
        await probe(Fenced(tmp_path), 1, "/health")
    assert refusal.value.reason == "forbidden"


def test_versions() -> None:
    assert reaches("0.5.20", "0.5.20")
    assert reaches("0.5.20.post1", "0.5.20")
    assert reaches("0.10", "0.5.20")
    assert not reaches("0.5.20rc1", "0.5.20")
    assert not reaches("0.5.9", "0.5.20")
    assert route_for("sglang", None, ROUTES) == route_for("sglang", "0.5.9", ROUTES)
    assert route_for("another", "1.0", ROUTES) is None


def test_a_wrong_file() -> None:
    row = {"engine": "e", "path": "/p", "timeout": 1, "starting": 1, "serving": 1, "troubled": 1}
    with pytest.raises(UsageError, match="not asked for /p"):
        parse_routes({"paths": [{**row, "since": "2.0", "samples": ["1.0"]}]}, "own.toml")
    with pytest.raises(UsageError, match="missing or one too many"):
        parse_routes({"paths": [{**row, "colour": "red"}]}, "own.toml")


STATE = State(attempt=Attempt(engine="sglang", version="0.5.9", port=30000), port_seen_at=90.0, port_pid=7)


def answered(at: float, status: int | None) -> HttpAnswered:
    return HttpAnswered(at=at, path="/health", status=status)


def test_not_before_the_port_listens() -> None:
    assert next_question(replace(STATE, port_pid=None), "starting", 100.0, ROUTES) is None
    assert next_question(replace(STATE, port_seen_at=None, port_pid=None), "starting", 100.0, ROUTES) is None
    found = next_question(STATE, "starting", 100.0, ROUTES)
    assert found is not None
    assert (found.at, found.port, found.path, found.timeout) == (100.0, 30000, "/health", 5.0)
    assert next_question(replace(STATE, port_pid=0), "starting", 100.0, ROUTES) == found


def test_tried_where_the_socket_table_cannot_be_read() -> None:
    blind = replace(STATE, port_seen_at=None, port_pid=None, closed=(("processes", "no /proc"),))
    assert next_question(blind, "starting", 100.0, ROUTES) is not None


@pytest.mark.parametrize(
    ("verdict", "status", "was_ok", "expected"),
    [
        ("starting", 503, False, 101.0),
        ("slow", None, False, 101.0),
        ("ready", 200, True, 129.0),
        ("ready", 503, True, 109.0),
        ("degraded", None, True, 109.0),
    ],
)
def test_the_pace(verdict: str, status: int | None, was_ok: bool, expected: float) -> None:
    state = replace(STATE, http=answered(99.0, status), http_ok_at=50.0 if was_ok else None)
    found = next_question(state, verdict, 100.0, ROUTES)  # type: ignore[arg-type]
    assert found is not None
    assert found.at == expected


def test_overdue_is_now() -> None:
    found = next_question(replace(STATE, http=answered(10.0, 503)), "starting", 100.0, ROUTES)
    assert found is not None
    assert found.at == 100.0


@pytest.mark.parametrize("verdict", ["waiting", "failed", "stopped"])
def test_a_server_that_is_none_is_not_asked(verdict: str) -> None:
    assert next_question(STATE, verdict, 100.0, ROUTES) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("argv", "address"),
    [
        (("serve", "--host", "10.0.0.5"), "10.0.0.5"),
        (("serve", "--host=fd00::5"), "fd00::5"),
        (("serve", "--host", "0.0.0.0"), "127.0.0.1"),
        (("serve", "--host"), "127.0.0.1"),
        (("serve",), "127.0.0.1"),
    ],
)
def test_where_a_server_is_bound(argv: tuple[str, ...], address: str) -> None:
    server = Server(pid=7, start=1, engine="vllm", argv=argv, port=8000)
    state = replace(STATE, server=server, attempt=Attempt())
    found = next_question(state, "starting", 100.0, ROUTES)
    assert found is not None
    assert (found.port, found.path, found.address) == (8000, "/health", address)


def test_another_process_on_the_port_is_not_asked() -> None:
    own = Process(pid=7, ppid=1, start=1, title="python -m sglang.launch_server")
    state = replace(STATE, sampled_at=90.0, processes=(own,))
    assert next_question(state, "starting", 100.0, ROUTES) is not None
    assert next_question(replace(state, port_pid=4711), "starting", 100.0, ROUTES) is None


def test_a_draft_that_does_nothing_is_no_reason_to_ask_more_often() -> None:
    state = replace(STATE, http=answered(99.0, 200), http_ok_at=99.0)
    assert next_question(state, "degraded", 100.0, ROUTES) == next_question(state, "ready", 100.0, ROUTES)


@pytest.mark.parametrize(
    ("version", "kind", "path"),
    [
        ("0.4.9", "null", "/health_generate"),
        ("0.4.9", "file", "/health"),
        ("0.4.10", "null", "/health"),
        (None, "null", "/health"),
        ("0.5.20", "null", "/ready"),
        ("0.5.20rc1", "file", "/health"),
    ],
)
def test_the_path_by_version_and_whether_there_is_a_log(version: str | None, kind: str, path: str) -> None:
    attempt = Attempt(engine="sglang", version=version, port=30000)
    found = next_question(replace(STATE, attempt=attempt, log=LogChannel(kind=kind)), "starting", 100.0, ROUTES)
    assert found is not None
    assert found.path == path


def test_the_installed_version_chooses_the_path() -> None:
    state = reduce(replace(STATE, attempt=Attempt(engine="sglang", port=30000)), VersionSeen(at=1.0, version="0.5.21"))
    found = next_question(state, "starting", 100.0, ROUTES)
    assert found is not None
    assert found.path == "/ready"
