"""The console beside `tail -F`, `less +F` and `lnav` on the same log: the end of a big file, then a flood.

    python tests/bench/bench_pagers.py [GB [SECONDS [LINES_PER_SECOND]]]

Each opens a log of 1 GB (unless told) on a pseudo-terminal of 120x40; timed is until its last line is drawn. Then lines
are appended (20 s of 50,000 a second unless told), and one more: until that is drawn is how far it was behind. What is
not installed is left out. Behind each figure stands its ratio to ours.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench_flood import CONSOLE, MIB, favour, resident
from bench_ingest import Traffic
from flooding import flooded, written
from terminal import Terminal

PATIENCE = 120.0
BACK = 1 << 16
"""Bytes of what is drawn that are looked through."""
LAST = b'[2026-03-02 23:59:59] INFO:     10.0.0.1:50000 - "POST /%s HTTP/1.1" 200 OK\n'
SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;?]*[A-Za-z]|\([A-Z])")
NOT_SEEN = float("nan")
BLOCK = 64 * MIB


@dataclass
class Cost:
    """What a program took: seconds, CPU seconds for 100 MiB, MiB."""

    end: float
    spent: float
    memory: float
    behind: float


def make_log(path: Path, size: int) -> None:
    """Write the log of a server of eight ranks that has served for long."""
    block = Traffic(1).log(BLOCK)
    block = block[: block.rfind(b"\n") + 1]
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(block)


def end_with(log: Path, letter: bytes) -> bytes:
    """Append a line that is like no other; return what of it must be drawn."""
    marker = letter + b"QZXJ" + letter
    with log.open("ab") as file:
        file.write(LAST % marker)
    return marker


def drawn(terminal: Terminal, marker: bytes) -> float:
    """Return the seconds until a text is drawn, in whatever colours; not a number where it never is."""
    begin = time.perf_counter()
    while marker not in SEQUENCE.sub(b"", terminal.seen[-BACK:]):
        try:
            terminal.read(PATIENCE - (time.perf_counter() - begin))
        except TimeoutError:
            return NOT_SEEN
        terminal.seen = terminal.seen[-BACK:]
    return time.perf_counter() - begin


def end_shown(argv: list[str], log: Path, letter: bytes) -> float:
    """Return the seconds until a program has drawn the end of the log."""
    marker = end_with(log, letter)
    with Terminal(argv) as terminal:
        favour(terminal.pid)
        seen = drawn(terminal, marker)
        return seen if math.isnan(seen) else time.perf_counter() - terminal.started


def cost(argv: list[str], log: Path, seconds: float, rate: int) -> Cost:
    """Let a program show the end of the log, the best of some rounds, and follow a flood."""
    size = log.stat().st_size
    end = min(end_shown(argv, log, letter) for letter in (b"W", b"V", b"K"))
    marker = end_with(log, b"Y")
    with Terminal(argv) as terminal:
        favour(terminal.pid)
        drawn(terminal, marker)
        terminal.drain(3.0)
        before = terminal.cpu()
        with flooded(log, "lines", seconds, rate) as writer:
            while writer.poll() is None:
                terminal.drain(0.1)
            poured = written(writer)["bytes"]
        marker, terminal.seen = end_with(log, b"P"), b""
        behind = drawn(terminal, marker)
        spent = (terminal.cpu() - before) / poured * 100 * MIB
        memory = resident(terminal.pid, "VmHWM")
    # The next one sees the same file.
    os.truncate(log, size)
    return Cost(end, spent, memory, behind)


def tell(name: str, found: Cost, ours: Cost) -> None:
    """Print one row."""
    pairs = [(found.end, ours.end), (found.spent, ours.spent), (found.memory, ours.memory), (found.behind, ours.behind)]
    print(f"{name:16}" + "".join(f"{one:9.3f} ({one / own:5.3f})" for one, own in pairs), flush=True)


def main() -> None:
    """Print the table."""
    size = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    rate = int(sys.argv[3]) if len(sys.argv) > 3 else 50_000
    favour("self")
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        log = Path(folder) / "server.log"
        make_log(log, int(size * 1e9))
        way = json.dumps({"port": 0, "log": str(log), "out": str(Path(folder) / "out")})
        programs = {
            "bringup watch": [sys.executable, "-c", CONSOLE, way],
            "tail -F": ["tail", "-F", str(log)],
            "less +F": ["less", "+F", str(log)],
            "lnav": ["lnav", str(log)],
        }
        print(f"{size:g} GB, then {rate} lines/s for {seconds:g} s; load {os.getloadavg()[0]:.1f}")
        print(f"{'':16}{'end, s':>9}{'CPU s/100 MiB':>17}{'MiB at most':>17}{'behind, s':>17}")
        ours = None
        for name, argv in programs.items():
            if shutil.which(argv[0]) is None:
                print(f"{name:16} is not installed")
                continue
            found = cost(argv, log, seconds, rate)
            ours = ours or found
            tell(name, found, ours)


if __name__ == "__main__":
    main()
