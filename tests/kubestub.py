"""An API server for the real kubectl: one pod whose commands really run, and whose log is a file.

Speaks as much of the Kubernetes API as `kubectl exec -i` and `kubectl logs` ask: commands over WebSocket with the
subprotocol v5.channel.k8s.io (kubectl 1.31 and later; RFC 6455), the log as a body without a length.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

POD = "/api/v1/namespaces/default/pods/llm-0"
CONTAINER = "engine"
PROTOCOL = "v5.channel.k8s.io"
STDIN, STDOUT, STDERR, ERROR, CLOSE = 0, 1, 2, 3, 255
_SALT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class ApiServer(ThreadingHTTPServer):
    """Listens on a port; `asked` holds what was asked, in order."""

    daemon_threads = True

    def __init__(self, log: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.log = log
        """Lines "2026-01-02T10:00:00.000000000Z text", with the time as the kubelet prints it."""
        self.asked: list[str] = []
        self.status: dict[str, Any] = {"phase": "Running"}
        """What it tells of the pod."""
        self.down = threading.Event()

    def kubeconfig(self) -> str:
        """What leads a client here."""
        cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server_address[1]}"}}
        context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
        users = [{"name": "u", "user": {}}]
        kind = {"apiVersion": "v1", "kind": "Config", "current-context": "x"}
        return json.dumps({**kind, "clusters": [cluster], "contexts": [context], "users": users})


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: ApiServer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        url = urlsplit(self.path)
        words = parse_qs(url.query)
        if url.path == f"{POD}/log":
            self._logs(words.get("sinceTime", [""])[0])
        elif url.path == f"{POD}/exec" and words["container"] == [CONTAINER]:
            self._exec(words["command"])
        else:
            self._answer(*_known(url.path, self.server.status))

    def do_POST(self) -> None:
        """Refuse what was refused over WebSocket: kubectl tries once more over SPDY."""
        self.server.asked.append(self.path)
        self._answer(400, _status(f"container {parse_qs(self.path)['container'][0]} is not valid for pod llm-0"))

    def _answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _logs(self, since: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with self.server.log.open("rb") as file:
            line = b""
            while not self.server.down.is_set():
                line += file.readline()
                if not line.endswith(b"\n"):
                    time.sleep(0.02)
                    continue
                if line[:19].decode() >= since[:19]:
                    self.wfile.write(line)
                line = b""

    def _exec(self, command: list[str]) -> None:
        """Run a command in a session of its own, as a kubelet does."""
        accept = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] + _SALT).encode()).digest())
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Protocol", PROTOCOL)):
            self.send_header(name, value)
        self.send_header("Sec-WebSocket-Accept", accept.decode())
        self.end_headers()
        self.wfile.flush()
        self.close_connection = True
        self._lock = threading.Lock()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, start_new_session=True, **pipes) as process:
            copying = [
                threading.Thread(target=self._copy, args=(STDOUT, process.stdout)),
                threading.Thread(target=self._copy, args=(STDERR, process.stderr)),
            ]
            # Who feeds it closes it, too.
            stdin, process.stdin = process.stdin, None
            feeding = threading.Thread(target=self._feed, args=(stdin,), daemon=True)
            for thread in (*copying, feeding):
                thread.start()
            code = process.wait()
            for thread in copying:
                thread.join()
        with suppress(ConnectionError):  # nobody listens any more
            self._send(ERROR, json.dumps(_ended(code)).encode())
            self._frame(8, b"\x03\xe8")
        feeding.join(2)

    def _copy(self, channel: int, pipe: Any) -> None:
        with suppress(ConnectionError):
            while data := os.read(pipe.fileno(), 65536):
                self._send(channel, data)

    def _feed(self, pipe: Any) -> None:
        """Hand on what is typed until its end is told or the client is gone; then the command's input ends, too."""
        with suppress(BrokenPipeError), pipe:  # a command that has ended reads no more
            for data in self._typed():
                pipe.write(data)
                pipe.flush()

    def _typed(self) -> Iterator[bytes]:
        # A client that is killed with an answer unread resets the connection.
        with suppress(ConnectionError):
            while frame := self._read():
                kind, data = frame
                if kind == 8 or (data[:1] == bytes((CLOSE,)) and data[1:] == bytes((STDIN,))):
                    break
                if kind == 9:
                    self._frame(10, data)
                elif data[:1] == bytes((STDIN,)):
                    yield data[1:]

    def _read(self) -> tuple[int, bytes] | None:
        head = self.rfile.read(2)
        if len(head) < 2:
            return None
        size = head[1] & 0x7F
        if size > 125:
            size = int.from_bytes(self.rfile.read(2 if size == 126 else 8), "big")
        mask = self.rfile.read(4)
        data = self.rfile.read(size)
        return head[0] & 0x0F, bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))

    def _send(self, channel: int, data: bytes) -> None:
        self._frame(2, bytes((channel,)) + data)

    def _frame(self, kind: int, data: bytes) -> None:
        size = bytes((len(data),)) if len(data) < 126 else b"\x7f" + len(data).to_bytes(8, "big")
        with self._lock:
            self.wfile.write(bytes((0x80 | kind,)) + size + data)
            self.wfile.flush()


def _status(message: str, **more: Any) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, **more}


def _ended(code: int) -> dict[str, Any]:
    if code == 0:
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return _status(f"command terminated with exit code {code}", reason="NonZeroExitCode", details={"causes": causes})


def _known(path: str, status: Any) -> tuple[int, Any]:
    pods = {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": ["get", "list"]}
    container = {"name": CONTAINER, "image": "x"}
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "llm-0", "namespace": "default"}}
    answers: dict[str, Any] = {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
        "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [pods]},
        POD: {**pod, "spec": {"containers": [container]}, "status": status},
    }
    if path in answers:
        return 200, answers[path]
    name = path.rpartition("/")[2]
    return 404, _status(f'pods "{name}" not found', reason="NotFound", code=404, details={"name": name, "kind": "pods"})


@contextmanager
def api_server(log: Path) -> Iterator[ApiServer]:
    """Run the server on a port of its own."""
    log.touch()
    with ApiServer(log) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.down.set()
            server.shutdown()
            thread.join()
