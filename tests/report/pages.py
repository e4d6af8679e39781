"""Explanations made by hand and the text of their pages; `python tests/report/pages.py` writes the golden ones anew."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from bringup.core.state import Attempt, PastAttempt, Rank, State
from bringup.core.verdict import Advisory, Cause, PhaseView, RankView, Verdict
from bringup.report.excerpts import Quoted
from bringup.report.explanation import Explanation, Reading
from bringup.report.page import page

GOLDEN = Path(__file__).with_name("golden")
WIDTHS = (80, 120)
START = 1_772_442_854.0
"""2026-03-02 09:14:14 UTC."""

WAITING = Verdict(
    state="waiting",
    phase=None,
    role=None,
    summary="Waiting: no server was started yet.",
    engine=None,
    version=None,
    attempt=1,
    model=None,
    draft_model=None,
    port=None,
    now=START,
    stale_s=None,
    ranks_expected=None,
    ranks_done=(),
    ranks=(),
    bar=None,
    phases=(),
    eta_s=None,
    eta_basis="",
    failed_ranks=(),
    cause=None,
    warnings=(),
    evidence=(),
    accept_len=None,
)


def view(rank: int, **more: object) -> RankView:
    plain = RankView(
        rank=rank,
        node="",
        labels=(("tp", rank),),
        pid=None,
        gpu=None,
        phase="weights",
        role=None,
        progress=None,
        source="log",
        quiet_s=0.0,
        note="begun",
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def state(ranks: int, **more: object) -> State:
    known = tuple(Rank(rank, labels=(("tp", rank),)) for rank in range(ranks))
    return State(attempt=Attempt(tp=ranks, launched=True, ranks=known), **more)  # type: ignore[arg-type]


def spans(*rows: tuple[str, str | None, float, bool]) -> tuple[PhaseView, ...]:
    """Phases one after the other."""
    found, at = [], START
    for name, role, seconds, ended in rows:
        phase, _, part = name.partition(" ")
        done = 2 if name == "weights" and not ended else 0
        found.append(PhaseView(phase, role, at, seconds, ended, part, done))  # type: ignore[arg-type]
        at += seconds
    return tuple(found)


def caused(
    kind: str,
    line: str,
    number: int | None = None,
    rank: int | None = None,
    advice: str = "",
    *,
    secondary: bool = False,
) -> Cause:
    return Cause(kind, line, number, rank, secondary, advice)


def failed() -> Explanation:
    line = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 2 has a total capacity of 95.00 "
        "GiB of which 301.00 MiB is free. Process 4181 has 94.69 GiB memory in use."
    )
    verdict = replace(
        WAITING,
        state="failed",
        phase="graphs",
        summary="Failed: out of memory on TP2 while capturing CUDA graphs.",
        engine="sglang",
        version="0.5.15",
        attempt=2,
        model="/models/demo-moe",
        port=30000,
        ranks_expected=4,
        ranks=tuple(view(rank, phase="graphs") for rank in range(4)),
        phases=spans(("launch", None, 20, True), ("weights", None, 64, True), ("graphs decode", None, 13, False)),
        failed_ranks=(2,),
        cause=caused("oom", line, 1087, 2, "Lower --mem-fraction-static or the largest captured batch."),
        evidence=(f"log line 1087: {line}", "bar of rank 0: 0 of 35, last step 13 s ago"),
    )
    earlier = PastAttempt(1, "port-in-use", "ZMQError: Address already in use", 40)
    excerpt = (
        Quoted(1086, '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/models/demo.py", line 811, in forward'),
        Quoted(1087, line),
        Quoted(1088, ""),
    )
    reading = Reading("logs/launch.log", 812_345, 1090, 3, START, START + 97)
    return Explanation(verdict, state(4, earlier=(earlier,)), reading, 0.0, (), excerpt)


def ready() -> Explanation:
    verdict = replace(
        WAITING,
        state="degraded",
        phase="serving",
        summary="Serving on port 30000, but the draft model is hardly ever accepted: accept length 1.00.",
        engine="sglang",
        model="/models/Kimi-K2.5-INT4",
        draft_model="/models/kimi-eagle3",
        port=30000,
        ranks_expected=8,
        accept_len=1.0,
        ranks=tuple(view(rank, phase="serving", progress=1.0, note="serving") for rank in range(8)),
        phases=spans(
            ("launch", None, 20, True),
            ("weights", "target", 372, True),
            ("graphs verify", "target", 61, True),
            ("weights", "draft", 9, True),
            ("kv-cache", "draft", 0, True),
            ("warmup", None, 5, True),
            ("serving", None, 7200, False),
        ),
        warnings=(
            *(Advisory("unmatched-weights", f"model.layers.{n}.k_scale") for n in range(5)),
            Advisory("draft-mismatch", "the draft model is hardly ever accepted"),
        ),
        evidence=("log: ready line 2 h ago",),
    )
    return Explanation(verdict, state(8), Reading("standard input", 3 << 20, 12_401, 0, START, START + 7667), 0.0)


def slow() -> Explanation:
    late = view(0, straggler=True, done=64, total=64, progress=0.99)
    verdict = replace(
        WAITING,
        state="slow",
        phase="weights",
        summary="Loading weights: 2 of 4 ranks done. Slow: TP0 is far behind the others.",
        engine="sglang",
        ranks_expected=4,
        ranks=(late, view(1, progress=1.0), view(2, progress=1.0), view(3, note="not begun", source="none")),
        phases=spans(("launch", None, 20, True), ("weights", None, 300, False)),
        eta_s=(60.0, 140.0),
        eta_basis="the steps of the bar",
    )
    return Explanation(verdict, state(4), Reading("a.log.gz", 900, 40, 30, START, START + 200, "Damaged."), 120.0)


def untimed() -> Explanation:
    verdict = replace(
        WAITING,
        state="stopped",
        summary="Stopped while starting up: SIGTERM received.",
        phases=(PhaseView("launch", None, 0.0, 0.0, ended=False),),
        cause=caused("killed", "the launcher ended without an error line", secondary=True),
    )
    return Explanation(verdict, State(), Reading("x", 10, 1, 0, None, None), 0.0)


PAGES: Mapping[str, Callable[[], Explanation]] = {"failed": failed, "ready": ready, "slow": slow, "untimed": untimed}


def text(explanation: Explanation, width: int, **more: object) -> str:
    """Return the page as it is printed in a pipe."""
    console = Console(width=width, file=io.StringIO(), highlight=False, markup=False, emoji=False, **more)  # type: ignore[arg-type]
    with console.capture() as captured:
        console.print(page(explanation, width))
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


if __name__ == "__main__":
    for name, make in PAGES.items():
        for width in WIDTHS:
            (GOLDEN / f"{name}-{width}.txt").write_text(text(make(), width), encoding="utf-8")
