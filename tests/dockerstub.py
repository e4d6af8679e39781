"""A daemon for the real docker client: one container whose commands really run, and whose log is a file.

Speaks as much of the Docker Engine API (v1.41, docs.docker.com/engine/api) as `docker exec -i` and `docker logs` ask.
"""

from __future__ import annotations

import json
import os
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

NAME, ID = "llm", "77aa"
NAMES = (NAME, ID)
STDOUT, STDERR = 1, 2


class Daemon(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Listens on a socket; `asked` holds what was asked, in order."""

    daemon_threads = True

    def __init__(self, path: Path, log: Path) -> None:
        super().__init__(str(path), Handler)
        self.log = log
        """Lines "2026-01-02T10:00:00.000000000Z text", with the time as docker prints it."""
        self.asked: list[str] = []
        self.state: dict[str, Any] = {}
        """What it tells of the container's state."""
        self.commands: list[list[str]] = []
        self.codes: dict[int, int] = {}
        self.down = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Daemon

    def address_string(self) -> str:
        return "client"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(200, None)

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.asked.append(self.path)
        path = url.path.split("/")[2:] if url.path.startswith("/v1.") else url.path.split("/")[1:]
        match path:
            case ["containers", name, "json"] if name in NAMES:
                self._answer(200, {"Id": ID, "Name": f"/{NAME}", "Config": {"Tty": False}, "State": self.server.state})
            case ["containers", name, "logs"] if name in NAMES:
                self._logs(parse_qs(url.query).get("since", ["0"])[0])
            case ["exec", number, "json"]:
                self._answer(200, {"ID": number, "Running": False, "ExitCode": self.server.codes[int(number)]})
            case ["containers", name, *_]:
                self._answer(404, {"message": f"No such container: {name}"})
            case _:
                self._answer(200, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        match urlsplit(self.path).path.split("/")[2:]:
            case ["containers", name, "exec"] if name in NAMES and not self.server.down.is_set():
                self.server.commands.append(body["Cmd"])
                self._answer(201, {"Id": str(len(self.server.commands) - 1)})
            case ["containers", name, "exec"]:
                self._answer(409 if name in NAMES else 404, {"message": f"container {name} is not running"})
            case ["exec", number, "start"]:
                self._exec(int(number))

    def _answer(self, status: int, body: Any) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Api-Version", "1.41")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _logs(self, since: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.docker.multiplexed-stream")
        self.end_headers()
        self.close_connection = True
        with self.server.log.open("rb") as file:
            line = b""
            while not self.server.down.is_set():
                line += file.readline()
                if not line.endswith(b"\n"):
                    time.sleep(0.02)
                    continue
                if _seconds(line) >= float(since):
                    self._frame(STDOUT, line)
                line = b""

    def _exec(self, number: int) -> None:
        """Run a command in a session of its own, as a daemon does, over the connection that was given up to it."""
        self.send_response(101)
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", "tcp")
        self.end_headers()
        self.wfile.flush()
        self.close_connection = True
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(self.server.commands[number], start_new_session=True, **pipes) as process:
            # Who feeds it closes it, too.
            stdin, process.stdin = process.stdin, None
            threads = [
                threading.Thread(target=self._copy, args=(STDOUT, process.stdout)),
                threading.Thread(target=self._copy, args=(STDERR, process.stderr)),
                threading.Thread(target=self._feed, args=(stdin,), daemon=True),
            ]
            for thread in threads:
                thread.start()
            self.server.codes[number] = process.wait()
            for thread in threads[:2]:
                thread.join()
        with suppress(OSError):  # nobody listens any more
            self.connection.shutdown(socket.SHUT_WR)
        # It reads on until the client has hung up, too; before that nothing may be closed under it.
        threads[2].join()

    def _copy(self, stream: int, pipe: Any) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # whom it was for has left
            while data := os.read(pipe.fileno(), 65536):
                self._frame(stream, data)

    def _feed(self, pipe: Any) -> None:
        """Hand on what is typed until the client is gone; then the command's input ends, too."""
        with suppress(BrokenPipeError), pipe:  # a command that has ended reads no more
            for data in self._typed():
                pipe.write(data)
                pipe.flush()

    def _typed(self) -> Iterator[bytes]:
        # A client that is killed with an answer unread resets the connection.
        with suppress(ConnectionError):
            while data := self.rfile.read1():  # type: ignore[attr-defined]
                yield data

    def _frame(self, stream: int, data: bytes) -> None:
        self.connection.sendall(bytes((stream, 0, 0, 0)) + len(data).to_bytes(4, "big") + data)


def _seconds(line: bytes) -> float:
    from datetime import datetime

    return datetime.fromisoformat(f"{line[:19].decode()}+00:00").timestamp()


@contextmanager
def daemon(folder: Path) -> Iterator[Daemon]:
    """Run the daemon; its socket is FOLDER/docker.sock."""
    log = folder / "container.log"
    log.touch()
    with Daemon(folder / "docker.sock", log) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.down.set()
            server.shutdown()
            thread.join()
