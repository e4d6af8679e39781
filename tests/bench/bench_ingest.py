"""How fast a serving log becomes events, beside `wc -l`. Run by hand: python tests/bench/bench_ingest.py"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from methods import keyword_first, literal_alternation, naive

from bringup.core.decode import Decoder
from bringup.core.fold import fold as fold_events
from bringup.core.folding import LineFolder
from bringup.core.framing import Framer
from bringup.core.redact import mask_lines
from bringup.core.rules import Engine
from bringup.core.state import State
from bringup.engines import load_engines, load_wrappers

MEGABYTES = 64
CHUNK = 256 * 1024
ROUNDS = 5
SAMPLE = 1_000_000
"""Bytes that the slow methods read."""
METHODS = {
    "one alternation, regex": literal_alternation,
    "keyword, then regex": keyword_first,
    "every regex, every line": naive,
}
"""Ways that were not taken, with the same rules."""


class Traffic:
    """Lines of a server of eight ranks under load; `printing` of them print (one with TP, all with DP attention)."""

    def __init__(self, printing: int) -> None:
        self.source = random.Random(7)
        self.tags = [" TP0"] if printing == 1 else [f" DP{rank} TP{rank}" for rank in range(printing)]

    def log(self, size: int) -> bytes:
        lines = ["[2026-03-02 00:00:00] server_args={'model_path': '/models/m', 'tp_size': 8, 'port': 30000}\n"]
        written = second = 0
        while written < size:
            more = self.second(f"2026-03-02 {second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}")
            lines.extend(more)
            written += sum(map(len, more))
            second += 1
        return "".join(lines).encode()[:size]

    def second(self, stamp: str) -> list[str]:
        draw = self.source.randrange
        lines = []
        for tag in self.tags:
            lines.extend(self.decode(f"[{stamp}{tag}]") for _ in range(1 if len(self.tags) > 1 else 2))
            lines.extend(
                self.prefill(f"[{stamp}{tag}]") for _ in range(draw(6, 14) if len(self.tags) == 1 else draw(4))
            )
        lines.extend(self.access(f"[{stamp}]") for _ in range(draw(6, 14)))
        return lines

    def decode(self, head: str) -> str:
        draw = self.source.randrange
        return (
            f"{head} Decode batch, #running-req: {draw(64)}, #token: {draw(90000)}, token usage: 0.{draw(10, 99)}, "
            f"accept len: 2.{draw(10, 99)}, accept rate: 0.61, cuda graph: True, "
            f"gen throughput (token/s): {draw(900)}.17, #queue-req: 0\n"
        )

    def prefill(self, head: str) -> str:
        draw = self.source.randrange
        return (
            f"{head} Prefill batch, #new-seq: {draw(9)}, #new-token: {draw(8192)}, #cached-token: 128, "
            "token usage: 0.13, #running-req: 12, #queue-req: 0, #pending-token: 0, cuda graph: True, "
            f"input throughput (token/s): {draw(9000)}.64\n"
        )

    def access(self, head: str) -> str:
        draw = self.source.randrange
        path = self.source.choice(("/v1/chat/completions", "/generate", "/health"))
        return f'{head} INFO:     10.0.0.{draw(255)}:{draw(65535)} - "POST {path} HTTP/1.1" 200 OK\n'


def best_of(run: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return the seconds of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        gc.collect()
        begun = clock()
        run()
        times.append(clock() - begun)
    return min(times)


def count(data: bytes) -> float:
    """Return how long `wc -l` takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "serving.log")
        path.write_bytes(data)
        command = ["wc", "-l", str(path)]
        return best_of(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), time.perf_counter)


def other_ways(data: bytes, engines: tuple[Engine, ...]) -> dict[str, float]:
    """Return how long each of the ways not taken would need for all of `data`."""
    sample = data[:SAMPLE].split(b"\n")
    rules = [rule for engine in engines if engine.name == "sglang" for rule in engine.rules]
    reads = {name: method(rules) for name, method in METHODS.items()}
    return {name: best_of(partial(read, sample)) * len(data) / SAMPLE for name, read in reads.items()}


def measure(title: str, data: bytes) -> None:
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

    def judge() -> None:
        decoder, state = Decoder(engines, wrappers), State()
        for chunk in chunks:
            state = fold_events(state, decoder.feed(chunk, 0.0))

    lines = data.count(b"\n")
    base = count(data)
    print(f"\n{title}: {lines} lines of {len(data) // lines} bytes")
    print(f"{'':24}{'MB/s':>8}{'lines/s':>12}{'x wc -l':>10}")
    rows = {"wc -l (wall)": base, "framing": best_of(frame), "framing, rules, events": best_of(decode)}
    rows["the same, and reduce"] = best_of(judge)
    rows["display lines, masked"] = best_of(fold)
    rows |= other_ways(data, engines)
    for name, taken in rows.items():
        print(f"{name:24}{len(data) / taken / 1e6:8.0f}{lines / taken:12.0f}{taken / base:10.1f}")


def main() -> None:
    print(f"{MEGABYTES} MB, {CHUNK >> 10} KiB chunks, CPU time, best of {ROUNDS}, Python {sys.version.split()[0]}")
    measure("TP 8, only TP0 prints", Traffic(1).log(MEGABYTES * 1_000_000))
    measure("DP attention 8, every rank prints", Traffic(8).log(MEGABYTES * 1_000_000))


if __name__ == "__main__":
    main()
