"""Pieces of a start, from which the scenes are put together."""

from __future__ import annotations

from collections.abc import Sequence

from timeline import ROOT, Timeline
from ui.fakes import FakeConsole
from ui.logtext import log_lines

from bringup.core.events import (
    Fact,
    Gpu,
    GpuApp,
    GpusSeen,
    HostSeen,
    LinesRead,
    LinkChanged,
    LogOpened,
)

MODEL, DRAFT = "/models/Kimi-K2.5-INT4", "/models/Kimi-K2.5-eagle3"
ARGV = (
    "python", "-m", "sglang.launch_server", "--model-path", MODEL, "--tp", "8", "--speculative-algorithm", "EAGLE3",
    "--speculative-draft-model-path", DRAFT, "--port", "30000", "--trust-remote-code", "--mem-fraction-static", "0.88",
)  # fmt: skip
LOG = "/var/log/sglang/kimi.log"
HISTORY = {
    "launch": (19.0,),
    "distributed": (6.0,),
    "weights/target": (96.0,),
    "weights/draft": (9.0,),
    "kv-cache/target": (2.0,),
    "graphs/target/decode": (41.0,),
    "graphs/draft/decode": (14.0,),
    "warmup": (8.0,),
}


def begin(
    ranks: int = 8, *, draft: bool = True, logged: bool = True, spawned: bool = True, **launch: object
) -> Timeline:
    """A launch whose arguments were just printed."""
    line = Timeline()
    more = {"draft_model": DRAFT, "algorithm": "EAGLE3"} if draft else {}
    line.add(HostSeen(at=line.now, node="gpu-a", system="Linux", user="root", utc_offset=3600.0))
    line.add(LinkChanged(at=line.now, status="up"))
    nodes = {key: launch[key] for key in ("nnodes", "node_rank") if key in launch}
    line.found(pid=ROOT, argv=ARGV, port=30000, model=MODEL, user="root", tp=ranks, **more, **nodes)
    if logged:
        line.add(LogOpened(at=line.now, path=LOG, kind="file"))
    line.wait(3).spawn(ranks if spawned else 0).wait(9)
    if logged:
        line.launch(model=MODEL, tp=ranks, **more, **launch)
        line.add(Fact(at=line.now, name="version", value="0.5.9"))
    return line


def gpus(line: Timeline, used: Sequence[int], **more: object) -> Timeline:
    """nvidia-smi answers: MiB in use per GPU, most of it held by the rank of the same number."""
    rows = tuple(
        Gpu(
            **{
                "index": number,
                "name": "NVIDIA H200",
                "used": mib,
                "total": 143_771,
                "utilization": 12 + number,
                "power": 118.0 + 9 * number,
                "power_limit": 700.0,
                "temperature": 34 + number,
                **more,
            }
        )
        for number, mib in enumerate(used)
    )
    apps = tuple(
        GpuApp(pid=ROOT + 1 + number, gpu=number, used=max(0, mib - 640))
        for number, mib in enumerate(used)
        if mib > 640
    )
    return line.add(GpusSeen(at=line.now, gpus=rows, apps=apps, took=0.2))


def grow(line: Timeline, peak: int, ranks: int = 8, steps: int = 24) -> Timeline:
    """nvidia-smi answers while the memory grows to `peak` MiB."""
    for step in range(1, steps + 1):
        gpus(line, [640 + (peak - 640) * step // steps - 300 * (number % 3) for number in range(ranks)])
    return line


def connect_ranks(line: Timeline, ranks: int = 8) -> Timeline:
    everyone = range(ranks)
    line.wait(8).begin("distributed", everyone).wait(6).end("distributed", everyone, seconds=6.0)
    return line.wait(1).begin("weights", everyone)


def read(
    line: Timeline, rank: int, done: int, opened: int | None = None, folder: str = MODEL, of: int = 64
) -> Timeline:
    """Let a rank's maps show that it read `done` shards and has the next ones open."""
    for shard in range(1, done + 1):
        line.map(rank, shard, of=of, folder=folder).sample()
    ahead = range(done + 1, (opened or done + 1) + 1)
    line.fault_in(rank).map(rank, *ahead, of=of, folder=folder)
    return line.sample()


def play(
    line: Timeline, *, tail: bytes = b"", after: float = 0.0, said: float | None = None, **more: object
) -> FakeConsole:
    """A console at this moment; its log tells what was printed within `said` seconds."""
    lines = log_lines(line.t if said is None else said, **more)
    size = sum(len(text) + 1 for text in lines)
    line.add(LinesRead(at=line.now, size=size, lines=len(lines), unknown=3))
    return FakeConsole(line.state, line.now + after, lines, tail)


def captured(line: Timeline) -> Timeline:
    """Both models are loaded and the capture of the target begins."""
    grow(connect_ranks(line), 74_000).wait(96)
    line.end("weights", range(8), seconds=96.0, model_class="KimiK25ForConditionalGeneration").wait(2)
    line.begin("weights", range(8), role="draft").wait(9).end(
        "weights", range(8), role="draft", seconds=9.0, model_class="LlamaForCausalLMEagle3"
    )
    line.wait(2).end("kv-cache", range(8), role="target").wait(1)
    return line.begin("graphs", range(8), role="target", part="decode")


def served(line: Timeline | None = None) -> Timeline:
    """All is captured, and the ready line was printed."""
    line = captured(line or begin())
    line.wait(41).end("graphs", range(8), role="target", part="decode", seconds=41.0)
    line.wait(1).begin("graphs", range(8), role="draft", part="decode").wait(14)
    line.end("graphs", range(8), role="draft", part="decode", seconds=14.0).reached("scheduler-up").wait(2)
    return line.reached("http-up").wait(1)
