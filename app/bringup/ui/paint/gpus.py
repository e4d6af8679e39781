"""The GPUs: whose memory it is, how busy, how hot, and how the memory grew."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Gpu, GpuApp
from bringup.core.sanitize import clean_text
from bringup.core.state import State
from bringup.ui.paint.bars import sparkline, stacked
from bringup.ui.paint.headings import heading
from bringup.ui.paint.measures import age, count, gib
from bringup.ui.paint.row import Row, Span, clip, wrapped
from bringup.ui.picture import Picture

_OLD = 5.0
_OWN, _REST, _OTHER, _ORPHAN = "▆", "▒", "▚", "╳"


@dataclass(frozen=True, slots=True)
class Owners:
    """Memory of one GPU in MiB by owner; `rest` is used but belongs to no process that nvidia-smi names."""

    own: int
    other: int
    orphan: int
    rest: int


def owners(state: State, gpu: Gpu) -> Owners:
    """Return who holds the memory of a GPU."""
    ours = _ours(state)
    sums = {"own": 0, "other": 0, "orphan": 0}
    for app in state.gpu.apps:
        if app.gpu == gpu.index:
            orphan = app.orphan or app.pid in state.orphans
            kind = "orphan" if orphan else "own" if app.pid in ours else "other"
            sums[kind] += app.used or 0
    return Owners(**sums, rest=max(0, (gpu.used or 0) - sum(sums.values())))


def _ours(state: State) -> set[int]:
    return {process.pid for process in state.processes} | {rank.pid for rank in state.attempt.ranks if rank.pid}


def paint_gpus(picture: Picture, width: int, height: int, *, focused: bool) -> list[Row]:
    """Return exactly `height` rows: heading and one row a GPU, or the sentence why there is none."""
    channel = picture.state.gpu
    rows = [heading(4, "GPUs", width, focused=focused, left=_model(picture), right=_head(picture, width))]
    if not channel.gpus:
        rows += [((f" {line}", "quiet"),) for line in wrapped(why_none(picture), width - 2, height - 1)]
    for gpu in channel.gpus[: height - 1]:
        rows.append(_gpu(picture.state, gpu, width))
    hidden = len(channel.gpus) - (height - 1)
    if hidden > 0 and height > 1:
        rows[-1] = ((f" … {count(hidden + 1, 'more GPU')}", "quiet"),)
    return rows + [()] * (height - len(rows))


def why_none(picture: Picture) -> str:
    """Return the sentence that stands where the GPUs would."""
    why = next((why for channel, why in picture.state.closed if channel == "gpus"), "")
    if why:
        return f"No GPUs to show: {clean_text(why).rstrip('.')}."
    return "nvidia-smi has not answered yet."


def foreign(state: State) -> list[tuple[GpuApp, bool]]:
    """Return the processes on the GPUs that are not this server's, and whether each is an orphan."""
    ours = _ours(state)
    strangers = [app for app in state.gpu.apps if app.pid not in ours or app.orphan or app.pid in state.orphans]
    return [(app, app.orphan or app.pid in state.orphans) for app in strangers]


def strangers(state: State) -> list[str]:
    """Return a sentence for each process that holds memory which this server may need, the largest first."""
    needed = {rank.gpu for rank in state.attempt.ranks if rank.gpu is not None}
    found = [
        (app, orphan) for app, orphan in foreign(state) if (orphan or app.gpu in needed) and (app.used or 0) >= 1024
    ]
    said = []
    for app, orphan in sorted(found, key=lambda pair: -(pair[0].used or 0)):
        whose = "an orphan of an earlier server" if orphan else f"{clean_text(app.user) or 'somebody'}'s process"
        said.append(f"GPU {app.gpu}: {gib(app.used or 0)} GiB are held by {whose}, PID {app.pid}")
    return said


def _gpu(state: State, gpu: Gpu, width: int) -> Row:
    held = owners(state, gpu)
    numbers = _numbers(gpu, width)
    taken = 4 + sum(len(text) for text, _ in numbers)
    tail = max(11, min(24, (width - taken) // 3))
    bar = max(4, width - taken - tail - 2)
    parts = (
        (held.own, _OWN, "mem-own"),
        (held.rest, _REST, "mem-rest"),
        (held.other, _OTHER, "mem-other"),
        (held.orphan, _ORPHAN, "mem-orphan"),
    )
    return clip(
        (
            (f" {gpu.index:>2} ", "text"),
            *stacked(parts, gpu.total or 0, bar),
            *numbers,
            (" ", "text"),
            *_tail(state, gpu, held, tail),
        ),
        width,
    )


def _numbers(gpu: Gpu, width: int) -> tuple[Span, ...]:
    used = gib(gpu.used) if gpu.used is not None else "?"
    total = f"/{gpu.total / 1024:.0f}" if gpu.total else ""
    util = f"{gpu.utilization}%" if gpu.utilization is not None else "-"
    watts = f"{gpu.power:.0f}W" if gpu.power is not None else "-"
    degrees = f"{gpu.temperature}°C" if gpu.temperature is not None else "-"
    memory = f" {used.rjust(5)}{total.ljust(4)}"
    return ((memory, "text"), (util.rjust(5), "quiet"), (watts.rjust(6), "quiet"), (degrees.rjust(5), "quiet"))


def _tail(state: State, gpu: Gpu, held: Owners, width: int) -> Row:
    """How the memory grew; or, where somebody else holds some of it, who."""
    if held.orphan:
        return ((f"orphan {gib(held.orphan)}", "bad"),)
    if held.other:
        return ((f"other {gib(held.other)}", "slow"),)
    history = dict(state.gpu.history).get(gpu.index, ())
    return ((sparkline(history, gpu.total or max(history, default=1), width), "spark"),)


def _model(picture: Picture) -> Row:
    names = {clean_text(gpu.name).removeprefix("NVIDIA ") for gpu in picture.state.gpu.gpus if gpu.name}
    number = len(picture.state.gpu.gpus)
    return ((f"{number} × {names.pop()}" if len(names) == 1 else f"{number}", "quiet"),) if number else ()


def _head(picture: Picture, width: int) -> Row:
    """The legend of owners that are there, and how old the answer is when it is."""
    channel = picture.state.gpu
    spans: list[Span] = []
    if channel.seen_at is not None and picture.now - channel.seen_at > _OLD:
        return ((f"answered {age(picture.now - channel.seen_at)} ago", "slow"),)
    held = [owners(picture.state, gpu) for gpu in channel.gpus]
    named = [
        (_OWN, "mem-own", "this server", any(one.own for one in held)),
        (_REST, "mem-rest", "owner unknown", any(one.rest > 1024 for one in held)),
        (_OTHER, "mem-other", "other process", any(one.other for one in held)),
        (_ORPHAN, "mem-orphan", "orphan", any(one.orphan for one in held)),
    ]
    for sign, ink, word, there in named:
        if there:
            spans += [(f"{sign} ", ink), (f"{word}  ", "quiet")]
    return (*spans, ("GiB", "quiet")) if width >= 56 and spans else tuple(spans)
