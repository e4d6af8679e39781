"""A way into a simulated host, and ways to look at what runs on it."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh
import pytest
from waiting import eventually

from bringup.demo.host import DemoHost

PATIENCE = 60.0
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="the simulated host needs Linux")


@asynccontextmanager
async def login(host: DemoHost, **other: object) -> AsyncIterator[asyncssh.SSHClientConnection]:
    """Log in to a simulated host with what it offers, or with something else."""
    options: dict[str, object] = {
        "username": host.username,
        "client_keys": [host.client_key],
        "known_hosts": asyncssh.import_known_hosts(host.known_hosts.decode()),
        "config": [],
        "agent_path": None,
        "encoding": None,
    }
    async with asyncssh.connect(host.host, host.port, **{**options, **other}) as conn:
        yield conn


async def said(host: DemoHost, text: str) -> None:
    """Wait until the server's log has a text."""
    await eventually(lambda: host.home.log.exists() and text.encode() in host.home.log.read_bytes(), PATIENCE)


def ranks(host: DemoHost) -> dict[int, int]:
    """Return the PID of each rank of the host's server, by the titles of its own processes."""
    found: dict[int, int] = {}
    for pid in family(host.within):
        match = re.fullmatch(r"sglang::scheduler_TP(\d+)", title(pid))
        if match:
            found[int(match[1])] = pid
    return found


def launchers(host: DemoHost) -> list[int]:
    """Return the PIDs of the running launchers."""
    return [pid for pid in family(host.within) if title(pid).startswith("python3 -m sglang.launch_server ")]


def title(pid: int) -> str:
    """Return the command line of a process, joined by blanks; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def state(pid: int) -> str:
    """Return the state letter of a process; "gone" when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


def family(root: int) -> set[int]:
    """Return the PIDs below a process."""
    parents: dict[int, int] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(") ")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found: set[int] = set()
    fresh = {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


async def output(conn: asyncssh.SSHClientConnection, command: str) -> bytes:
    """Return what a command writes; it must succeed."""
    return bytes((await conn.run(command, check=True)).stdout or b"")


async def smi(conn: asyncssh.SSHClientConnection, query: str) -> list[list[str]]:
    """Return the rows of a query to the host's nvidia-smi."""
    text = await output(conn, f"nvidia-smi {query} --format=csv,noheader,nounits")
    return [line.split(", ") for line in text.decode().splitlines()]


async def ask(conn: asyncssh.SSHClientConnection, port: int, path: str) -> int | None:
    """Return the status of a GET over the SSH connection; None while nobody listens."""
    try:
        reader, writer = await conn.open_connection("127.0.0.1", port, encoding=None)
    except asyncssh.ChannelOpenError:
        return None
    writer.write(f"GET {path} HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return int(answer.split()[1])
