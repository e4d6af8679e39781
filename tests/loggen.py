"""Logs as SGLang 0.4.3 to 0.5.23 would print them: made here from the wording of each version, the same for one seed.

`sglang_log(...)` returns bytes, `sglang_chunks(...)` the same bytes with the second at which each arrived. Bars carry
their real CR bytes, and from 0.5.10 on the lines of other ranks are glued to the end of an open bar.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from logbars import graph_states, shard_states

VERSIONS = (
    "0.4.3",
    "0.4.6",
    "0.4.9",
    "0.5.1",
    "0.5.5",
    "0.5.9",
    "0.5.10",
    "0.5.13",
    "0.5.14",
    "0.5.18",
    "0.5.21",
    "0.5.23",
)
STAGES = ("launch", "distributed", "weights", "kv-cache", "graphs", "http", "ready", "serving")
START = datetime(2026, 3, 2, 9, 14, 14, tzinfo=UTC)
READY = "The server is fired up and ready to roll!"


@dataclass(frozen=True)
class Plan:
    """What server to start; `until` is the last stage that is printed."""

    version: str = "0.5.15"
    tp: int = 8
    draft: bool = False
    shards: int = 12
    draft_shards: int = 1
    shapes: int = 8
    seed: int = 1
    until: str = "serving"
    accept_len: float = 2.8
    port: int = 30000
    slow_rank: int | None = None
    """A rank that needs ten times as long to load."""

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.split("."))


def sglang_log(version: str = "0.5.15", **fields: object) -> bytes:
    """Return the whole log of a start."""
    return b"".join(data for _, data in sglang_chunks(version, **fields))


def sglang_chunks(version: str = "0.5.15", **fields: object) -> list[tuple[float, bytes]]:
    """Return the log in the pieces that were written, each with its second since the launch."""
    writer = Writer(Plan(version=version, **fields))  # type: ignore[arg-type]
    for stage in STAGES[: STAGES.index(writer.plan.until) + 1]:
        _PRINT[stage](writer)
    return writer.chunks


class Writer:
    """Collects what is printed, on a clock of its own."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.v = plan.number
        self.random = random.Random(f"{plan.seed} {plan.version}")
        self.now = 0.0
        self.chunks: list[tuple[float, bytes]] = []

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def raw(self, text: str) -> None:
        self.chunks.append((round(self.now, 3), text.encode()))

    def header(self, rank: int | None = None) -> str:
        stamp = (START + timedelta(seconds=self.now)).strftime("%Y-%m-%d %H:%M:%S")
        shown = rank is not None and (self.plan.tp > 1 or self.v < (0, 4, 6))
        return f"[{stamp} TP{rank}] " if shown else f"[{stamp}] "

    def line(self, text: str, rank: int | None = None) -> None:
        self.raw(f"{self.header(rank)}{text}\n")

    def ranks(self) -> list[int]:
        """Return all ranks in the order of chance."""
        return self.random.sample(range(self.plan.tp), self.plan.tp)

    def each(self, text: str | Callable[[int], str], ranks: Iterable[int] | None = None) -> None:
        """Let every rank print a line, in any order."""
        for rank in self.ranks() if ranks is None else ranks:
            self.line(text if isinstance(text, str) else text(rank), rank)

    def seconds(self, low: float, high: float) -> float:
        return round(self.random.uniform(low, high), 2)


def launch(w: Writer) -> None:
    plan = w.plan
    if w.v >= (0, 5, 10):
        w.raw(
            "/opt/venv/lib/python3.12/site-packages/sglang/launch_server.py:60: UserWarning: 'python -m "
            "sglang.launch_server' is still supported, but 'sglang serve' is the recommended entrypoint.\n"
        )
    arguments = {
        "model_path": "/models/target",
        "host": "127.0.0.1",
        "port": plan.port,
        "tp_size": plan.tp,
        "pp_size": 1,
        "dp_size": 1,
        "nnodes": 1,
        "node_rank": 0,
        "api_key": "sk-made-up-for-tests",
        "speculative_algorithm": "EAGLE3" if plan.draft else None,
        "speculative_draft_model_path": "/models/draft" if plan.draft else None,
        "model_loader_extra_config": '{"num_threads": 8}',
    }
    if w.v >= (0, 5, 19):
        w.line(f"server_args={arguments!r}")
    else:
        w.line(f"server_args=ServerArgs({', '.join(f'{name}={value!r}' for name, value in arguments.items())})")
    w.wait(6)
    w.line("Using default HuggingFace chat template with detected content format: string")
    w.wait(9)


def distributed(w: Writer, again: bool = False) -> None:
    """The process groups; to 0.5.20 the draft's runner prints the same lines again."""
    took = 0.0 if again else w.seconds(5, 9)
    if w.v >= (0, 5, 21):
        if not again:
            w.each("Init parallel begin.")
            w.wait(took)
            w.each(f"Init parallel ends. elapsed={took:.2f} s")
        w.each("Memory baseline taken. mem usage=0.00 GB")
        return
    w.each("Init torch distributed begin.")
    w.wait(took)
    if not again:
        w.line("sglang is using nccl==2.28.9", 0)
    if w.v >= (0, 5, 9):
        w.each(f"Init torch distributed ends. elapsed={took:.2f} s, mem usage=1.06 GB")
    elif w.v >= (0, 4, 4):
        w.each("Init torch distributed ends. mem usage=1.06 GB")


def load(w: Writer, role: str) -> None:
    """One model: every rank begins, rank 0 draws the bar, every rank ends in its own time."""
    count = w.plan.shards if role == "target" else w.plan.draft_shards
    w.each("Load weight begin. avail mem=137.61 GB")
    begun = w.now
    early = [] if w.v < (0, 5, 10) else [rank for rank in range(1, w.plan.tp) if rank != w.plan.slow_rank][:1]
    shard_bar(w, count, lambda rank: end_of_load(w, role, rank, begun), early)
    rest = [rank for rank in w.ranks() if rank not in early]
    for rank in sorted(rest, key=lambda rank: rank == w.plan.slow_rank):
        w.wait(count * 4.0 if rank == w.plan.slow_rank else w.seconds(0, 0.2))
        w.line(end_of_load(w, role, rank, begun), rank)


def end_of_load(w: Writer, role: str, rank: int, begun: float) -> str:
    name = "LlamaForCausalLM" if role == "target" else "LlamaForCausalLMEagle3"
    elapsed = f"elapsed={w.now - begun:.2f} s, " if w.v >= (0, 5, 9) else ""
    dtype = "dtype=torch.bfloat16, " if w.v < (0, 5, 10) else ""
    usage = ", mem usage=16.85 GB." if w.v >= (0, 4, 4) else ""
    return f"Load weight end. {elapsed}type={name}, {dtype}avail mem=120.{rank:02} GB{usage}"


def shard_bar(w: Writer, count: int, ended: Callable[[int], str], early: list[int]) -> None:
    for done, state in enumerate(shard_states(w.v, count)):
        w.raw(state)
        if done < count:
            w.wait(w.seconds(0.5, 1.5))
        if done == count // 2:
            for rank in early:
                w.line(ended(rank), rank)


def cache(w: Writer, role: str) -> None:
    dtype = "dtype: torch.bfloat16, " if w.v >= (0, 5, 13) else ""
    tokens = "#tokens: 2402201, " if w.v >= (0, 4, 4) else ""
    size = 46.39 if role == "target" else 0.58
    w.each(f"KV Cache is allocated. {dtype}{tokens}K size: {size} GB, V size: {size} GB")
    w.each("Memory pool end. avail mem=26.61 GB")


def capture(w: Writer, text: str, ranks: list[int], bar: str) -> None:
    """One kind of graph: begin, bar of TP0, end, with the wording before or from 0.5.14."""
    old = w.v < (0, 5, 14)
    begin = " This can take up to several minutes." if old else " backend=full, num_tokens_per_bs=4, bs=[1, 2, 4],"
    w.each(f"Capture {text} begin.{begin} avail mem=24.05 GB", ranks)
    for state in graph_states(w.v, bar, w.plan.shapes):
        w.raw(state)
        w.wait(w.seconds(0.1, 0.4))
    took = w.seconds(3, 9)
    end = f" Time elapsed: {took} s. mem usage=0.14 GB." if old else f" elapsed={took} s, mem usage=0.14 GB,"
    w.each(f"Capture {text} end.{end} avail mem=23.91 GB.", ranks)


def graphs(w: Writer, role: str) -> None:
    if w.v >= (0, 5, 14):
        prefill = "Capturing prefill shape" if w.v >= (0, 5, 21) else "Capturing num tokens"
        capture(w, f"{role} prefill CUDA graph", w.ranks(), prefill)
        if role == "target":
            kind = "verify" if w.plan.draft else "decode"
            capture(w, f"target {kind} CUDA graph", w.ranks(), "Capturing batches")
        else:
            capture(w, "draft decode CUDA graph", [0], "Capturing batches")
            capture(w, "draft extend CUDA graph", [0], "Capturing batches")
        return
    plain = role == "target" or w.v < (0, 4, 4)
    ranks = [0] if role == "draft" and w.v >= (0, 5, 12) else w.ranks()
    capture(w, "cuda graph" if plain else "draft cuda graph", ranks, "Capturing batches")
    if role == "draft" and w.v >= (0, 4, 7):
        capture(w, "draft extend cuda graph", ranks, "Capturing batches")


def weights(w: Writer) -> None:
    load(w, "target")
    if w.plan.draft and w.v >= (0, 5, 14):
        distributed(w, again=True)
        load(w, "draft")


def kv_cache(w: Writer) -> None:
    cache(w, "target")
    if w.plan.draft and w.v >= (0, 5, 14):
        cache(w, "draft")


def graphs_stage(w: Writer) -> None:
    """The graphs; to 0.5.13 the draft is loaded only after the target's are captured."""
    graphs(w, "target")
    if not w.plan.draft:
        return
    if w.v < (0, 5, 14):
        distributed(w, again=True)
        load(w, "draft")
        cache(w, "draft")
    graphs(w, "draft")


def http(w: Writer) -> None:
    w.each(
        "max_total_num_tokens=2402201, chunked_prefill_size=8192, context_len=131072",
        w.ranks() if w.v < (0, 4, 4) else [0],
    )
    if w.v >= (0, 5, 17):
        w.line("Engine startup timings (s): load_weight=61.21, kv_cache_allocation=0.44, scheduler_e2e=117.20")
    w.line("INFO:     Started server process [41207]")
    w.line("INFO:     Waiting for application startup.")
    w.line("INFO:     Application startup complete.")
    w.line(f"INFO:     Uvicorn running on http://127.0.0.1:{w.plan.port} (Press CTRL+C to quit)")
    w.wait(1)
    w.line('INFO:     127.0.0.1:50712 - "GET /model_info HTTP/1.1" 200 OK')
    w.line(f"Prefill batch{comma(w)} #new-seq: 1, #new-token: 6, #cached-token: 0, token usage: 0.00", 0)


def ready(w: Writer) -> None:
    w.wait(3)
    w.line('INFO:     127.0.0.1:50718 - "POST /generate HTTP/1.1" 200 OK')
    w.line(READY)


def serving(w: Writer) -> None:
    for _ in range(5):
        w.wait(w.seconds(1, 2))
        accept = f"accept len: {w.plan.accept_len:.2f}, " if w.plan.draft else ""
        w.line(
            f"Decode batch{comma(w)} #running-req: 4, #token: 5120, token usage: 0.00, {accept}cuda graph: True, "
            "gen throughput (token/s): 398.11, #queue-req: 0",
            0,
        )
        w.line('INFO:     10.0.0.30:41200 - "POST /v1/chat/completions HTTP/1.1" 200 OK')


def comma(w: Writer) -> str:
    return "," if w.v >= (0, 5, 4) else "."


_PRINT: dict[str, Callable[[Writer], None]] = {
    "launch": launch,
    "distributed": distributed,
    "weights": weights,
    "kv-cache": kv_cache,
    "graphs": graphs_stage,
    "http": http,
    "ready": ready,
    "serving": serving,
}
