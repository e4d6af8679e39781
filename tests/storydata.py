"""A short start as a recording holds it: a server, its log in two files, samples, answers."""

from __future__ import annotations

from loggen import sglang_chunks

from bringup.core.events import (
    HostSeen,
    HttpAnswered,
    LinkChanged,
    LogOpened,
    Process,
    ProcessesSeen,
    Server,
    ServerFound,
)
from bringup.recordings.encoder import Item, LogPiece

BEGAN = 1_780_000_000.0
LOG, ERRORS = "/var/log/server.log", "/var/log/server.err"
ARGV = ("python3", "-m", "sglang.launch_server", "--model-path", "/models/target", "--tp-size", "2")


def story(*, utc_offset: float = 7200.0, until: str = "ready") -> list[tuple[float, Item]]:
    """Return (seconds since the begin, what was seen): a start on two ranks, and a second log that says little."""
    chunks = sglang_chunks("0.5.15", tp=2, draft=True, until=until)
    server = Server(pid=10, start=500, engine="sglang", argv=ARGV, port=30000, started_at=BEGAN)
    seen: list[tuple[float, Item]] = [
        (0.0, HostSeen(at=BEGAN, node="gpu-a", system="Linux", utc_offset=utc_offset)),
        (0.0, LinkChanged(at=BEGAN, status="up")),
        (0.1, ServerFound(at=BEGAN + 0.1, server=server)),
        (0.1, LogOpened(at=BEGAN + 0.1, path=LOG, kind="file")),
    ]
    seen += [(0.2 + t, LogPiece(LOG, data, BEGAN + 0.2 + t)) for t, data in chunks]
    end = int(chunks[-1][0]) + 2
    for second in range(1, end + 1):
        at = BEGAN + second
        ranks = tuple(Process(11 + n, 10, 501, f"sglang::scheduler_TP{n}", cpu_s=second) for n in range(2))
        launcher = Process(10, 1, 500, " ".join(ARGV), state="S")
        seen.append((float(second), ProcessesSeen(at=at, root=10, processes=(launcher, *ranks))))
    seen.append((2.5, LogPiece(ERRORS, b"a word of the other stream\n", BEGAN + 2.5)))
    last = float(end)
    seen.append((last, HttpAnswered(at=BEGAN + last, path="/health", status=200, took=0.01)))
    return sorted(seen, key=lambda pair: pair[0])
