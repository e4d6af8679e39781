"""Rows of the probe become events; rows that make no sense become nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bringup.core.events import (
    ChannelClosed,
    ChannelOpened,
    Event,
    GpusSeen,
    HostSeen,
    PortSeen,
    ProcessesSeen,
    ServerGone,
)
from bringup.hosts.probe import LONGEST_ROW, ProbeDecoder
from bringup.hosts.shipped import grep_pattern

CLOCK = "K\t1000500.250\t500.00\n"
HOST = "H\tLinux\t100\t4096\t+0530\tann\tgpu-a\n"
SMI = "0, GPU-aa, 1024, 143771, 37, 125.76, 700.00, 40, NVIDIA H200\n"


def row(pid: int, ppid: int = 1, *, state: str = "S", start: int = 7, rchar: str = "10", comm: str = "python3") -> str:
    return f"P\t{pid} {state} {ppid} 50 40 1000 3 250 50 9 {start} 256\t{rchar}\t4096\t1000\tfutex_do_wait\t{comm}\n"


def sample(*rows: str, uptime: float = 501.0, count: int | None = None) -> str:
    return f"B\t{uptime:.2f}\n" + "".join(rows) + f"E\t{len(rows) if count is None else count}\n"


def decode(text: str, root: int | None = 70) -> list[Event]:
    return ProbeDecoder(root).feed(text.encode())


def samples(events: Sequence[Event]) -> list[ProcessesSeen]:
    return [event for event in events if isinstance(event, ProcessesSeen)]


def test_the_host() -> None:
    assert decode(CLOCK + HOST) == [
        HostSeen(
            at=1000500.25,
            node="gpu-a",
            system="Linux",
            ticks=100,
            boot=1000000.25,
            utc_offset=19800.0,
            user="ann",
        )
    ]


def test_a_date_without_fractions() -> None:
    (host,) = decode(CLOCK.replace("500.250", "500.N") + HOST)
    assert host.at == 1000500.0


def test_a_whole_sample() -> None:
    title = "T\t70\tsglang::scheduler_TP3\n"
    maps = "M\t70\t=\nM\t70\t+\t/m/b.safetensors\nM\t70\t+\t/m/a.safetensors (deleted)\n"
    (seen,) = samples(decode(CLOCK + HOST + "U\t1000\tann\n" + "B\t501.50\n" + row(70) + title + maps + "E\t1\n"))
    assert (seen.at, seen.root) == (1000501.75, 70)
    (process,) = seen.processes
    assert (process.pid, process.ppid, process.pgid, process.sid, process.start) == (70, 1, 50, 40, 7)
    assert (process.title, process.comm, process.user) == ("sglang::scheduler_TP3", "python3", "ann")
    assert (process.state, process.wchan, process.threads) == ("S", "futex_do_wait", 9)
    assert (process.cpu_s, process.minflt, process.majflt, process.rss_kb) == (3.0, 1000, 3, 1024)
    assert (process.rchar, process.read_bytes) == (10, 4096)
    assert process.shards == ("/m/a.safetensors", "/m/b.safetensors")


def test_what_did_not_change_is_kept_and_what_is_missing_has_ended() -> None:
    later = sample("S\t 70 71\n", uptime=502.0, count=2) + sample("S\t 70\n", uptime=503.0)
    first, second, third = samples(decode(CLOCK + sample(row(70), row(71, 70)) + later))
    assert first.processes == second.processes
    assert [process.pid for process in third.processes] == [70]


def test_files_come_and_go() -> None:
    decoder = ProbeDecoder(70)
    begin = sample(row(70), "M\t70\t=\nM\t70\t+\t/m/1.pt\n", count=1)
    (first,) = samples(decoder.feed((CLOCK + begin).encode()))
    text = sample("S\t 70\n", "M\t70\t-\t/m/1.pt\nM\t70\t+\t/m/2.pt\n", uptime=502.0, count=1)
    (second,) = samples(decoder.feed(text.encode()))
    assert [known.processes[0].shards for known in (first, second)] == [("/m/1.pt",), ("/m/2.pt",)]


def test_a_number_used_again_inherits_nothing() -> None:
    told = "T\t70\told\nM\t70\t=\n"
    first, second = samples(decode(CLOCK + sample(row(70), told, count=1) + sample(row(70, start=9), uptime=502.0)))
    assert first.processes[0].title == "old"
    assert (second.processes[0].title, second.processes[0].shards) == ("[python3]", None)


def test_a_sample_with_rows_missing_is_none() -> None:
    decoder = ProbeDecoder(70)
    assert decoder.feed((CLOCK + sample(row(70), count=2)).encode()) == []
    assert decoder.skipped == 1


def test_a_launcher_that_is_gone_and_what_it_left() -> None:
    text = CLOCK + sample(row(70), row(71, 70)) + sample("S\t 71\n", uptime=502.0) + sample("S\t 71\n", uptime=503.0)
    gone = [event for event in decode(text + sample(uptime=504.0)) if isinstance(event, ServerGone)]
    assert gone == [
        ServerGone(at=1000502.25, pid=70, orphans=(71,)),
        ServerGone(at=1000504.25, pid=70, orphans=()),
    ]


def test_a_zombie_is_gone() -> None:
    events = decode(CLOCK + sample(row(70, state="Z")))
    assert ServerGone(at=1000501.25, pid=70) in events


def test_closed_maps_are_told_once_and_only_of_the_living() -> None:
    ending = decode(CLOCK + sample(row(70, state="Z", rchar=""), "M\t70\t!\n", count=1))
    assert not any(isinstance(event, ChannelClosed) for event in ending)
    text = CLOCK + sample(row(70, rchar=""), "M\t70\t!\n", count=1) + sample("S\t 70\n", uptime=502.0)
    (closed,) = [event for event in decode(text) if isinstance(event, ChannelClosed)]
    assert closed.channel == "maps"
    assert "1000's processes" in closed.why


@pytest.mark.parametrize(
    ("fields", "pid", "title"),
    [("-\t", None, ""), ("0\t", 0, ""), ("9\tother --x", 9, "other --x"), ("70\t", 70, "me")],
)
def test_who_listens(fields: str, pid: int | None, title: str) -> None:
    events = decode(CLOCK + sample(row(70), "T\t70\tme\n", f"L\t7530\t{fields}\n", count=1))
    assert PortSeen(at=1000501.25, port=30000, pid=pid, title=title) in events


def test_candidates_and_the_clock() -> None:
    decoder = ProbeDecoder()
    assert decoder.feed((CLOCK + "C\t502.00\t 12 13\n").encode()) == []
    assert decoder.candidates == {12, 13}
    assert decoder.now == 1000502.25


def test_controls_in_names_and_paths_reach_nobody() -> None:
    odd = "a\x1b]52;c;aGk=\x07b\x9b2J"
    told = f"T\t70\t{odd}\nM\t70\t=\nM\t70\t+\t/m/{odd}.pt\n"
    (seen,) = samples(decode(CLOCK + sample(row(70, comm=odd), told, count=1)))
    process = seen.processes[0]
    assert all(text.isprintable() for text in (process.comm, process.title, *(process.shards or ())))
    assert process.title.startswith("ab")


def test_any_cut_gives_the_same_events() -> None:
    text = (CLOCK + HOST + sample(row(70), "T\t70\té\n", count=1) + f"G\t501.00\ng\t{SMI}Q\t501.04\n").encode()
    whole = ProbeDecoder(70).feed(text)
    decoder = ProbeDecoder(70)
    assert [event for place in range(len(text)) for event in decoder.feed(text[place : place + 1])] == whole
    assert len(whole) == 4


def test_nonsense_is_counted_and_passed_over() -> None:
    nonsense = [
        "P\t70 S\n",
        "P\tx\n",
        "E\tx\n",
        "M\t99\t+\t/x\n",
        "B\n",
        "L\tzz\t1\t\n",
        "Y\t1\n",
        "\n",
        "a\n",
        "Q\t1\n",
    ]
    decoder = ProbeDecoder(70)
    assert decoder.feed((CLOCK + "".join(nonsense)).encode()) == []
    assert decoder.skipped == len(nonsense) - 1  # the row of an application without a question is not an error
    assert samples(decoder.feed(sample(row(70)).encode()))


def test_rows_beyond_the_limit_are_passed_over_however_they_come() -> None:
    decoder = ProbeDecoder(70)
    decoder.feed(CLOCK.encode())
    for _ in range(64):
        assert decoder.feed(b"T\t70\t" + b"x" * LONGEST_ROW) == []
    assert samples(decoder.feed(b"x\n" + sample(row(70)).encode()))
    assert decoder.skipped == 1
    assert decoder.feed(b"T\t70\t" + b"x" * LONGEST_ROW + b"\n") == []
    assert decoder.skipped == 2


def test_bytes_of_any_kind_raise_nothing() -> None:
    dice = random.Random(5)
    text = (CLOCK + HOST + sample(row(70), "T\t70\tx\nM\t70\t=\n", count=1) + f"G\t1.0\ng\t{SMI}Q\t1.1\n").encode()
    decoder = ProbeDecoder(70)
    for _ in range(300):
        data = bytearray(text)
        for _ in range(8):
            data[dice.randrange(len(data))] = dice.choice(b"\t\n 0\xff-9Z")
        decoder.feed(bytes(data) + b"\n")
    assert decoder.skipped > 0


def test_only_linux_hosts_have_a_proc() -> None:
    (closed,) = decode("X\tprocesses\tDarwin\n")
    assert isinstance(closed, ChannelClosed)
    assert "Darwin" in closed.why


def test_gpus_and_the_processes_on_them() -> None:
    apps = "a\t70/40\tann\t71, GPU-aa, 900, python3, odd\n"
    text = CLOCK + sample(row(70), row(71, 70), "T\t71\tsglang::scheduler\n", count=2)
    events = decode(text + f"G\t501.00\ng\t{SMI}{apps}Q\t501.31\n")
    (seen,) = [event for event in events if isinstance(event, GpusSeen)]
    assert seen.at == 1000501.25
    assert seen.took == pytest.approx(0.31)
    assert (seen.gpus[0].used, seen.gpus[0].power, seen.gpus[0].name) == (1024, 125.76, "NVIDIA H200")
    assert (seen.apps[0].pid, seen.apps[0].gpu, seen.apps[0].title) == (71, 0, "sglang::scheduler")


def test_a_gpu_channel_that_comes_back_can_close_again() -> None:
    hung, answer = "X\tgpus\thung 10\n", f"G\t501.00\ng\t{SMI}Q\t501.10\n"
    kinds = [type(event) for event in decode(CLOCK + hung + hung + answer + hung)]
    assert kinds == [ChannelClosed, GpusSeen, ChannelOpened, ChannelClosed]


def test_a_question_without_an_answer_is_no_sample_of_gpus() -> None:
    assert decode(CLOCK + "G\t501.00\nQ\t511.00\n") == []


def test_the_clock_follows_a_correction() -> None:
    first, second = samples(
        decode(CLOCK + sample(row(70)) + "K\t2000000.0\t502.00\n" + sample("S\t 70\n", uptime=503.0))
    )
    assert (first.at, second.at) == (1000501.25, 2000001.0)
    assert replace(second, at=first.at) == first


def test_a_pattern_does_not_match_itself() -> None:
    assert grep_pattern("sglang") == "[s]glang"
    assert grep_pattern("a.b*[c]^") == r"[a][.]b[*][[]c[]]\^"
