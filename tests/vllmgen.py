"""Logs as vLLM 0.8.5 to 0.32 would print them: made here from the wording of each version, the same for one seed.

`vllm_log(...)` returns bytes, `vllm_records(...)` the same bytes as whole records with who wrote each: "main", "core"
or the number of a worker. From 0.12 on only the first worker prints most lines; from 0.31 on bars and raw tracebacks
carry no process name.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

VERSIONS = ("0.8.5", "0.9.2", "0.10.0", "0.10.1", "0.10.2", "0.12.0", "0.16.0", "0.18.1", "0.24.0", "0.30.0", "0.32.0")
STAGES = ("launch", "distributed", "weights", "compile", "kv-cache", "graphs", "http", "ready")
START = datetime(2026, 3, 2, 9, 14, 14, tzinfo=UTC)
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 1 has a total capacity of 95.00 GiB"
)
KV = (
    "ValueError: To serve at least one request with the model's max seq len (65536), (8.00 GiB KV cache is needed, "
    "which is larger than the available KV cache memory (3.10 GiB)."
)
FOLLOW = "WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause."

Who = str | int


@dataclass(frozen=True)
class Plan:
    """What server to start; `until` is the last stage that is printed, `failure` what ends it."""

    version: str = "0.18.1"
    tp: int = 2
    draft: bool = False
    shards: int = 4
    seed: int = 1
    until: str = "ready"
    failure: str = ""
    """"oom" on rank 1 in the load, "kv" after the profile, "killed" while loading."""
    port: int = 8100

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.split("."))


def vllm_log(version: str = "0.18.1", **fields: object) -> bytes:
    """Return the whole log of a start."""
    return b"".join(data for _, data in vllm_records(version, **fields))


def vllm_records(version: str = "0.18.1", **fields: object) -> list[tuple[Who, bytes]]:
    """Return the log as whole records, each with its writer."""
    writer = Writer(Plan(version=version, **fields))  # type: ignore[arg-type]
    for stage in STAGES[: STAGES.index(writer.plan.until) + 1]:
        if not writer.over:
            _PRINT[stage](writer)
    return writer.records


class Writer:
    """Collects what is printed, on a clock of its own."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.v = plan.number
        self.random = random.Random(f"{plan.seed} {plan.version}")
        self.now = 0.0
        self.over = False
        self.records: list[tuple[Who, bytes]] = []

    @property
    def everyone(self) -> list[int]:
        """The workers that print a line of which only the first needs to: all to 0.11."""
        return self.ranks() if self.v < (0, 12) else [0]

    def ranks(self) -> list[int]:
        return self.random.sample(range(self.plan.tp), self.plan.tp)

    def raw(self, who: Who, text: str) -> None:
        self.records.append((who, text.encode()))

    def name(self, who: Who) -> str:
        """The process name before a line; none of the main process and the core to 0.10.0."""
        many = self.plan.tp > 1
        if who == "main":
            name = "APIServer pid=101" if self.v >= (0, 10, 1) else ""
        elif who == "core" or not many:
            core = "EngineCore" if self.v >= (0, 18) else "EngineCore_DP0" if self.v >= (0, 10, 2) else "EngineCore_0"
            name = f"{core} pid=102" if self.v >= (0, 10, 1) else ""
        elif self.v < (0, 10, 1):
            name = f"VllmWorker rank={who} pid={200 + int(who)}"
        else:
            name = f"VllmWorker TP{who}" if self.v < (0, 10, 2) else f"Worker_TP{who}"
            name += f" pid={200 + int(who)}"
        if not name:
            return ""
        return f"\x1b[1;36m({name})\x1b[0;0m " if self.v < (0, 16) else f"({name}) "

    def line(self, who: Who, text: str, level: str = "INFO", file: str = "engine.py:97") -> None:
        """Print one record; its inner lines repeat the header and end in CR LF."""
        stamp = (START + timedelta(seconds=self.now)).strftime("%m-%d %H:%M:%S")
        head = f"{self.name(who)}{level} {stamp} [{file}] "
        self.raw(who, head + text.replace("\n", "\r\n" + head) + "\n")

    def plain(self, who: Who, text: str) -> None:
        """Print lines that are no records: named as long as the writes were patched."""
        name = self.name(who) if self.v < (0, 31) else ""
        self.raw(who, "".join(f"{name}{line}\n" for line in text.split("\n")))


def traceback(error: str) -> str:
    return (
        "Traceback (most recent call last):\n"
        '  File "/opt/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 700, in run_engine_core\n'
        "    engine = make()\n"
        f"{error}"
    )


def launch(w: Writer) -> None:
    w.line("main", "Automatically detected platform cuda.", file="__init__.py:239")
    w.now += 7
    if w.v >= (0, 15):
        w.line(
            "main",
            f"\n ▄▄ ▄█ █     █     █ ▀▄▀ █  version {w.plan.version}\n  █▄█▀ █     █     █     █  model   /models/m\n",
        )
    else:
        w.line("main", f"vLLM API server version {w.plan.version}")
    arguments = {"model_tag": "/models/m", "model": "/models/m", "port": w.plan.port, "tensor_parallel_size": w.plan.tp}
    if w.plan.draft:
        arguments["speculative_config"] = {"method": "eagle3", "model": "/models/d"}  # type: ignore[assignment]
    if w.v >= (0, 9):
        w.line("main", f"non-default args: {arguments!r}")
    else:
        w.line("main", f"args: Namespace({', '.join(f'{name}={value!r}' for name, value in arguments.items())})")
    w.now += 9
    config = f"model='/models/m', tokenizer='/models/m', tensor_parallel_size={w.plan.tp}, pipeline_parallel_size=1"
    w.line("core", f"Initializing a V1 LLM engine (v{w.plan.version}) with config: {config}", file="core.py:58")


def distributed(w: Writer) -> None:
    w.now += 12
    if w.v >= (0, 12):
        for rank in w.ranks():
            text = f"world_size={w.plan.tp} rank={rank} local_rank={rank} distributed_init_method=tcp://127.0.0.1:1"
            w.line(rank, f"{text} backend=nccl")
    w.now += 4
    for rank in w.ranks() if w.v < (0, 18) else [0]:
        w.line(rank, f"rank {rank} in world size {w.plan.tp} is assigned as DP rank 0, PP rank 0, TP rank {rank}")


def weights(w: Writer) -> None:
    for rank in w.everyone:
        w.line(rank, "Starting to load model /models/m...")
    load(w)
    if w.plan.failure in ("oom", "killed"):
        return fail_in_load(w)
    if w.plan.draft:
        for rank in w.everyone:
            w.line(rank, "Loading drafter model...")
        load(w, 1)
    for rank in w.everyone:
        w.line(rank, "Model loading took 14.99 GiB and 15.40 seconds")
    return None


def load(w: Writer, count: int = 0) -> None:
    count = count or w.plan.shards
    stop = count // 2 if w.plan.failure in ("oom", "killed") else count
    name = w.name(0) if w.v < (0, 31) else ""
    for done in range(stop + 1):
        share = f"{round(100 * done / count):3}% Completed | {done}/{count} [00:0{done % 10}<00:09,  1.90s/it]"
        w.raw(0, f"{name}\rLoading safetensors checkpoint shards: {share}\n")
        w.now += 2
    if stop == count:
        w.plain(0, "")
        for rank in w.everyone:
            w.line(rank, "Loading weights took 15.10 seconds")


def fail_in_load(w: Writer) -> None:
    w.over = True
    if w.plan.failure == "oom":
        w.line(1, f"WorkerProc failed to start.\n{traceback(OOM)}", "ERROR", "multiproc_executor.py:590")
    w.now += 5
    w.line("core", f"EngineCore failed to start.\n{traceback(f'Exception: {FOLLOW}')}", "ERROR", "core.py:700")
    end_of_engine(w, f"Exception: {FOLLOW}")


def end_of_engine(w: Writer, error: str) -> None:
    w.plain("core", f"Process EngineCore:\n{traceback(error)}")
    w.now += 2
    failed = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
    w.plain("main", traceback(failed))


def compiling(w: Writer) -> None:
    w.now += 6
    for rank in w.ranks():
        w.line(rank, "Using cache directory: /var/cache/vllm/4f1e/rank_0_0/backbone for vLLM's torch.compile")
        w.line(rank, "Dynamo bytecode transform time: 6.90 s")
    w.now += 25
    for rank in w.ranks():
        verb = "takes" if w.v < (0, 18) else "took"
        w.line(rank, f"torch.compile {verb} 33.07 s in total")


def kv_cache(w: Writer) -> None:
    w.now += 2
    for rank in w.everyone:
        w.line(rank, "Available KV cache memory: 3.10 GiB")
    if w.plan.failure == "kv":
        w.over = True
        w.line("core", f"EngineCore failed to start.\n{traceback(KV)}", "ERROR", "core.py:700")
        return end_of_engine(w, KV)
    if w.v >= (0, 30):
        w.line("core", "GPU KV cache size: 75,168 tokens, Maximum concurrency for 512 tokens per request: 85.25x")
    else:
        w.line("core", "GPU KV cache size: 75,168 tokens")
        w.line("core", "Maximum concurrency for 512 tokens per request: 85.25x")
    return None


def graphs(w: Writer) -> None:
    if w.v >= (0, 10):
        bar = "Capturing CUDA graphs (decode, FULL): "
        draws = [f"\r{bar}{25 * done:3}%|██        | {done}/4 [00:00<00:01, 11.7it/s]" for done in range(5)]
        name = w.name(0) if w.v < (0, 31) else ""
        w.raw(0, name + "".join(draws) + "\n")
    w.now += 4
    for rank in w.everyone:
        w.line(rank, "Graph capturing finished in 4 secs, took 0.69 GiB")
    w.line("core", "init engine (profile, create kv cache, warmup model) took 44.51 seconds")


def http(w: Writer) -> None:
    w.now += 3
    word = "vLLM server" if w.v >= (0, 18) else "vLLM API server 0" if w.v >= (0, 9) else "vLLM API server"
    w.line("main", f"Starting {word} on http://0.0.0.0:{w.plan.port}")
    w.line("main", "Available routes are:")
    w.line("main", "Route: /health, Methods: GET")


def ready(w: Writer) -> None:
    w.plain("main", "INFO:     Started server process [101]")
    w.plain("main", "INFO:     Waiting for application startup.")
    w.plain("main", "INFO:     Application startup complete.")
    w.plain("main", 'INFO:     127.0.0.1:45512 - "GET /health HTTP/1.1" 200 OK')


_PRINT = {
    "launch": launch,
    "distributed": distributed,
    "weights": weights,
    "compile": compiling,
    "kv-cache": kv_cache,
    "graphs": graphs,
    "http": http,
    "ready": ready,
}
