"""The way of the many says exactly what the long way says, line by line, whatever stands before the lines."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loggen import sglang_log

from bringup.core.decode import Decoder
from bringup.core.events import Event
from bringup.core.quick import QuickReader
from bringup.engines import load_engines, load_wrappers

ENGINES, WRAPPERS = load_engines(), load_wrappers()
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
SERVING = (
    "[2026-03-02 10:{m:02}:{s:02} TP0] Decode batch, #running-req: 9, #token: 12, token usage: 0.10, "
    "accept len: 2.{n}, cuda graph: True, gen throughput (token/s): 9.17, #queue-req: 0",
    "[2026-03-02 10:{m:02}:{s:02} TP0] Prefill batch, #new-seq: 1, #new-token: 99, #cached-token: 1, "
    "token usage: 0.13, #running-req: 12, #queue-req: 0",
    'INFO:     10.0.0.7:{n} - "POST /generate HTTP/1.1" 200 OK',
    "[2026-03-02 10:{m:02}:{s:02}] something that nobody knows [{n}]",
    "no header at all, {n}",
    "",
    "[2026-03-02 10:{m:02}:{s:02} TP1] Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/opt/sglang/srt/x.py", line {n}, in run',
    "RuntimeError: broken {n}",
    "\r 50%|#####     | {n}/200 [00:01<00:01, 9.1it/s]",
    "(EngineCore_DP0 pid={n}) INFO 03-02 10:00:00 [x.py:1] text",
    "1: [2026-03-02 10:{m:02}:{s:02} TP0] Load weight end. elapsed=1.0 s, type=X, dtype=y, avail mem=1.00 GB",
)
BEGINNINGS: dict[str, Callable[[int], str]] = {
    "none": lambda n: "",
    "compose": lambda n: "engine-1  | ",
    "two services": lambda n: f"engine-{n % 2}  | ",
    "stamps": lambda n: f"2026-03-02T09:{n // 60 % 60:02}:{n % 60:02}.{n * 7919 % 10**9:09}Z ",
    "stamps, trimmed": lambda n: f"2026-03-02T09:{n // 60 % 60:02}:{n % 60:02}.{n * 7919 % 1000}Z ",
    "journald": lambda n: f"Mar  2 09:{n // 60 % 60:02}:{n % 60:02} gpu-c engine[35219]: ",
    "srun": lambda n: f"{n % 3}: ",
    "host": lambda n: f"[gpu-{n % 2}] ",
    "cri": lambda n: f"2026-03-02T09:14:29.{n:09}Z stderr {'P' if n % 5 == 0 else 'F'} ",
    "two layers": lambda n: f"2026-03-02T09:{n // 60 % 60:02}:{n % 60:02}.123456789Z [pod/demo-{n % 2}/engine] ",
    "now and then": lambda n: "engine-1  | " if n % 7 else "",
    "colour": lambda n: "\x1b[36mengine-1  |\x1b[0m ",
}


class LongWay(QuickReader):
    """Reads every record as if nothing like it had been seen before."""

    def run(self, pieces: list[bytes], index: int) -> int:
        for piece in pieces[index:]:
            self.record(piece.rstrip(b"\r\n"))
            if piece[-1:] == b"\n":
                self.end_line()
        return len(pieces)


def decoded(
    chunks: Sequence[bytes], at: float | None, reader: type[QuickReader], monkeypatch: pytest.MonkeyPatch
) -> list[Event]:
    with monkeypatch.context() as patch:
        patch.setattr("bringup.core.decode.QuickReader", reader)
        decoder = Decoder(ENGINES, WRAPPERS)
    found = [event for chunk in chunks for event in decoder.feed(chunk, at)]
    return [*found, *decoder.close(at)]


def log(kind: str, seed: int, size: int) -> bytes:
    draw, before = random.Random(seed), BEGINNINGS[kind]
    first = sglang_log("0.5.14", tp=2, shards=3, shapes=2)
    lines = first[first.index(b"[2026") :].decode().splitlines()
    lines += [draw.choice(SERVING[:3] * 6 + SERVING).format(m=n // 60 % 60, s=n % 60, n=n) for n in range(size)]
    return "".join(f"{before(n)}{line}\n" for n, line in enumerate(lines)).encode()


@pytest.mark.parametrize("kind", BEGINNINGS)
@QUICK
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 10**6), max_size=6), live=st.booleans())
def test_both_ways_say_the_same(kind: str, seed: int, cuts: list[int], live: bool) -> None:
    data = log(kind, seed, 60)
    places = sorted({0, *(cut % len(data) for cut in cuts)})
    chunks = [data[a:b] for a, b in zip(places, [*places[1:], len(data)], strict=True)]
    at = 5.0 if live else None
    monkeypatch = pytest.MonkeyPatch()
    assert decoded(chunks, at, QuickReader, monkeypatch) == decoded(chunks, at, LongWay, monkeypatch)


def test_a_wrapped_line_of_a_known_shape_asks_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    data = log("stamps", 1, 0)
    decoder = Decoder(ENGINES, WRAPPERS)
    decoder.feed(data, 1.0)
    line = (BEGINNINGS["stamps"](7) + SERVING[0].format(m=1, s=1, n=1) + "\n").encode()
    decoder.feed(line, 1.0)
    asked: list[bytes] = []
    monkeypatch.setattr(QuickReader, "record", lambda self, record: asked.append(record))
    decoder.feed(line * 3, 1.0)
    assert asked == []
