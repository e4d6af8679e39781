"""A log that floods: what the console costs, how soon keys answer, whether all is read; beside `less`, `tail`, `lnav`.

    python tests/bench/bench_flood.py [SECONDS [LINES_PER_SECOND]]

All of them follow a local file on a pseudo-terminal of 120x40; the console follows it over SSH on loopback, too.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench_console import LINE, latencies
from bench_ingest import Traffic
from sshd import SFTP, start_sshd
from terminal import Terminal

from bringup.hosts.ssh.tokens import local_user

PRESSES = 60
KEYS = ((b"s", b"paused"), (b"s", b"following"))
WRITES = 50
"""Times a second that the writer writes."""
LONG_LINE = 100_000_000
MIB = 1 << 20

CONSOLE = """
import json, sys
from pathlib import Path
from bringup.cli.console import make_console
from bringup.hosts.ssh.config import SshOptions
from bringup.session.target import Target
way = json.loads(sys.argv[1])
options = None
if way["port"]:
    options = SshOptions("127.0.0.1", way["port"], way["user"], (Path(way["key"]),), way["known"].encode())
target = Target(name="bench", log=way["log"], port=9)
app, _ = make_console("bench" if way["port"] else "", target, options=options)
app.run()
console = app.watch_screen.console
log = console.state.log
told = {"size": log.size, "lines": log.lines, "skipped": console._picture.skipped}
Path(way["out"]).write_text(json.dumps(told))
"""


@dataclass
class Flood:
    """Bytes that are appended to a file, so many times a second, until told to stop."""

    log: Path
    block: bytes
    every: float
    written: int = 0

    @contextmanager
    def pouring(self) -> Iterator[None]:
        """Write while the context is open."""
        stop = threading.Event()
        writer = threading.Thread(target=self._pour, args=(stop,))
        writer.start()
        try:
            yield
        finally:
            stop.set()
            writer.join()

    def _pour(self, stop: threading.Event) -> None:
        begin, blocks = time.perf_counter(), 0
        with self.log.open("ab", buffering=0) as out:
            while not stop.is_set():
                due = int((time.perf_counter() - begin) / self.every)
                for _ in range(due - blocks):
                    out.write(self.block)
                    self.written += len(self.block)
                blocks = due
                time.sleep(self.every / 2)


def lines(log: Path, rate: int) -> Flood:
    """Lines of a server under load, `rate` a second."""
    every = Traffic(1).log(rate // WRITES * 400).splitlines(keepends=True)
    return Flood(log, b"".join(every[1 : rate // WRITES + 1]), 1 / WRITES)


def bar(log: Path) -> Flood:
    """A bar that is redrawn 1,000 times a second."""
    states = "".join(
        f"\rLoading safetensors checkpoint shards: {n:3}% | {n}/100 [00:01<00:09,  9.1it/s]" for n in range(20)
    )
    return Flood(log, states.encode(), 0.02)


def long_line(log: Path) -> Flood:
    """A line of 100 MB, written within ten seconds or so."""
    return Flood(log, b"x" * (LONG_LINE // 500), 0.02)


def resident(pid: int) -> float:
    """Return the MiB of memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def flooded(way: dict[str, object], what: str, flood: Flood, seconds: float) -> None:
    """Watch a flood; print what it costs, when keys answer, and what was not read."""
    out = Path(str(way["out"]))
    with Terminal([sys.executable, "-c", CONSOLE, json.dumps(way)]) as terminal:
        terminal.wait_for(b"Decode batch", 60.0)
        terminal.drain(3.0)
        with flood.pouring():
            terminal.drain(2.0)
            memory, before, began = resident(terminal.pid), terminal.cpu(), time.perf_counter()
            found = latencies(terminal, KEYS, PRESSES)
            terminal.drain(max(0.0, seconds - (time.perf_counter() - began)))
            share = (terminal.cpu() - before) / (time.perf_counter() - began)
            memory, grown = resident(terminal.pid), resident(terminal.pid) - memory
        size = flood.log.stat().st_size
        terminal.drain(5.0)
        terminal.send(b"q")
        terminal.end()
    told = json.loads(out.read_text())
    median, late = statistics.median(found) * 1000, found[int(len(found) * 0.95)] * 1000
    print(
        f"{what:34} {share:5.0%} of a core, keys {median:3.0f} ms median {late:3.0f} p95, "
        f"{memory:4.0f} MiB ({grown:+.0f}), {size / MIB:.0f} MiB written, {size - told['size']} bytes not read, "
        f"{told['lines']} lines read, {told['skipped']} not shown",
        flush=True,
    )


def beside(argv: list[str], log: Path, rate: int, seconds: float, keys: bytes = b"") -> tuple[float, float]:
    """Let a program follow the same flood; return its CPU seconds for each 100 MiB, and its memory."""
    log.write_text(LINE.format(second=0, token=1))
    flood = lines(log, rate)
    with Terminal(argv) as terminal:
        terminal.drain(4.0)
        terminal.send(keys)
        terminal.drain(1.0)
        before = terminal.cpu()
        with flood.pouring():
            terminal.drain(seconds)
        terminal.drain(3.0)
        return (terminal.cpu() - before) / flood.written * 100 * MIB, resident(terminal.pid)


def compare(folder: Path, rate: int, seconds: float) -> None:
    """Print what each program takes for the same bytes."""
    log = folder / "same.log"
    way = json.dumps({"port": 0, "log": str(log), "out": str(folder / "out")})
    programs = {
        "bringup watch": [sys.executable, "-c", CONSOLE, way],
        "tail -F": ["tail", "-F", str(log)],
        "less +F": ["less", "+F", str(log)],
        "lnav": ["lnav", str(log)],
    }
    for name, argv in programs.items():
        if shutil.which(argv[0]) is None:
            print(f"{name:16} is not here")
            continue
        spent, memory = beside(argv, log, rate, seconds)
        print(f"{name:16} {spent:6.2f} CPU seconds for 100 MiB, {memory:5.0f} MiB of memory", flush=True)


def main() -> None:
    """Print the tables."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    floods: dict[str, Callable[[Path], Flood]] = {
        f"{rate} lines/s": lambda log: lines(log, rate),
        "a bar, 1,000 states/s": bar,
        "one line of 100 MB": long_line,
    }
    with tempfile.TemporaryDirectory() as name, start_sshd(Path(name) / "sshd", SFTP) as server:
        folder = Path(name)
        known = server.known_line if isinstance(server.known_line, str) else server.known_line.decode()
        ssh = {"port": server.port, "user": local_user(), "key": str(server.client_key), "known": known}
        for what, make in floods.items():
            for where, more in (("local", {"port": 0}), ("SSH", ssh)):
                log = folder / "server.log"
                log.write_text(LINE.format(second=0, token=1))
                way = {"log": str(log), "out": str(folder / "out"), **more}
                flooded(way, f"{what}, {where}", make(log), seconds if make is not long_line else 12.0)
        compare(folder, rate, min(20.0, seconds))


if __name__ == "__main__":
    main()
