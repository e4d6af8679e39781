"""What the verdict rests on: short lines with numbers, each naming the channel it came from."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.core.causes import lost_ranks
from bringup.core.eta import current_bar
from bringup.core.hang_words import power_words
from bringup.core.liveness import jit_seconds
from bringup.core.pace import slowed_down
from bringup.core.ranks import find, name_of
from bringup.core.summary import Judged
from bringup.core.words import count, duration, names

MOST = 12
_CLOSES = {"process": "processes", "port": "processes", "http": "http", "log": "log"}
"""Channel that is said to be closed where one of those that tell of serving cannot be had."""
_MISSING = {
    "checkpoints": "the files of the models",
    "log": "the log",
    "processes": "the processes",
    "maps": "the maps of the ranks",
    "gpus": "the GPUs",
    "http": "HTTP",
    "search": "the search for servers",
    "kernel": "the kernel log",
}

_SIGNS = {
    "log": "log line",
    "maps": "shard mapped",
    "faults": "page faults",
    "read": "read",
    "memory": "change of its GPU's memory",
    "cpu": "use of CPU",
}
"""A rank's signs of work, behind "last"."""


def evidence(judged: Judged) -> tuple[str, ...]:
    """Return the lines, most telling first."""
    lines = [
        *_end(judged),
        *_earlier(judged),
        *_later(judged),
        *_kernel(judged),
        *_room(judged),
        *_step(judged),
        *_countdown(judged),
        *_bar(judged),
        *_ranks(judged),
        *_work(judged),
        *_hang(judged),
        *_service(judged),
        *_closed(judged),
    ]
    return tuple(lines)[:MOST]


def _end(judged: Judged) -> Iterator[str]:
    if judged.outcome is None:
        return
    cause = judged.outcome.cause
    if cause is not None and cause.line_number:
        yield f"log line {cause.line_number}: {cause.line[:200]}"
    # Whom the operator's own stop took first tells nothing.
    lost = lost_ranks(judged.state) if judged.outcome.action is None else ()
    # All of them go when one failed with an error: who went first tells something only where nobody said why.
    if lost and cause is not None and (cause.kind == "killed" or cause.secondary):
        went = names([name_of(judged.state.attempt, rank) for rank in lost])
        yield f"processes: {went} went first, and printed no error of {'its' if len(lost) == 1 else 'their'} own"
    if judged.state.gone_at is not None:
        yield "processes: the launcher has ended"
    if judged.state.orphans:
        number = len(judged.state.orphans)
        yield f"processes: {number} of its children {'lives' if number == 1 else 'live'} on and may hold GPU memory"


def _earlier(judged: Judged) -> Iterator[str]:
    """What was put aside as not of the process that is watched: whoever knows better sees that it was."""
    past = next((past for past in reversed(judged.state.earlier) if past.kind is not None), None)
    if judged.state.server is not None and past is not None:
        where = f" in log line {past.line}" if past.line else ""
        yield f"an error{where} counts to an earlier start ({past.kind}): {past.text[:120]}"


def _later(judged: Judged) -> Iterator[str]:
    """What was put aside as said after its end."""
    line = judged.later
    if line is not None:
        where = f" in log line {line.line}" if line.line else ""
        yield f"an error{where} came after its end and counts to a later start ({line.kind}): {line.text[:120]}"


def _room(judged: Judged) -> Iterator[str]:
    if judged.state.log.full:
        yield f"log: it cannot grow, the disk of {judged.state.log.full} is full"


def _step(judged: Judged) -> Iterator[str]:
    step, attempt = judged.where.step, judged.state.attempt
    if step is None or step.complete or len(step.expected) < 2 or judged.where.phase in ("warmup", "serving"):
        return
    late = names([name_of(attempt, rank) for rank in sorted(step.expected - step.begun)])
    if late:
        yield f"log: {len(step.begun)} of {len(step.expected)} ranks began {step.phase}; not {late}"
    if step.done:
        missing = names([name_of(attempt, rank) for rank in step.missing])
        yield f"log: {len(step.done & step.expected)} of {len(step.expected)} ranks ended {step.phase}; not {missing}"
    elif not late:
        yield f"log: all {len(step.expected)} ranks began {step.phase}, none has ended it"


def _bar(judged: Judged) -> Iterator[str]:
    bar = current_bar(judged.state, judged.where)
    if bar is None or judged.where.phase in ("warmup", "serving"):
        return
    whose = f"bar of rank {bar.owner}"
    # A bar that was in the file already carries no time: of its last step no age is known.
    age = f", last step {duration(judged.now - bar.moved_at)} ago" if bar.dated else ""
    yield f"{whose}: {bar.done} of {bar.total}{age}"
    slower = slowed_down(bar)
    if slower is not None:
        yield f"{whose}: {slower[0]:.1f} s a step now, {slower[1]:.2f} s before"


def _ranks(judged: Judged) -> Iterator[str]:
    mapped = [view for view in judged.ranks if view.source == "maps"]
    for view in sorted(mapped, key=lambda view: view.progress or 0.0)[:2]:
        yield f"maps: {name_of(judged.state.attempt, view.rank)} {view.note}{_rate(judged, view.rank)}"
    for view in [view for view in judged.ranks if view.trouble in ("stopped", "zombie", "gone")][:3]:
        yield f"processes: {name_of(judged.state.attempt, view.rank)} is {view.trouble}"


def _rate(judged: Judged, rank: int) -> str:
    """What it reads from storage; nothing where the page cache serves it."""
    known = find(judged.state.attempt, rank)
    rate = known.read_rate if known is not None else None
    if not rate or rate < 1e5:
        return ""
    return f", {rate / 1e9:.1f} GB/s from storage" if rate >= 1e9 else f", {rate / 1e6:.0f} MB/s from storage"


def _hang(judged: Judged) -> Iterator[str]:
    """The numbers behind the shape of a hang: what its ranks last did, and what the GPUs draw."""
    shape = judged.shape
    if shape.name == "stopped" and judged.live.launcher is not None:
        yield f"processes: the launcher, PID {judged.live.launcher}, is stopped"
    if shape.name in ("waits-for-one", "uninterruptible", "stopped"):
        for view in [view for view in judged.ranks if view.rank in shape.ranks and view.signs][:2]:
            signs = ", ".join(f"{_SIGNS[name]} {duration(age)} ago" for name, age in view.signs)
            yield f"{name_of(judged.state.attempt, view.rank)}: last {signs}"
    if shape.by == "gpus":
        spins = (
            shape.ranks
            if shape.name == "spinning"
            else tuple(view.rank for view in judged.ranks if view.rank not in shape.ranks)
        )
        yield (
            f"gpus: {len(spins)} at full utilisation but low power{power_words(judged, spins)}, "
            "as ranks that wait in a collective"
        )
    if shape.by == "cpu":
        rates = [rank.cpu_rate for rank in judged.state.attempt.ranks if rank.cpu_rate is not None]
        yield f"processes: {count(len(rates), 'rank')} use {sum(rates):.1f} cores and do nothing else"
    if shape.wchan:
        yield f"processes: wait channel {shape.wchan}"


def _countdown(judged: Judged) -> Iterator[str]:
    limit = judged.countdown
    if limit is None:
        return
    whom = names([name_of(judged.state.attempt, rank) for rank in limit.waits_for])
    waits = f" waits for {whom} and" if whom else ""
    when = f"gives up in {duration(limit.left_s)}" if limit.left_s >= 1 else "gives up now"
    note = f"; {limit.note}" if limit.note else ""
    yield f"time limit: {limit.name}{waits} {when}, after {limit.limit_s:.0f} s in all{note}"


def _kernel(judged: Judged) -> Iterator[str]:
    """The kernel's own words, where they are not the cause already."""
    said = judged.outcome.cause.line if judged.outcome is not None and judged.outcome.cause is not None else ""
    yield from (f"kernel: {line.text[:200]}" for line in judged.state.kernel[-2:] if line.text != said)
    cause = judged.outcome.cause if judged.outcome is not None else None
    if cause is not None and cause.channel == "kernel":
        yield f"kernel: {cause.line[:200]}"


def _work(judged: Judged) -> Iterator[str]:
    live = judged.live
    if judged.outcome is not None or judged.name in ("ready", "degraded", "standby", "waiting"):
        return
    if live.compilers:
        yield f"processes: {live.compilers} compilers at work"
    jit = jit_seconds(judged.state, judged.now)
    if jit is not None:
        what = names([name for name, _ in judged.state.attempt.compiling])
        yield f"log: compile of {what} announced {duration(jit)} ago"
    if live.quiet is not None and live.quiet >= 2:
        yield f"last sign of work: {live.channel}, {duration(live.quiet)} ago (patience {duration(live.patience)})"
    if live.busy and live.quiet is not None and live.quiet > live.slow_after:
        yield "processes: CPU is used, but waiting ranks spin too"


def _service(judged: Judged) -> Iterator[str]:
    state = judged.state
    served = judged.serving
    closed = {name for name, _ in state.closed}
    over = judged.outcome is not None and state.gone_at is not None
    for channel in served.channels:
        if over and (channel.name == "process" or channel.answer == "yes"):
            continue  # The end tells of the process; what its port and HTTP said before says nothing of now.
        if channel.answer != "unknown" or (channel.name == "http" and state.http is not None and "http" not in closed):
            if served.since is not None or channel.name == "http":
                yield f"{channel.name}: {channel.says}"
        elif served.since is not None and state.server is not None and _CLOSES[channel.name] not in closed:
            yield f"not known: {channel.name} ({channel.says})"
    if judged.serving.accept_len is not None:
        yield f"log: accept length {judged.serving.accept_len:.2f} in the last decode line"
    if served.since is None:
        yield from (f"port: {text}" for kind, text in served.warnings if kind == "port-conflict")


def _closed(judged: Judged) -> Iterator[str]:
    for channel, why in judged.state.closed:
        yield f"not available: {_MISSING.get(channel, channel)} ({why})"
