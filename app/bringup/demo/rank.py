"""One rank of the simulated server: a process that loads files, holds a GPU and logs as SGLang 0.5.15's schedulers do.

The draft is loaded before the KV caches and the graphs (0.5.14+). Standard library only, to start fast.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from bringup.demo import checkpoint, tracebacks
from bringup.demo import engine_log as log
from bringup.demo.bars import Bar
from bringup.demo.gpus import Claim
from bringup.demo.loading import Loader
from bringup.demo.plan import Plan
from bringup.demo.prctl import die_with_parent
from bringup.demo.titles import set_title

TITLED_BEFORE = 0.4
"""Seconds from the new process title to the first log line of a rank."""
SLICE = 0.25
BURN = 0.002
"""Real seconds of CPU in each real SLICE of work: enough for the counters to move, little for the machine."""


@dataclass(frozen=True, slots=True)
class Post:
    """What a rank is told when it is started."""

    plan: Plan
    rank: int
    ranks: int
    launcher: int
    began: float
    """CLOCK_MONOTONIC of the launch."""
    target: Path
    draft: Path | None
    fraction: float


class RankError(Exception):
    """The rank fails with this log record, as a scheduler does with an exception."""


def run(post: Post, conn: Connection) -> None:
    """Be a rank until the launcher is gone."""
    plan = post.plan
    time.sleep(max(0.0, post.began + plan.pace(plan.durations.launch - TITLED_BEFORE) - time.monotonic()))
    set_title("sglang::scheduler" if post.ranks == 1 else f"sglang::scheduler_TP{post.rank}")
    die_with_parent(post.launcher)
    plan.sleep(TITLED_BEFORE * (0.5 + post.rank % 4 / 6))
    rank = Rank(post, conn)
    try:
        rank.start()
        rank.serve()
    except RankError as error:
        rank.voice.say(str(error))
        os.kill(post.launcher, signal.SIGQUIT)
    except (EOFError, ConnectionError):
        os._exit(1)


def detokenize(post: Post, conn: Connection) -> None:
    """Be the detokenizer: it has a title and waits."""
    plan = post.plan
    time.sleep(max(0.0, post.began + plan.pace(plan.durations.launch - TITLED_BEFORE) - time.monotonic()))
    set_title("sglang::detokenizer")
    die_with_parent(post.launcher)
    try:
        conn.recv()
    except (EOFError, ConnectionError):
        os._exit(1)


class Rank:
    """The phases of one rank's start, in order."""

    def __init__(self, post: Post, conn: Connection) -> None:
        self._post = post
        self._plan = post.plan
        self._conn = conn
        self.voice = log.Voice(post.rank, post.ranks)
        self._claim = Claim(Path(post.plan.state), post.rank)
        self._held = 0.0
        self._served = 0

    def start(self) -> None:
        """Go through all phases until the scheduler is ready."""
        memory = self._plan.memory
        spread = 1 + 0.03 * ((self._post.rank * 5 % 8) - 3.5) / 3.5
        slow = self._plan.slow_by if self._post.rank == self._plan.slow_rank else 0.0
        self._distribute()
        self._load(self._post.target, memory.target, self._plan.durations.weights * spread + slow)
        self._meet("target loaded")
        if self._post.draft:
            self._load_draft(self._post.draft)
        self._allocate()
        self._capture_all()
        if self._post.rank == 0:
            self.voice.say(
                f"max_total_num_tokens={self._tokens()}, chunked_prefill_size=8192, max_prefill_tokens=16384, "
                f"max_running_requests=48, context_len=262144, available_gpu_mem={self._avail():.2f} GB"
            )
        self.voice.say(
            "Tree cache initialized: source=default impl=RadixCache hybrid_swa=False hybrid_ssm=False "
            "hierarchical=False streaming_wrapped=False"
        )
        self._hold(0.0, 0, 124.0)
        self._conn.send(("ready", ""))

    def serve(self) -> None:
        """Answer the launcher until it ends."""
        while True:
            what = self._conn.recv()
            if what == "peer lost":
                raise RankError(tracebacks.peer_lost())
            if self._post.rank == 0:
                self._answer(what)
            self._conn.send(("served", what))

    def _answer(self, what: str) -> None:
        if what == "health":
            self.voice.say(log.prefill(1, 0, 12.6))
            return
        self.voice.say(log.prefill(26 if what == "warmup" else 412, 0, 5.37 if what == "warmup" else 2877.4))
        if what == "warmup":
            return
        self._served += 1
        self._hold(0.0, 97, 512.0)
        for number in range(1, 4):
            self._work(0.7)
            accepted = self._accepted(number)
            self.voice.say(log.decode(412 + 112 * number, accepted, 148.0 + 9.0 * accepted))
        self._hold(0.0, 0, 124.0)

    def _accepted(self, number: int) -> float:
        """Return the accept length of a decode line: 1.00 is the bonus token alone."""
        if self._plan.fault.kind == "dead-draft":
            return 1.0
        return 2.6 + (self._served * 3 + number) * 7 % 5 / 10

    def _distribute(self) -> None:
        self.voice.say("Init torch distributed begin.")
        began = time.monotonic()
        self._hold(self._plan.memory.context, 0, 118.0)
        self._work(self._plan.durations.distributed * 0.6)
        if self._post.rank == 0:
            self.voice.say("sglang is using nccl==2.28.9")
        self._work(self._plan.durations.distributed * 0.3)
        self._meet("distributed")
        self.voice.say(
            f"Init torch distributed ends. elapsed={time.monotonic() - began:.2f} s, "
            f"mem usage={self._plan.memory.context:.2f} GB"
        )
        self._work(self._plan.durations.distributed * 0.08)

    def _load(self, folder: Path, size: float, seconds: float, *, draft: bool = False) -> None:
        """Load one model; the GPU's memory is taken at the begin and does not grow with the files."""
        self.voice.say(f"Load weight begin. avail mem={self._avail():.2f} GB")
        began = time.monotonic()
        self._hold(size, 2, 126.0)
        paths = checkpoint.files(folder)
        bar = None
        if self._post.rank == 0:
            bar = Bar(len(paths), log.emit, label="Multi-thread loading shards", blocks=False)
        Loader(self._plan, self._post.rank).read(
            paths,
            seconds * 0.97,
            opened=self._maybe_stop if not draft else lambda _: None,
            consumed=bar.advance if bar else lambda: None,
        )
        if bar:
            bar.close()
        self._work(seconds * 0.03)
        kind = self._plan.draft_class if draft else self._plan.target_class
        self.voice.say(log.load_end(time.monotonic() - began, kind, self._avail(), size))

    def _maybe_stop(self, shard: int) -> None:
        fault = self._plan.fault
        if fault.kind == "stall" and self._post.rank == fault.rank and shard == fault.shard:
            os.kill(os.getpid(), signal.SIGSTOP)

    def _load_draft(self, folder: Path) -> None:
        self.voice.say("SPECULATIVE_MOE_RUNNER_BACKEND is not initialized, using auto backend")
        self.voice.say("SPECULATIVE_MOE_A2A_BACKEND is not initialized, using none backend")
        self.voice.say("Init torch distributed begin.")
        self.voice.say("Init torch distributed ends. elapsed=0.00 s, mem usage=0.00 GB")
        self._work(self._plan.durations.draft * 0.1)
        self._load(folder, self._plan.memory.draft, self._plan.durations.draft * 0.9, draft=True)
        self._meet("draft loaded")

    def _allocate(self) -> None:
        target, draft = self._kv()
        if target <= 0:
            raise RankError(tracebacks.kv_too_small(self._post.fraction))
        self._work(self._plan.durations.kv_cache * 0.7)
        self._hold(target, 0, 130.0)
        self.voice.say(log.kv_cache(self._tokens(), target, split=False))
        self.voice.say(f"Memory pool end. avail mem={self._avail():.2f} GB")
        if self._post.draft:
            self._work(self._plan.durations.kv_cache * 0.2)
            self._hold(draft, 0, 130.0)
            self.voice.say(log.kv_cache(self._tokens(), draft, split=True))
            self.voice.say(f"Memory pool end. avail mem={self._avail():.2f} GB")
        self._work(self._plan.durations.kv_cache * 0.1)

    def _capture_all(self) -> None:
        graphs, draft = self._plan.durations.graphs, self._plan.durations.draft_graphs
        size = self._plan.memory.graphs
        self._capture("target prefill", log.PREFILLS, graphs * 0.35, size * 0.15)
        self._capture("target verify" if self._post.draft else "target decode", log.BATCHES, graphs * 0.65, size * 0.55)
        if self._post.draft:
            self._capture("draft prefill", log.PREFILLS, draft * 0.2, size * 0.05)
            self._capture("draft decode", log.BATCHES, draft * 0.45, size * 0.15)
            self._capture("draft extend", log.BATCHES, draft * 0.35, size * 0.1)

    def _capture(self, what: str, shapes: tuple[int, ...], seconds: float, size: float) -> None:
        """Capture graphs, the largest shape first; only TP0 draws a bar, and only it logs a draft's decode graphs."""
        loud = self._post.rank == 0 or what not in ("draft decode", "draft extend")
        if loud:
            self.voice.say(log.capture_begin(what, self._avail()))
        began = time.monotonic()
        bar = Bar(len(shapes), log.emit) if self._post.rank == 0 else None
        self._hold(0.0, 100, 236.0)
        for number, shape in enumerate(reversed(shapes)):
            if bar:
                bar.name(log.capture_label(what, shape, self._avail()))
            self._work(seconds / len(shapes))
            self._hold(size / len(shapes), 100, 236.0)
            self._maybe_run_out(what, number)
            if bar:
                bar.advance()
        if bar:
            bar.close()
        self._meet(f"{what} captured")
        if loud:
            self.voice.say(log.capture_end(what, time.monotonic() - began, size, self._avail()))

    def _maybe_run_out(self, what: str, number: int) -> None:
        fault, total = self._plan.fault, self._plan.memory.total
        hit = fault.kind == "oom" and self._post.rank == fault.rank and self._post.fraction >= fault.fraction
        if hit and what == "target verify" and number == len(log.BATCHES) // 3:
            free = 0.29
            self._hold(total - free - self._held, 0, 130.0)
            raise RankError(tracebacks.out_of_memory(self._post.rank, total, free, os.getpid()))

    def _kv(self) -> tuple[float, float]:
        """Return the GB of both KV caches: what the static fraction leaves beside the weights."""
        memory = self._plan.memory
        draft = memory.draft if self._post.draft else 0.0
        left = self._post.fraction * (memory.total - memory.context) - memory.target - draft
        share = memory.draft_kv_share if self._post.draft else 0.0
        return left * (1 - share), left * share

    def _tokens(self) -> int:
        return int(self._kv()[0] * 22_950)

    def _avail(self) -> float:
        return self._plan.memory.total - self._held

    def _hold(self, more: float, utilization: int, watts: float) -> None:
        self._held += more
        self._claim.hold(self._held, utilization, watts)

    def _meet(self, where: str) -> None:
        """Wait for all ranks, as at a barrier of the process group."""
        self._conn.send(("at", where))
        self._conn.recv()

    def _work(self, seconds: float) -> None:
        """Spend `seconds` of the original, with a little CPU."""
        end = time.monotonic() + self._plan.pace(seconds)
        while (left := end - time.monotonic()) > 0:
            spin = time.thread_time() + min(BURN, left * BURN / SLICE)
            while time.thread_time() < spin:
                pass
            time.sleep(max(0.0, min(SLICE, end - time.monotonic())))
