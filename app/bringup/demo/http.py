"""The HTTP side of the simulated server, as SGLang 0.5.15 answers: nothing listens before the ranks are ready."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Literal

from bringup.demo import engine_log as log
from bringup.demo.options import Options

HEALTH_PATHS = ("/health", "/health_generate")
MODEL_PATHS = ("/model_info", "/get_model_info")


class Front:
    """Listens on loopback and answers; `status` says what /health may say."""

    def __init__(self, options: Options, check: Callable[[], bool], ask: Callable[[], None]) -> None:
        """Bind the port; raises OSError when it is taken. `check` proves the ranks, `ask` simulates a request."""
        self.status: Literal["starting", "up", "stopping"] = "starting"
        self.options = options
        self.check = check
        self.ask = ask
        self._server = _Server(("127.0.0.1", options.port), self)

    def start(self) -> None:
        """Answer from now on, in threads of their own."""
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 1.0}, daemon=True).start()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], front: Front) -> None:
        self.front = front
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without looking up the host's name, which can take seconds."""
        TCPServer.server_bind(self)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "uvicorn"
    sys_version = ""
    timeout = 30.0

    def do_GET(self) -> None:
        """Answer the few paths that consoles and load balancers ask."""
        front, path = self.server.front, self.path.partition("?")[0]
        if path in HEALTH_PATHS:
            self._answer(self._health())
        elif path in MODEL_PATHS:
            self._answer(HTTPStatus.OK, {"model_path": front.options.model, "is_generation": True})
        elif path in ("/server_info", "/get_server_info"):
            self._answer(HTTPStatus.OK, {"version": log.VERSION, **front.options.server_args()})
        elif path == "/v1/models":
            entry = {"id": front.options.served_name, "object": "model", "owned_by": "sglang", "max_model_len": 262144}
            self._answer(HTTPStatus.OK, {"object": "list", "data": [entry]})
        else:
            self._answer(HTTPStatus.NOT_FOUND, {"detail": "Not Found"})

    def do_POST(self) -> None:
        """Take a request as if it were generated from; the text is always the same."""
        self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 1 << 20))
        if self.path not in ("/generate", "/v1/chat/completions", "/v1/completions"):
            self._answer(HTTPStatus.NOT_FOUND, {"detail": "Not Found"})
        elif self.server.front.status == "up":
            self.server.front.ask()
            self._answer(HTTPStatus.OK, {"text": " (the demo does not think)"})
        else:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE)

    def _health(self) -> HTTPStatus:
        front = self.server.front
        if front.status == "stopping":
            log.Voice().say("Health check request received during shutdown. Returning 503.")
        healthy = front.status == "up" and front.check()
        return HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE

    def _answer(self, status: HTTPStatus, body: object = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(data)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Write the access line in the server's own form."""
        status = HTTPStatus(int(code))
        log.access(self.client_address[1], f"{self.command} {self.path}", f"{status.value} {status.phrase}")

    def log_error(self, format: str, *args: object) -> None:
        """Keep silent about broken requests, as the original does."""
