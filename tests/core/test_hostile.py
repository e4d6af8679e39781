"""A log is untrusted: whatever bytes it holds, nothing breaks, grows without bound, or reaches a terminal unharmed."""

from __future__ import annotations

import tracemalloc

from explaining import ENGINES, WRAPPERS, explained
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loggen import sglang_log
from vllmgen import vllm_log

from bringup.core.decode import Decoder

QUICK = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = (sglang_log("0.5.14", tp=2, shards=2, shapes=2), vllm_log("0.12.0", failure="oom"))
PIECES = st.sampled_from([
    b"\x00", b"\x1b[31m", b"\x1b]0;title\x07", b"\x1b]52;c;aGk=\x1b\\", b"\x1bP", b"\x9b", b"\xff\xfe", b"\xc3", b"\r",
    b"\n", b"\r\n", b"[", b"] ", b"(Worker_TP0 pid=", b"{\"log\":\"", b"\xe2\x80\xae",
    b"Traceback (most recent call last):\n",
    b"[2026-03-02 09:14:29 TP0] ", b"INFO 03-02 09:14:29 [a.py:1] ", b"server_args=", b"99999999999999999999/1 [",
    b"  File \"", b"RuntimeError: ", b" TP4294967296", b"[2026-99-99 99:99:99] ", b"INFO 99-99 99:99:99 [a.py:1] x",
])  # fmt: skip


def printable(data: bytes) -> bool:
    verdict = explained(data)
    told = [verdict.summary, *verdict.evidence, *(warning.detail for warning in verdict.warnings)]
    if verdict.cause is not None:
        told += [verdict.cause.line, verdict.cause.advice]
    return all(text.isprintable() for text in told)


@QUICK
@given(data=st.binary(max_size=2000))
def test_random_bytes(data: bytes) -> None:
    assert printable(data)


@QUICK
@given(parts=st.lists(st.one_of(PIECES, st.binary(max_size=12)), max_size=60))
def test_pieces_of_logs_in_any_order(parts: list[bytes]) -> None:
    assert printable(b"".join(parts))


@QUICK
@given(log=st.sampled_from(SEEDS), places=st.lists(st.tuples(st.integers(0, 1 << 16), PIECES), max_size=12))
def test_a_log_with_something_put_in_anywhere(log: bytes, places: list[tuple[int, bytes]]) -> None:
    for place, piece in places:
        place %= len(log)
        log = log[:place] + piece + log[place:]
    assert printable(log)


def test_one_line_of_a_hundred_megabytes_stays_small() -> None:
    decoder, chunk, events = Decoder(ENGINES, WRAPPERS), b"x" * (1 << 20), 0
    decoder.feed(b"[2026-03-02 09:14:29] server_args={'model_path': '/m', 'tp_size': 2}\n", 1.0)
    tracemalloc.start()
    for _ in range(100):
        events += len(decoder.feed(chunk, 1.0)) + len(decoder.peek(1.0))
    grown = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert grown < 16 << 20
    assert events == 100
    assert any(
        getattr(event, "phase", "") for event in decoder.feed(b"\n[2026-03-02 09:14:30 TP0] Load weight begin.\n", 1.0)
    )


def test_a_line_of_many_redraws_stays_small() -> None:
    decoder, draw = (
        Decoder(ENGINES, WRAPPERS),
        b"\rCapturing batches (bs=8 avail_mem=1.00 GB):   0%|   | 0/8 [00:00<?, ?it/s]",
    )
    tracemalloc.start()
    for _ in range(40):
        decoder.feed(draw * 200, 1.0)
    grown = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert grown < 8 << 20
