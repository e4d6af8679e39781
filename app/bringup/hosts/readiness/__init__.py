"""Asking a server over HTTP whether it is ready, from the host itself: over the connection, or by a program there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import h11

from bringup.core.errors import ChannelRefused
from bringup.core.events import HttpAnswered
from bringup.hosts.base import ByteStream, Host
from bringup.hosts.readiness.http_program import ask_by_program
from bringup.hosts.readiness.questions import Question as Question
from bringup.hosts.readiness.questions import load_routes as load_routes
from bringup.hosts.readiness.questions import next_question as next_question

BODY_LIMIT = 65536
Error = Literal["", "refused", "timeout", "reset", "forbidden", "other"]
REASONS: dict[str, Error] = {"refused": "refused", "timeout": "timeout"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, or the error that came instead of one."""

    path: str
    status: int | None = None
    error: Error = ""
    took: float = 0.0
    """Seconds."""
    body: bytes = b""
    """At most 64 KiB of it."""
    detail: str = ""
    """What an "other" error was, in words."""

    def event(self, at: float) -> HttpAnswered:
        """Return the answer as an event."""
        return HttpAnswered(at=at, path=self.path, status=self.status, error=self.error, took=self.took)


async def probe(
    host: Host,
    port: int,
    path: str,
    *,
    timeout: float = 2.0,
    address: str = "127.0.0.1",
    clock: Callable[[], float] | None = None,
) -> Answer:
    """Ask a server on the host for a path; `timeout` in seconds, all of it counted.

    Where the host forbids connections, curl or bash there asks instead. Raises ChannelRefused where no way leads to the
    port, and ConnectionLost.
    """
    clock = clock or asyncio.get_running_loop().time
    begun = clock()
    try:
        async with asyncio.timeout(timeout):
            status, error, body, detail = await _ask(host, address, port, path)
    except TimeoutError:
        status, error, body, detail = None, "timeout", b"", ""
    if error == "forbidden":
        begun = clock()
        status, error = await ask_by_program(host, address, port, path, timeout)
    return Answer(path, status, error, clock() - begun, body, detail)


Told = tuple[int | None, Error, bytes, str]


async def _ask(host: Host, address: str, port: int, path: str) -> Told:
    try:
        stream = await host.connect(address, port)
    except ChannelRefused as refused:
        if refused.reason == "forbidden":
            return None, "forbidden", b"", refused.what
        return None, REASONS.get(refused.reason, "other"), b"", refused.what
    try:
        return await _talk(stream, address, port, path)
    except h11.RemoteProtocolError as wrong:
        return None, "other", b"", f"What listens there does not speak HTTP: {wrong}."
    finally:
        await stream.close()


async def _talk(stream: ByteStream, address: str, port: int, path: str) -> Told:
    talk = h11.Connection(h11.CLIENT)
    host = f"[{address}]" if ":" in address else address
    headers = [("Host", f"{host}:{port}"), ("User-Agent", "bringup"), ("Accept", "*/*"), ("Connection", "close")]
    request = talk.send(h11.Request(method="GET", target=path, headers=headers)) or b""
    try:
        await stream.write(request + (talk.send(h11.EndOfMessage()) or b""))
    except ChannelRefused as refused:
        return None, "reset", b"", refused.what
    status, body = None, b""
    while len(body) < BODY_LIMIT:
        event = talk.next_event()
        if event is h11.NEED_DATA:
            data = await stream.read()
            if not data:
                break
            talk.receive_data(data)
        elif isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif not isinstance(event, h11.InformationalResponse):
            break
    return status, "reset" if status is None else "", body[:BODY_LIMIT], ""
