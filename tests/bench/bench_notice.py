"""From a stop or kill to saying so: `python tests/bench/bench_notice.py FOLDER`, on recordings of real starts.

FOLDER holds NAME.jsonl.gz whose headers tell what was done to the server and when (`truth`). One line for each signal,
and for a launcher that ended without one: the seconds until the verdict said so, the seconds until it named the rank
that was meant, and the sentence.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "app"))

from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy
from bringup.hosts.recording import load_recording
from bringup.report.replaying import Moment, changes, command_reader, moments
from bringup.session.knowledge import Knowledge

SAYS = {
    "STOP": {"stalled"},
    "CONT": {"starting", "slow", "ready"},
    "KILL": {"failed", "degraded", "stopped"},
    "TERM": {"stopped"},
    "end": {"failed", "stopped"},
}
"""By signal: the states that own up to it."""


@dataclass(frozen=True)
class Deed:
    """What was done to a server: when, the signal (or that its launcher ended), and to which process."""

    t: float
    name: str
    what: str
    pid: int | None = None


def deeds(truth: dict[str, Any]) -> Iterator[Deed]:
    """Yield what was done; the two makers of recordings put signals differently."""
    signals = [[word for word in row if word != "signal"] for row in truth.get("signals", [])]
    for t, *words in signals:
        name = next(word for word in words if word in SAYS)
        pid = next(word for word in words if isinstance(word, int))
        yield Deed(
            float(t), name, f"{name} to {next((word for word in words[:2] if word not in (name, pid)), pid)}", pid
        )
    if not signals and truth.get("main_exit") and truth["main_exit"][1] is not None:
        t, status = truth["main_exit"]
        yield Deed(float(t), "end", f"launcher ends, exit {status}")


def first(said: Sequence[Moment], since: float, holds: Callable[[Moment], bool]) -> Moment | None:
    """Return the moment from which on something was said, at the earliest the one that holds at `since`."""
    before = [moment for moment in said if moment.t < since][-1:]
    return next((moment for moment in [*before, *(m for m in said if m.t >= since)] if holds(moment)), None)


def named(said: Sequence[Moment], deed: Deed) -> Moment | None:
    """Return the moment at which the rank whose process was meant is called out."""
    meant = {view.rank for moment in said for view in moment.verdict.ranks if view.pid == deed.pid}
    return first(said, deed.t, lambda moment: bool(meant & set(moment.verdict.failed_ranks)))


def after(moment: Moment | None, deed: Deed) -> str:
    """Return how long it took, in words."""
    return "-" if moment is None else f"{max(0.0, moment.t - deed.t):.1f} s"


def main() -> None:
    """Print the table."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    knowledge = Knowledge(load_engines(), load_wrappers(), load_policy())
    print(f"{'recording':34} {'at s':>6}  {'what':26} {'said':>7} {'named':>7}  as")
    for path in sorted(Path(sys.argv[1]).glob("*.jsonl.gz")):
        with gzip.open(path, "rt") as lines:
            done = list(deeds(json.loads(next(lines))["truth"]))
        said = list(changes(moments(load_recording(path, command_reader(knowledge)), knowledge))) if done else []
        for deed in done:
            moment = first(said, deed.t, lambda moment, deed=deed: moment.verdict.state in SAYS[deed.name])
            who = named(said, deed) if deed.name in ("STOP", "KILL") else None
            words = "" if moment is None else f"{moment.verdict.state}: {moment.verdict.summary}"
            row = f"{path.name.removesuffix('.jsonl.gz'):34} {deed.t:6.1f}  {deed.what:26}"
            print(f"{row} {after(moment, deed):>7} {after(who, deed):>7}  {words[:110]}")


if __name__ == "__main__":
    main()
