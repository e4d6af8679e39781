"""How fast `bringup explain` reads a large log, beside `wc -l` and `grep -c`: python tests/bench/bench_explain.py [MB]

A start of eight ranks with a draft, then hours of serving. Every program runs as a process of its own, interleaved, and
the fastest round of each counts: the interpreter's start and the loading of the rules are part of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from loggen import START, sglang_log

ROUNDS = 3
_EXPLAIN = [sys.executable, "-m", "bringup", "explain"]


def big_log(path: Path, size: int) -> int:
    """Write a log of about `size` bytes; returns its lines."""
    start = sglang_log("0.5.15", draft=True)
    lines = start.count(b"\n")
    with path.open("wb") as file:
        written = file.write(start)
        second = 0
        while written < size:
            block = serving(START + timedelta(minutes=5, seconds=second))
            lines += block.count(b"\n")
            written += file.write(block)
            second += 1
    return lines


def serving(at: datetime) -> bytes:
    """Return what a busy server prints in a second."""
    head = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    tick = at.second
    rows = [
        f"[{head} TP0] Decode batch, #running-req: {tick}, #token: {5120 + tick}, token usage: 0.1{tick % 10}, accept "
        f"len: 2.8{tick % 10}, accept rate: 0.61, cuda graph: True, gen throughput (token/s): 398.{tick:02}, "
        "#queue-req: 0"
    ] * 2
    rows += [
        f"[{head} TP0] Prefill batch, #new-seq: {n}, #new-token: {100 * n + tick}, #cached-token: 128, "
        "token usage: 0.13, #running-req: 12, #queue-req: 0, cuda graph: True, input throughput (token/s): 9120.64"
        for n in range(8)
    ]
    rows += [f'[{head}] INFO:     10.0.0.{n}:4{tick:02}{n:02} - "POST /generate HTTP/1.1" 200 OK' for n in range(8)]
    return "".join(f"{row}\n" for row in rows).encode()


def timed(argv: list[str]) -> float:
    """Run a program to its end and return the seconds it took."""
    begun = time.perf_counter()
    # Not to /dev/null: grep would stop at the first match.
    subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    return time.perf_counter() - begun


def peak(argv: list[str]) -> int:
    """Return the most memory in KiB that a program held."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    return int(subprocess.run([sys.executable, "-c", code, *argv], check=True, capture_output=True).stdout)


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder, "big.log"), Path(folder, "small.log")
        lines = big_log(path, megabytes * 1_000_000)
        big_log(small, 1_000_000)
        size = path.stat().st_size
        programs = {
            "wc -l": ["wc", "-l", str(path)],
            "grep -c ready": ["grep", "-c", "ready to roll", str(path)],
            "bringup explain": [*_EXPLAIN, str(path)],
            "bringup explain --json": [*_EXPLAIN, "--json", str(path)],
        }
        times: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(ROUNDS):
            for name, argv in programs.items():
                times[name].append(timed(argv))
        print(f"{size / 1e6:.0f} MB, {lines:,} lines, best of {ROUNDS}, Python {sys.version.split()[0]}")
        for name, taken in times.items():
            print(f"{name:24}{min(taken):8.2f} s{size / min(taken) / 1e6:8.0f} MB/s")
        memory = [peak([*_EXPLAIN, str(log)]) / 1024 for log in (small, path)]
        print(f"most memory: {memory[0]:.0f} MiB for 1 MB, {memory[1]:.0f} MiB for {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
