"""The same log through a transport means the same: it goes the reader's long way, a plain one the short."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loggen import sglang_log

from bringup.core.decode import Decoder
from bringup.core.events import Event, LinesRead, LogEvent, PhaseBegan
from bringup.engines import load_engines, load_wrappers

ENGINES, WRAPPERS = load_engines(), load_wrappers()
FAILURE = (
    "[2026-03-02 10:14:29 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/lib/python3.12/site-packages/sglang/srt/scheduler.py", line 9, in run\n'
    "    go()\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.\n"
    "second line of the message\n"
    "\n"
    "[2026-03-02 10:14:29] Received sigquit from a child process. It usually means the child failed.\n"
    "[2026-03-02 10:14:29 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/lib/python3.12/site-packages/sglang/srt/scheduler.py", line 9, in run\n'
    "RuntimeError: [gloo/transport/tcp/pair.cc:544] Connection closed by peer [10.0.0.2]:15083\n"
    "Killed\n"
)


def events(data: bytes) -> list[Event]:
    decoder = Decoder(ENGINES, WRAPPERS)
    found = decoder.feed(data, 1.0) + decoder.close(1.0)
    return [replace(event, origin="") for event in found if isinstance(event, LogEvent)]


def unknown(data: bytes) -> int:
    return sum(event.unknown for event in Decoder(ENGINES, WRAPPERS).feed(data, 1.0) if isinstance(event, LinesRead))


@pytest.mark.parametrize("version", ["0.4.9", "0.5.5", "0.5.14", "0.5.23"])
@pytest.mark.parametrize(
    "before",
    [
        "engine-1  | ",
        "\x1b[36mengine-1  |\x1b[0m ",
        "[pod/demo-0/engine] ",
        "[gpu-a] ",
        "0: ",
        "2026-03-02T07:00:00.123456789Z ",
    ],
)
def test_a_wrapped_log_means_the_same(version: str, before: str) -> None:
    plain = sglang_log(version, tp=2, draft=True, shards=4, shapes=3) + FAILURE.encode()
    wrapped = b"\n".join(before.encode() + line for line in plain.split(b"\n"))
    first = plain.index(b"[2026")
    assert events(wrapped[wrapped.index(before.encode() + b"[2026") :]) == events(plain[first:])
    assert unknown(wrapped) == unknown(plain) == 0


def test_the_place_of_a_wrapped_line_is_told_and_holds_for_the_bars_in_its_line() -> None:
    lines = [
        b"0: [2026-03-02 09:14:29 TP0] Load weight begin. avail mem=1 GB\n",
        b"1: [2026-03-02 09:14:29 TP8] Load weight begin. avail mem=1 GB\n",
        b"0: \rLoading safetensors checkpoint shards:  50% Completed | 1/2 [00:01<00:01,  1.00s/it]\n",
    ]
    found = [event for event in Decoder(ENGINES, WRAPPERS).feed(b"".join(lines), 1.0) if isinstance(event, LogEvent)]
    assert [(type(event).__name__, event.origin) for event in found] == [
        ("Fact", "0"),
        ("PhaseBegan", "0"),
        ("PhaseBegan", "1"),
        ("Bar", "0"),
    ]


def test_lines_without_a_time_move_with_the_clock_of_the_transport() -> None:
    lines = [
        b"2026-03-02T07:14:29.000000000Z [2026-03-02 09:14:29 TP0] Load weight begin. avail mem=1 GB\n",
        b"2026-03-02T07:14:59.000000000Z "
        b"Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:01<00:01,  1.00s/it]\n",
    ]
    found = [event for event in Decoder(ENGINES, WRAPPERS).feed(b"".join(lines), None) if isinstance(event, LogEvent)]
    assert found[-1].at - found[-2].at == 30.0


def test_a_time_without_a_year_takes_the_transports() -> None:
    line = b"2026-03-02T08:14:29.000000000Z INFO 03-02 08:14:29 [a.py:1] Starting to load model /m...\n"
    (found,) = [event for event in Decoder(ENGINES, WRAPPERS).feed(line, None) if isinstance(event, PhaseBegan)]
    assert found.at == 1772439269.0
