"""What the console costs over SSH: CPU while the log is quiet and under a flood, and key-to-screen latency.

    python tests/bench/bench_console.py [LINES_PER_SECOND [SECONDS]]

A real sshd on loopback serves a log that a writer grows; the console watches it on a pseudo-terminal of 120x40.
"""

from __future__ import annotations

import getpass
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sshd import SFTP, start_sshd
from terminal import Terminal

LINE = (
    "[2026-11-29 12:00:{second:02d} TP0] Decode batch, #running-req: 64, #token: {token}, token usage: 0.31, "
    "accept len: 2.87, accept rate: 0.62, cuda graph: True, gen throughput (token/s): 4125.50, #queue-req: 0\n"
)


# `bringup watch HOST --log FILE --port 9` with the login of the test's own server instead of the user's configuration.
# Nothing is found to listen on the port: only the log is followed.
CONSOLE = """
from pathlib import Path
from bringup.cli.console import make_console
from bringup.hosts.ssh.config import SshOptions
from bringup.session.target import Target
options = SshOptions("127.0.0.1", {port}, {user!r}, (Path({key!r}),), {known!r})
app, _ = make_console("bench", Target(name="bench", log={log!r}, port=9), options=options)
app.run()
"""


@contextmanager
def watched(folder: Path) -> Iterator[tuple[Terminal, Path]]:
    """Run the console on a log behind a real sshd; the context ends both."""
    with start_sshd(folder / "sshd", SFTP) as server:
        log = folder / "server.log"
        log.write_text(LINE.format(second=0, token=1))
        program = CONSOLE.format(
            port=server.port,
            user=getpass.getuser(),
            key=str(server.client_key),
            known=server.known_line.encode(),
            log=str(log),
        )
        with Terminal([sys.executable, "-c", program]) as terminal:
            terminal.wait_for(b"Decode batch")
            yield terminal, log


def pour(log: Path, rate: int, stop: threading.Event) -> None:
    """Append `rate` lines a second, fifty times a second, until told to stop."""
    token, begin, written = 0, time.perf_counter(), 0
    with log.open("a") as out:
        while not stop.is_set():
            due = int((time.perf_counter() - begin) * rate)
            out.write("".join(LINE.format(second=token % 60, token=token + n) for n in range(due - written)))
            out.flush()
            token, written = token + due - written, due
            time.sleep(0.02)


def cpu_share(terminal: Terminal, seconds: float) -> float:
    """Return the share of one core that the console used over `seconds`."""
    before = terminal.cpu()
    terminal.drain(seconds)
    return (terminal.cpu() - before) / seconds


def latencies(terminal: Terminal, keys: tuple[tuple[bytes, bytes], ...], presses: int) -> list[float]:
    """Press the keys in turn, each with what it must draw; return the sorted seconds from each key to its picture."""
    found = []
    for press in range(presses):
        key, marker = keys[press % len(keys)]
        # Not in step with the screen's own timers.
        terminal.drain(0.25 + 0.013 * (press % 7))
        terminal.seen = b""
        terminal.send(key)
        found.append(terminal.wait_for(marker))
    return sorted(found)


def tell(what: str, found: list[float]) -> None:
    """Print median and 95th percentile."""
    median, late = statistics.median(found), found[int(len(found) * 0.95)]
    print(f"{what:20} {median * 1000:6.1f} ms median, {late * 1000:.1f} ms p95")


def main() -> None:
    """Print the table."""
    rate = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    with tempfile.TemporaryDirectory() as folder, watched(Path(folder)) as (terminal, log):
        terminal.drain(8.0)
        print(f"quiet log            {cpu_share(terminal, seconds):6.1%} of a core")
        stop = threading.Event()
        writer = threading.Thread(target=pour, args=(log, rate, stop))
        writer.start()
        try:
            terminal.drain(2.0)
            print(f"{rate} lines/s".ljust(20), f"{cpu_share(terminal, seconds):6.1%} of a core")
            tell("key to screen", latencies(terminal, ((b"s", b"paused"), (b"s", b"following")), 60))
            tell("opening the help", latencies(terminal, ((b"?", b"ask first"), (b"q", b"Decode")), 40))
        finally:
            stop.set()
            writer.join()


if __name__ == "__main__":
    main()
