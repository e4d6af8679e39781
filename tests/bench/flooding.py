"""Floods for the benches: a process of its own writes them, so that neither the console nor who measures waits for it.

    python tests/bench/flooding.py lines|bar|line FILE SECONDS [LINES_PER_SECOND]

appends to FILE, and prints in the end what it wrote, as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench_ingest import Traffic

WRITES = 50
"""Times a second that lines are written."""
REDRAWS = 1000
"""States of the bar a second, each written by itself."""
LONG_LINE = 100_000_000
_PIECE = 200_000
_STATES = 100


def lines(rate: int) -> tuple[list[bytes], float]:
    """Return blocks of lines of a server under load, and the seconds between two of them."""
    every = Traffic(1).log(rate // WRITES * 400).splitlines(keepends=True)
    return [b"".join(every[1 : rate // WRITES + 1])], 1 / WRITES


def bar() -> tuple[list[bytes], float]:
    """Return the states of a bar, and the seconds between two of them."""
    shape = "\rLoading safetensors checkpoint shards: {0:3}% | {0}/100 [00:01<00:09,  9.1it/s]"
    return [shape.format(n % 100).encode() for n in range(_STATES)], 1 / REDRAWS


def pour(log: Path, blocks: list[bytes], every: float, seconds: float) -> int:
    """Write the blocks in turn, each when it is due; return how many bytes that were."""
    begin, done, written = time.perf_counter(), 0, 0
    with log.open("ab", buffering=0) as out:
        while (passed := time.perf_counter() - begin) < seconds:
            due = int(passed / every)
            for number in range(done, due):
                written += out.write(blocks[number % len(blocks)])
            done = due
            time.sleep(every / 2)
        # What was open is ended, so that all of it can be counted.
        return written + out.write(b"\n")


def long_line(log: Path, seconds: float) -> int:
    """Write one line of 100 MB, and its end."""
    pieces = LONG_LINE // _PIECE
    begin = time.perf_counter()
    with log.open("ab", buffering=0) as out:
        for piece in range(pieces):
            out.write(b"x" * _PIECE)
            time.sleep(max(0.0, begin + seconds * piece / pieces - time.perf_counter()))
        out.write(b"\n")
    return LONG_LINE + 1


@contextmanager
def flooded(log: Path, kind: str, seconds: float, rate: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """Let a process write a flood; its end is waited for at the end of the context."""
    argv = [sys.executable, __file__, kind, str(log), str(seconds), str(rate)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as writer:
        yield writer


def written(writer: subprocess.Popen[bytes]) -> dict[str, float]:
    """Wait for a flood to end; return `bytes` and `seconds`."""
    out, _ = writer.communicate()
    told: dict[str, float] = json.loads(out)
    return told


def main() -> None:
    """Write one flood."""
    kind, log, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    begin = time.perf_counter()
    if kind == "line":
        size = long_line(log, seconds)
    else:
        blocks, every = lines(int(sys.argv[4])) if kind == "lines" else bar()
        size = pour(log, blocks, every, seconds)
    print(json.dumps({"bytes": size, "seconds": time.perf_counter() - begin}))


if __name__ == "__main__":
    main()
