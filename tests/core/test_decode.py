from __future__ import annotations

import itertools
import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loggen import READY, VERSIONS, sglang_log

from bringup.core.decode import Decoder
from bringup.core.events import (
    Bar,
    Decoded,
    Event,
    Fact,
    Launch,
    LinesRead,
    PhaseBegan,
    PhaseEnded,
    Reached,
)
from bringup.engines import load_engines, load_wrappers

ENGINES, WRAPPERS = load_engines(), load_wrappers()
HEAD = "[2026-03-02 09:14:29 TP{}] "


def decoder(**options: object) -> Decoder:
    return Decoder(ENGINES, WRAPPERS, **options)  # type: ignore[arg-type]


def meaning(events: list[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, LinesRead)]


def decoded(data: bytes, **options: object) -> list[Event]:
    reader = decoder(**options)
    return meaning(reader.feed(data, None) + reader.close(None))


def of(kind: type[Event], events: list[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("draft", [False, True])
@pytest.mark.parametrize("tp", [1, 2, 8])
def test_every_edge_of_every_rank_is_seen(version: str, draft: bool, tp: int) -> None:
    events = decoded(sglang_log(version, tp=tp, draft=draft, shards=5))
    models = 2 if draft else 1
    ranks = [((("tp", rank),) if tp > 1 or version < "0.4.6" else ()) for rank in range(tp)]
    for kind in (PhaseBegan, PhaseEnded):
        for phase in ("weights", "kv-cache"):
            seen = sorted(event.labels for event in of(kind, events) if event.phase == phase)  # type: ignore[attr-defined]
            assert seen == sorted(ranks * models), (kind, phase)
        graphs = [event for event in of(kind, events) if event.phase == "graphs"]  # type: ignore[attr-defined]
        assert {event.labels for event in graphs if event.role != "draft"} == set(ranks)  # type: ignore[attr-defined]
    begun = {event.labels for event in of(PhaseBegan, events) if event.phase == "distributed"}  # type: ignore[attr-defined]
    assert begun == set(ranks)
    assert [event.milestone for event in of(Reached, events)][-3:] == ["http-up", "warmup-answered", "ready"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_of_a_healthy_log_is_unknown_and_nothing_is_a_fault(version: str) -> None:
    reader = decoder()
    events = reader.feed(sglang_log(version, draft=True), None)
    last = events[-1]
    assert isinstance(last, LinesRead)
    assert last.unknown == 0
    assert reader.engine == "sglang"
    assert {type(event).__name__ for event in events} == {
        "Fact", "Launch", "PhaseBegan", "PhaseEnded", "Bar", "Reached", "Decoded", "LinesRead",
    }  # fmt: skip


@pytest.mark.parametrize("version", ["0.4.9", "0.5.23"])
def test_bars_show_every_state_without_a_rank(version: str) -> None:
    bars = of(Bar, decoded(sglang_log(version, shards=5, draft=True)))
    shards = [(bar.done, bar.total) for bar in bars if bar.kind == "shards"]  # type: ignore[attr-defined]
    assert shards == [(0, 5), (1, 5), (2, 5), (3, 5), (4, 5), (5, 5), (5, 5), (0, 1), (1, 1), (1, 1)]
    assert {bar.labels for bar in bars} == {()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_launch_tells_its_arguments(version: str) -> None:
    (launch,) = of(Launch, decoded(sglang_log(version, draft=True, tp=4, port=31000, until="launch")))
    assert isinstance(launch, Launch)
    assert (launch.engine, launch.model, launch.draft_model) == ("sglang", "/models/target", "/models/draft")
    assert (launch.algorithm, launch.tp, launch.port, launch.loader_threads) == ("EAGLE3", 4, 31000, 8)


@given(
    st.sampled_from(["0.4.3", "0.5.9", "0.5.23"]),
    st.integers(1, 3),
    st.lists(st.integers(0, 40_000), max_size=10),
)
@settings(max_examples=30, deadline=None)
def test_events_do_not_depend_on_the_chunks(version: str, seed: int, places: list[int]) -> None:
    data = sglang_log(version, tp=2, draft=True, shards=4, shapes=3, seed=seed)
    reader = decoder()
    edges = [0, *sorted(place % len(data) for place in places), len(data)]
    got: list[Event] = []
    for begin, end in itertools.pairwise(edges):
        got += reader.feed(data[begin:end], None)
        reader.peek(None)
    assert meaning(got + reader.close(None)) == decoded(data)


def test_byte_by_byte_is_the_same_too() -> None:
    data = sglang_log("0.5.23", tp=2, shards=3, shapes=2, until="graphs")
    reader = decoder()
    got = [event for at in range(len(data)) for event in reader.feed(data[at : at + 1], None)]
    assert meaning(got + reader.close(None)) == decoded(data)
    read = of(LinesRead, got)
    assert sum(event.size for event in read) == len(data)  # type: ignore[attr-defined]
    assert sum(event.lines for event in read) == data.count(b"\n")  # type: ignore[attr-defined]


def test_lines_are_counted_by_line_feeds_and_glued_lines_are_found() -> None:
    glued = HEAD.format(1) + "Load weight end. elapsed=1.00 s, type=M, avail mem=1 GB\n"
    bar = "\rMulti-thread loading shards:   0% Completed | 0/6 [00:00<?, ?it/s]"
    events = decoded(f"{HEAD.format(0)}Load weight begin. avail mem=1 GB\n{bar}{glued}{bar}\n".encode())
    assert [(type(event), event.line) for event in events] == [  # type: ignore[attr-defined]
        (Fact, 1), (PhaseBegan, 1), (Bar, 2), (PhaseEnded, 2), (Bar, 3),
    ]  # fmt: skip
    ended = events[3]
    assert isinstance(ended, PhaseEnded)
    assert (ended.labels, ended.seconds, ended.model_class) == ((("tp", 1),), 1.0, "M")


def test_live_events_have_the_time_of_arrival_and_old_ones_their_own() -> None:
    data = (HEAD.format(0) + "Load weight begin. avail mem=1 GB\n").encode()
    (live,) = of(PhaseBegan, decoder(utc_offset=3600.0).feed(data, 50.0))
    (old,) = of(PhaseBegan, decoded(data, utc_offset=3600.0))
    assert (live.at, live.stamp) == (50.0, 1772439269.0)  # type: ignore[attr-defined]
    assert (old.at, old.stamp) == (1772439269.0, 1772439269.0)  # type: ignore[attr-defined]


def test_the_bar_in_the_tail_is_provisional_and_told_once() -> None:
    reader = decoder()
    reader.feed(b"\rMulti-thread loading shards:  25% Completed | 1/4 [00:01<00:03,  1.83s/it]", 1.0)
    (bar,) = reader.peek(2.0)
    assert isinstance(bar, Bar)
    assert (bar.done, bar.total, bar.provisional, bar.at, bar.line) == (1, 4, True, 2.0, 1)
    assert reader.peek(3.0) == []
    (whole, _) = reader.feed(b"\rMulti-thread loa", 4.0)
    assert isinstance(whole, Bar)
    assert not whole.provisional
    assert reader.peek(5.0) == []


def test_a_bar_whose_total_is_cut_short_is_not_told() -> None:
    reader = decoder()
    reader.feed(b"\rMulti-thread loading shards:  25% Completed | 1/4", 1.0)
    assert reader.peek(1.0) == []


def test_ranks_that_printed_are_heard_even_when_their_lines_mean_nothing() -> None:
    (read,) = of(
        LinesRead, decoder(engine="sglang").feed((HEAD.format(3) + "Prefill batch, #new-seq: 1\n").encode(), 1.0)
    )
    assert isinstance(read, LinesRead)
    assert (read.heard, read.lines, read.unknown, read.stamp) == (((("tp", 3),),), 1, 0, 1772442869.0)


def test_the_warm_up_answer_is_told_once_a_launch() -> None:
    answer = '[2026-03-02 09:15:00] INFO:     10.0.0.1:1 - "POST /generate HTTP/1.1" 200 OK\n'
    start = sglang_log("0.5.15", tp=1, until="launch").decode()
    events = decoded((start + answer * 3 + start + answer * 3).encode())
    assert [event.milestone for event in of(Reached, events)] == ["warmup-answered"] * 2  # type: ignore[attr-defined]


def test_the_end_of_a_log_is_read_without_a_line_end_and_the_next_log_begins_at_one() -> None:
    reader = decoder()
    assert of(Reached, reader.feed(f"\n\n[2026-03-02 09:15:00] {READY}".encode(), 1.0)) == []
    (ready,) = of(Reached, reader.close(2.0))
    assert (ready.line, ready.at) == (3, 2.0)  # type: ignore[attr-defined]
    (again,) = of(Reached, reader.feed(f"[2026-03-02 09:15:00] {READY}\n".encode(), 3.0))
    assert again.line == 1  # type: ignore[attr-defined]


def test_colours_and_broken_bytes_do_not_hide_a_line() -> None:
    head = HEAD.format(0).encode()
    line = (
        b"\x1b[36m"
        + head
        + b"Decode batch, #running-req: 1, \xff\x00, accept len: 1.00, gen throughput (token/s): 9.5\x1b[0m\n"
    )
    (event,) = of(Decoded, decoded(line))
    assert isinstance(event, Decoded)
    assert (event.running, event.accept_len, event.tokens_per_s) == (1, 1.0, 9.5)


@given(
    st.lists(
        st.binary(max_size=300) | st.sampled_from([b"[", b"] ", b"\r", b"\n", HEAD.encode(), b"Traceback "]),
        max_size=20,
    )
)
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_survived(parts: list[bytes]) -> None:
    reader = decoder()
    for part in parts:
        reader.feed(part, 1.0)
        reader.peek(1.0)
    reader.close(1.0)


def test_ten_megabytes_without_a_line_end_take_no_memory() -> None:
    reader = decoder()
    block = random.Random(1).randbytes(1 << 20).replace(b"\n", b".").replace(b"\r", b".")
    tracemalloc.start()
    for _ in range(10):
        reader.feed(block, 1.0)
        reader.peek(1.0)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 1 << 20
