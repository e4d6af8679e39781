"""Every channel of evidence with its age: what it says now, when it last answered, when it last showed work.

Channels that cannot be had are told with the reason, those that were never asked say so.
"""

from __future__ import annotations

from bringup.core.bars import bar_of
from bringup.core.gpu_loads import worked_at
from bringup.core.liveness import compilers
from bringup.core.phases import Position
from bringup.core.policy import Policy
from bringup.core.ranks import name_of
from bringup.core.shards import is_unknown, mapped_words, opened, whole
from bringup.core.state import State
from bringup.core.verdict import ChannelView
from bringup.core.words import count, names

_PARENT = {"maps": "maps", "cpu": "processes", "compilers": "processes", "memory": "gpus"}
"""Channel that another one comes with: where the one is closed, so is the other."""
_SPINS = "an idle server uses CPU, too"
_MOST_TEXT = 200


def channel_views(state: State, where: Position, now: float, policy: Policy) -> tuple[ChannelView, ...]:
    """Return all channels in the order in which they are shown."""
    told = (
        ("log", *_log(state)),
        ("bar", *_bar(state, where)),
        ("processes", *_processes(state)),
        ("maps", *_maps(state)),
        ("cpu", *_cpu(state)),
        ("compilers", *_compilers(state, policy)),
        ("gpus", *_gpus(state, policy)),
        ("memory", *_memory(state)),
        ("port", *_port(state)),
        ("http", *_http(state)),
        ("kernel", *_kernel(state)),
    )
    closed = dict(state.closed)
    views = []
    for channel, says, heard, moved in told:
        why = closed.get(channel) or closed.get(_PARENT.get(channel, ""))
        if why:
            views.append(ChannelView(channel, why, None, _age(moved, now), open=False))
        else:
            views.append(ChannelView(channel, says, _age(heard, now), _age(moved, now)))
    return tuple(views)


Told = tuple[str, float | None, float | None]
"""(what it says, when it last answered, when it last showed work)."""


def _age(at: float | None, now: float) -> float | None:
    return None if at is None else max(0.0, now - at)


def _log(state: State) -> Told:
    log, newest = state.log, state.attempt.last_line_at
    moved = max((at for at in (log.grew_at, newest) if at is not None), default=None)
    if not log.lines and moved is None:
        return "nothing was read yet", None, None
    return f"{count(log.lines, 'line')}, {log.unknown:,} of them unknown", moved, moved


def _bar(state: State, where: Position) -> Told:
    step = where.step
    bar = bar_of(state.attempt, step.phase, step.role, step.part) if step is not None else None
    bar = bar or max(state.attempt.bars, key=lambda known: known.drawn_at, default=None)
    if bar is None:
        return "none was drawn yet", None, None
    what = {"shards": "shards", "graphs": "captures"}.get(bar.kind, "steps")
    told = f"{bar.done} of {bar.total} {what} of {bar.role or 'the model'}"
    return (told, bar.drawn_at, bar.moved_at) if bar.dated else (told, None, None)


def _processes(state: State) -> Told:
    if state.sampled_at is None:
        return "nothing was seen yet", None, None
    letters = sorted({process.state for process in state.processes} & {"T", "D", "Z"})
    odd = [f"{sum(p.state == letter for p in state.processes)} in state {letter}" for letter in letters]
    told = ", ".join([count(len(state.processes), "process", "processes"), *odd])
    return told, state.sampled_at, state.tree_work.moved_at


def _maps(state: State) -> Told:
    known = [(rank, shards) for rank in state.attempt.ranks for shards in rank.shards if shards.seen]
    seen = [rank for rank in state.attempt.ranks if rank.process is not None and rank.process.shards is not None]
    if not known:
        return ("no shard is mapped", state.sampled_at, None) if seen else ("nothing was seen yet", None, None)
    moved = max((shards.moved_at for _, shards in known if shards.moved_at is not None), default=None)
    last, shards = min(known, key=lambda pair: (pair[1].role == "draft", opened(pair[1])))
    total = whole(state, shards)
    if is_unknown(shards):
        return f"{name_of(state.attempt, last.rank)} {mapped_words(shards, total)}", state.sampled_at, moved
    of = f" of {total}" if total else ""
    return f"{name_of(state.attempt, last.rank)} is last, {opened(shards)}{of} opened", state.sampled_at, moved


def _cpu(state: State) -> Told:
    if state.sampled_at is None:
        return "nothing was seen yet", None, None
    rates = [rank.cpu_rate for rank in state.attempt.ranks if rank.cpu_rate is not None and rank.gone_at is None]
    told = f"{sum(rates):.1f} cores by {count(len(rates), 'rank')}; {_SPINS}" if rates else _SPINS
    return told, state.sampled_at, state.tree_cpu.moved_at


def _compilers(state: State, policy: Policy) -> Told:
    if state.sampled_at is None:
        return "nothing was seen yet", None, None
    known = compilers(state, policy)
    running = [comm for comm, mark in state.children if comm in policy.compilers and mark.value]
    told = f"{known.value:.0f} running: {names(running)}" if running else "none runs"
    return told, state.sampled_at, known.moved_at


def _gpus(state: State, policy: Policy) -> Told:
    gpus = state.gpu.gpus
    if state.gpu.seen_at is None:
        return "nothing was seen yet", None, None
    full = sum((gpu.utilization or 0) >= policy.signs.gpu_full for gpu in gpus)
    power = [gpu.power for gpu in gpus if gpu.power is not None]
    limit = [gpu.power_limit for gpu in gpus if gpu.power_limit]
    watts = f", {sum(power):.0f}{f' of {sum(limit):.0f}' if len(limit) == len(power) else ''} W" if power else ""
    told = f"{count(len(gpus), 'GPU')}, {full} at full utilisation{watts}"
    return told, state.gpu.seen_at, worked_at(state, policy.signs)


def _memory(state: State) -> Told:
    known = [gpu for gpu in state.gpu.gpus if gpu.used is not None and gpu.total]
    if not known:
        return "nothing was seen yet", None, None
    used, total = sum(gpu.used or 0 for gpu in known), sum(gpu.total or 0 for gpu in known)
    return f"{used / 1024:.0f} of {total / 1024:.0f} GiB of the GPUs in use", state.gpu.seen_at, state.gpu.moved_at


def _port(state: State) -> Told:
    port = state.attempt.port
    if state.port_seen_at is None:
        return "not looked at yet", None, None
    if state.port_pid is None:
        return f"nobody listens on {port or 'it'} yet", state.port_seen_at, None
    who = state.port_title or (f"process {state.port_pid}" if state.port_pid else "somebody who cannot be told")
    return f"{who[:_MOST_TEXT]} listens on {port or 'it'}", state.port_seen_at, None


def _http(state: State) -> Told:
    answer = state.http
    if answer is None:
        return "not asked yet", None, None
    said = f"HTTP {answer.status}" if answer.status is not None else answer.error or "no answer"
    return f"{said} on {answer.path}", answer.at, state.http_ok_at


def _kernel(state: State) -> Told:
    if state.kernel:
        return state.kernel[-1].text[:_MOST_TEXT], state.kernel_asked_at, None
    if state.kernel_asked_at is None:
        return "not asked: nothing went without a word", None, None
    return "nothing about this server", state.kernel_asked_at, None
