"""The page in a real browser: it asks nobody for anything, and the browser has nothing to complain of."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from report.accounts import failed, hostile

from bringup.report.html.page import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
ALONE = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--proxy-bypass-list=<-loopback>",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
    "--dump-dom",
)
ITS_OWN = re.compile(r"(?:^|[/.])(?:google|googleapis|gvt1|gstatic)\.com[:/]")
"""What Chromium asks by itself, whatever it shows: the time, its components. No page of ours names them."""


class Asked(BaseHTTPRequestHandler):
    """A proxy that answers nothing and remembers what was wanted."""

    wanted: list[str]

    def handle_one_request(self) -> None:
        """Remember the first line, whatever it asks for."""
        words = self.rfile.readline(65536).decode("latin-1").split()
        self.wanted += words[1:2]
        self.wfile.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def proxy() -> Iterator[tuple[int, list[str]]]:
    wanted: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Proxy", (Asked,), {"wanted": wanted}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1], wanted
    server.shutdown()
    server.server_close()
    thread.join()


def opened(text: str, folder: Path, port: int) -> tuple[str, list[str]]:
    """Open a page; returns its tree as the browser sees it, and what it complained of."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    assert CHROMIUM is not None
    own = (f"--user-data-dir={folder / 'profile'}", f"--proxy-server=http://127.0.0.1:{port}")
    done = subprocess.run(
        [CHROMIUM, *ALONE, *own, file.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_a_browser_asks_nobody_and_complains_of_nothing(tmp_path: Path, proxy: tuple[int, list[str]]) -> None:
    port, wanted = proxy
    for make in (failed, hostile):
        text = page(make())
        assert not ITS_OWN.search(text)
        tree, complaints = opened(text, tmp_path, port)
        assert "What to do:" in tree
        assert "<script" not in tree
        assert complaints == []
    assert [url for url in wanted if not ITS_OWN.search(url)] == []


def test_what_would_be_noticed(tmp_path: Path, proxy: tuple[int, list[str]]) -> None:
    port, wanted = proxy
    text = (
        "<!DOCTYPE html><title>x</title><img src='http://pictures.invalid/x.png'><script>console.error('no')</script>"
    )
    _, complaints = opened(text, tmp_path, port)
    assert "http://pictures.invalid/x.png" in wanted
    assert any("no" in line for line in complaints)
