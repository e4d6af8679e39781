"""Every situation that the screen must be able to show, each as a scripted console at a frozen moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from timeline import ROOT, START, Timeline
from ui.fakes import FakeConsole
from ui.logtext import log_lines
from ui.stages import HISTORY as HISTORY
from ui.stages import begin, captured, connect_ranks, gpus, grow, play, read, served

from bringup.core.events import (
    ActionStep,
    ChannelClosed,
    Decoded,
    GpuApp,
    GpusSeen,
    HostSeen,
    HttpAnswered,
    LinesRead,
    LinkChanged,
    LogOpened,
    Process,
    Searching,
    Server,
    ServerFound,
)

OTHER = Server(
    pid=77120, start=9, engine="vllm", argv=("vllm", "serve", "Qwen3-32B"), user="ops", port=8000,
    model="Qwen/Qwen3-32B", started_at=START - 86400,
)  # fmt: skip


def searching() -> FakeConsole:
    line = Timeline()
    line.add(HostSeen(at=line.now, node="gpu-a", system="Linux", user="root", utc_offset=3600.0))
    line.add(LinkChanged(at=line.now, status="up"))
    line.add(Searching(at=line.now, seeks="sglang.launch_server or vllm serve, of any user"))
    return FakeConsole(line.state, line.now + 4)


def launching() -> FakeConsole:
    return play(gpus(begin(), [640] * 8).wait(5))


def distributed() -> FakeConsole:
    line = begin().wait(8).begin("distributed", range(8)).wait(7).end("distributed", [0, 1, 2, 4, 6, 7], seconds=6.4)
    return play(gpus(line.wait(3).sample(), [1340] * 8), said=26, missing=(3, 5))


def weights() -> FakeConsole:
    """The bar stands at 100 %, seven ranks are done, and TP5 is far behind."""
    line = grow(connect_ranks(begin()), 71_400)
    for step in range(1, 65):
        line.wait(0.88).bar(step, 64)
    line.end("weights", [0], seconds=57.2, model_class="KimiK25ForConditionalGeneration").wait(0.4)
    line.end("weights", [1, 2, 3, 4, 6, 7], seconds=57.9, model_class="KimiK25ForConditionalGeneration")
    read(line, 5, 20)
    line.wait(64).sample()
    read(line, 5, 41, 43)
    gpus(line.wait(2), [71_400 - (9_000 if number == 5 else 310 * number) for number in range(8)])
    tail = b"Loading safetensors checkpoint shards: 100% Completed | 64/64 [00:56<00:00,  1.13it/s]"
    return play(line, tail=tail, after=1, said=86, missing=(5,))


def mixed() -> FakeConsole:
    """Early in the load: maps for most ranks, the bar for rank 0, nothing for two."""
    line = grow(connect_ranks(begin()), 24_800)
    for step in range(1, 21):
        line.wait(1.1).bar(step, 64)
    for rank, done in ((1, 22), (2, 20), (3, 21), (4, 19), (5, 6), (6, 20)):
        read(line, rank, done, done + 2)
    return play(gpus(line.wait(1), [24_800] * 8), after=1)


def draft_weights() -> FakeConsole:
    line = grow(connect_ranks(begin()), 74_000).wait(96)
    line.end("weights", range(8), seconds=96.0, model_class="KimiK25ForConditionalGeneration")
    line.wait(2).begin("weights", range(8), role="draft").wait(1)
    line.bar(1, 2).wait(1)
    line.end("weights", [1, 2], role="draft", seconds=1.9, model_class="LlamaForCausalLMEagle3")
    return play(gpus(line.wait(1).sample(), [74_000 + 900 * number for number in range(8)]))


def graphs() -> FakeConsole:
    line = captured(begin())
    for step in range(1, 23):
        line.wait(0.9).bar(step, 36, kind="graphs")
    gpus(line.wait(0.4).sample(), [119_800 + 90 * number for number in range(8)])
    return play(
        line, tail=b"Capturing batches (bs=104 avail_mem=14.21 GB):  61%|######    | 22/36 [00:19<00:12,  1.10it/s]"
    )


def warmup() -> FakeConsole:
    line = served().reached("warmup-sent").wait(5).sample()
    line.add(HttpAnswered(at=line.now, path="/health_generate", status=503))
    return play(gpus(line, [126_300] * 8, utilization=100, power=312.0), after=1)


def ready() -> FakeConsole:
    line = served().reached("warmup-sent").wait(5).reached("warmup-answered", "ready").wait(3).sample()
    line.add(HttpAnswered(at=line.now, path="/health", status=200))
    return play(gpus(line, [126_300] * 8), after=2)


def degraded() -> FakeConsole:
    line = served().reached("warmup-sent").wait(5).reached("warmup-answered", "ready").wait(30).sample()
    line.add(HttpAnswered(at=line.now, path="/health", status=200))
    line.add(*(Decoded(at=line.now, accept_len=1.0, running=3, tokens_per_s=61.0) for _ in range(4)))
    return play(gpus(line, [126_300] * 8, utilization=88, power=420.0), after=2)


def stalled() -> FakeConsole:
    line = grow(connect_ranks(begin()), 52_000)
    for step in range(1, 31):
        line.wait(1.2).bar(step, 64)
    read(line, 3, 18, 20)
    line.change(3, state="T").sample()
    line.wait(900).sample()
    gpus(line, [52_000] * 8, utilization=100, power=128.0)
    return FakeConsole(line.state, line.now + 1, log_lines(30))


def failed() -> FakeConsole:
    line = captured(begin()).wait(9)
    text = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
        "139.81 GiB of which 1.12 GiB is free."
    )
    line.fault("oom", text, rank=3, line=41)
    line.ending("child-failed", line=48).kill(3).sample().wait(2)
    return play(gpus(line, [138_600 if number == 3 else 119_000 for number in range(8)]), after=3, said=147)


def stopped() -> FakeConsole:
    line = captured(begin()).wait(9)
    line.ending(
        "sigterm", line=44, text="SIGTERM received. signum=15 frame=None. Draining requests and shutting down..."
    )
    for rank in range(8):
        line.kill(rank)
    return play(gpus(line.kill(None).sample().wait(4), [640] * 8), after=3)


def standby() -> FakeConsole:
    line = begin(16, draft=False, spawned=False, nnodes=2, node_rank=1)
    ranks = range(8, 16)
    line.wait(8).begin("distributed", ranks).wait(6).end("distributed", ranks, seconds=6.0).begin("weights", ranks)
    line.wait(90).end("weights", ranks, seconds=90.0, model_class="KimiK25ForConditionalGeneration")
    line.begin("graphs", ranks, role="target", part="decode").wait(30)
    line.end("graphs", ranks, role="target", part="decode", seconds=30.0).reached("node-up").wait(4)
    return play(gpus(line.sample(), [119_000] * 8))


def lost() -> FakeConsole:
    console = weights()
    line = Timeline(state=console.state, t=console.moment - START)
    line.wait(14).add(LinkChanged(at=line.now, status="lost", why="Connection to gpu-a ended: no answer to keepalive."))
    console.change(line.state)
    console.moment = line.now + 20
    return console


def no_gpus() -> FakeConsole:
    console = mixed()
    line = Timeline(state=replace(console.state, gpu=type(console.state.gpu)()))
    line.add(ChannelClosed(at=line.now, channel="gpus", why="there is no nvidia-smi on this host"))
    console.change(line.state)
    return console


def no_log() -> FakeConsole:
    line = begin(logged=False)
    line.add(LogOpened(at=line.now, path="/dev/null", kind="null", note="standard output goes to /dev/null"))
    return play_silent(grow(line.wait(20), 31_000).sample())


def play_silent(line: Timeline) -> FakeConsole:
    return FakeConsole(line.state, line.now + 1)


def sixteen() -> FakeConsole:
    line = grow(connect_ranks(begin(16), 16), 40_000, 8)
    for step in range(1, 31):
        line.wait(1.1).bar(step, 64)
    for rank in range(1, 16):
        if rank not in (6, 13):
            done, opened = (12, 16) if rank == 11 else (26 + rank % 5, 30)
            read(line, rank, done, opened)
    return play(gpus(line, [40_000] * 8), after=1)


def single() -> FakeConsole:
    line = begin(1, draft=False).wait(8).begin("weights", (None,)).wait(1)
    for step in range(1, 9):
        line.wait(1.4).bar(step, 17)
    return play(gpus(line.sample(), [9_000]), after=1, ranks=1)


def strangers() -> FakeConsole:
    """GPU memory is held by another process and by an orphan of an earlier server."""
    line = gpus(begin(), [9_240] * 8).wait(5)
    apps = [
        *(GpuApp(pid=ROOT + 1 + number, gpu=number, used=500) for number in range(8)),
        GpuApp(pid=4242, gpu=2, used=61_000, title="sglang::scheduler_TP2", user="root", orphan=True),
        GpuApp(pid=5151, gpu=6, used=8_000, title="python train.py", user="ada"),
    ]
    rows = tuple(
        replace(gpu, used=62_100 if gpu.index == 2 else 9_100 if gpu.index == 6 else 1_140)
        for gpu in line.state.gpu.gpus
    )
    line.add(GpusSeen(at=line.now, gpus=rows, apps=tuple(apps)))
    return play(line, after=9)


def stopping() -> FakeConsole:
    console = ready()
    line = Timeline(state=console.state, t=console.moment - START)
    line.add(ActionStep(at=line.now, action="restart", step="SIGTERM sent to PID 100, waiting for 9 processes to end"))
    line.wait(6).add(LinesRead(at=line.now, size=0, lines=0, unknown=0))
    console.change(replace(line.state, sampled_at=line.now))
    console.moment = line.now
    return console


def two_servers() -> FakeConsole:
    console = graphs()
    assert console.state.server is not None
    line = Timeline(state=console.state)
    line.add(ServerFound(at=console.moment, server=console.state.server, others=(OTHER,)))
    console.change(line.state)
    return console


EVIL = (
    "\x1b]52;c;aGk=\x07\x1b]8;;http://evil\x1b\\\x1b]0;pwned\x07\x1bP1$r\x1b\\\x1b[2J\x9b31m[/nope][bold]<script>"
    "\u202egnp.exe\x7f\u200b\u3164\x00\udcff\n\r --api-key hunter2hunter2"
)
"""Everything that a terminal, markup or a page could obey, and a secret."""


def hostile(evil: str = EVIL) -> FakeConsole:
    """Everything that a host can say tries to command the terminal."""
    line = begin(2, draft=False)
    line.add(HostSeen(at=line.now, node=evil, system="Linux", user=evil))
    line.found(argv=("python", evil), model=f"/m/{evil}", user=evil)
    line.tree[ROOT] = replace(line.tree[ROOT], title=evil)
    line.launch(model=f"/m/{evil}", tp=2).wait(9).begin("weights", range(2)).wait(2)
    line.add(ChannelClosed(at=line.now, channel="http", why=evil), LogOpened(at=line.now, path=evil, kind="file"))
    line.fault("unknown", evil, rank=1, line=2).sample()
    line.add(LinkChanged(at=line.now, status="lost", why=evil))
    gpus(line, [2_000, 2_000], name=evil)
    server = line.state.server
    assert server is not None
    line.add(ServerFound(at=line.now, server=server, others=(replace(OTHER, model=evil, engine=evil, user=evil),)))
    raw = evil.replace("\n", " ").encode("utf-8", "surrogateescape")
    console = FakeConsole(line.state, line.now, [raw, b"\x1b[31mred [/x] " + raw], raw)
    console.bystanders = (Process(pid=9, ppid=1, start=1, title=evil),)
    return console


SCENES: dict[str, Callable[[], FakeConsole]] = {
    scene.__name__: scene
    for scene in (
        searching, launching, distributed, weights, mixed, draft_weights, graphs, warmup, ready, degraded, stalled,
        failed, stopped, standby, lost, no_gpus, no_log, sixteen, single, strangers, stopping, two_servers, hostile,
    )
}  # fmt: skip
