"""How fast a serving log becomes events, beside `wc -l` on the same file. Run by hand: python tests/bench/bench_ingest.py"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bringup.core.decode import Decoder
from bringup.core.folding import LineFolder
from bringup.core.framing import Framer
from bringup.core.redact import mask_lines
from bringup.engines import load_engines, load_wrappers

MEGABYTES = 64
CHUNK = 256 * 1024
ROUNDS = 5


def serving_log(size: int) -> bytes:
    """Return a log of a server under load: decode, prefill and access lines of eight data-parallel ranks."""
    random_source = random.Random(7)
    lines = ["[2026-03-02 09:14:14] server_args={'model_path': '/models/m', 'tp_size': 8, 'dp_size': 8, 'port': 30000}\n"]
    written = second = 0
    while written < size:
        stamp = f"2026-03-02 {second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"
        begun = len(lines)
        for rank in range(8):
            lines.append(decode_line(random_source, stamp, rank))
            lines.extend(prefill_line(random_source, stamp, rank) for _ in range(random_source.randrange(4)))
        lines.extend(access_line(random_source, stamp) for _ in range(random_source.randrange(8, 24)))
        written += sum(map(len, lines[begun:]))
        second += 1
    return "".join(lines).encode()[:size]


def decode_line(source: random.Random, stamp: str, rank: int) -> str:
    return (
        f"[{stamp} DP{rank} TP{rank}] Decode batch, #running-req: {source.randrange(64)}, #token: {source.randrange(90000)},"
        f" token usage: 0.{source.randrange(99):02}, accept len: 2.{source.randrange(99):02}, accept rate: 0.61, cuda graph:"
        f" True, gen throughput (token/s): {source.randrange(900)}.17, #queue-req: 0\n"
    )


def prefill_line(source: random.Random, stamp: str, rank: int) -> str:
    return (
        f"[{stamp} DP{rank} TP{rank}] Prefill batch, #new-seq: {source.randrange(9)}, #new-token: {source.randrange(8192)},"
        f" #cached-token: 128, token usage: 0.13, #running-req: 12, #queue-req: 0, #pending-token: 0, cuda graph: True,"
        f" input throughput (token/s): {source.randrange(9000)}.64\n"
    )


def access_line(source: random.Random, stamp: str) -> str:
    path = source.choice(("/v1/chat/completions", "/generate", "/health"))
    return f'[{stamp}] INFO:     10.0.0.{source.randrange(255)}:{source.randrange(65535)} - "POST {path} HTTP/1.1" 200 OK\n'


def best_of(run: Callable[[], object]) -> float:
    """Return the CPU seconds of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        gc.collect()
        begun = time.process_time()
        run()
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    data = serving_log(MEGABYTES << 20)
    chunks = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    engines, wrappers = load_engines(), load_wrappers()

    def frame() -> None:
        framer = Framer()
        for chunk in chunks:
            framer.split(chunk)

    def decode() -> None:
        decoder = Decoder(engines, wrappers)
        for chunk in chunks:
            decoder.feed(chunk, 0.0)

    def fold() -> None:
        folder = LineFolder(engines)
        for chunk in chunks:
            mask_lines(folder.feed(chunk))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "serving.log")
        path.write_bytes(data)
        times = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            subprocess.run(["wc", "-l", str(path)], check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - begun)
    count = min(times)
    lines = data.count(b"\n")
    print(f"{MEGABYTES} MB, {lines} lines, {CHUNK >> 10} KiB chunks, CPU time, best of {ROUNDS}, Python {sys.version.split()[0]}")
    print(f"{'':24}{'MB/s':>8}{'lines/s':>12}{'x wc -l':>10}")
    for name, taken in (
        ("wc -l (wall)", count),
        ("framing", best_of(frame)),
        ("framing, rules, events", best_of(decode)),
        ("display lines, masked", best_of(fold)),
    ):
        print(f"{name:24}{MEGABYTES / taken:8.0f}{lines / taken:12.0f}{taken / count:10.1f}")


if __name__ == "__main__":
    main()
