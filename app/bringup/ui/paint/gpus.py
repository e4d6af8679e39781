"""The GPUs: whose memory it is, how busy, how hot, and how the memory grew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bringup.core.events import Gpu
from bringup.core.preflight import is_orphan, own_pids
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
    ours = own_pids(state)
    sums = {"own": 0, "other": 0, "orphan": 0}
    for app in state.gpu.apps:
        if app.gpu == gpu.index:
            kind = "orphan" if is_orphan(state, app) else "own" if app.pid in ours else "other"
            sums[kind] += app.used or 0
    return Owners(**sums, rest=max(0, (gpu.used or 0) - sum(sums.values())))


def paint_gpus(
    picture: Picture,
    width: int,
    height: int,
    *,
    focused: bool,
    row: Callable[[Picture, Gpu, int], Row] | None = None,
) -> list[Row]:
    """Return exactly `height` rows: heading and one row a GPU, or the sentence why there is none.

    `row` paints a GPU otherwise than usual.
    """
    channel = picture.state.gpu
    rows = [heading(4, "GPUs", width, focused=focused, left=_model(picture), right=_head(picture, width))]
    if not channel.gpus:
        rows += [((f" {line}", "quiet"),) for line in wrapped(why_none(picture.state), width - 2, height - 1)]
    for gpu in channel.gpus[: height - 1]:
        rows.append((row or _gpu)(picture, gpu, width))
    hidden = len(channel.gpus) - (height - 1)
    if hidden > 0 and height > 1:
        rows[-1] = ((f" … {count(hidden + 1, 'more GPU')}", "quiet"),)
    return rows + [()] * (height - len(rows))


def why_none(state: State) -> str:
    """Return why nothing is known of GPUs, as a sentence."""
    why = next((why for channel, why in state.closed if channel == "gpus"), "")
    return f"{clean_text(why).rstrip('.')}." if why else "nvidia-smi has not answered yet."


def _gpu(picture: Picture, gpu: Gpu, width: int) -> Row:
    state = picture.state
    measured = numbers(gpu)
    taken = 4 + sum(len(text) for text, _ in measured)
    tail = max(11, min(24, (width - taken) // 3))
    bar = max(4, width - taken - tail - 2)
    row: Row = ((f" {gpu.index:>2} ", "text"), *owner_bar(state, gpu, bar), *measured, (" ", "text"))
    return clip((*row, *_tail(state, gpu, owners(state, gpu), tail)), width)


def owner_bar(state: State, gpu: Gpu, width: int) -> Row:
    """Return the memory of a GPU as a bar whose parts are its owners."""
    held = owners(state, gpu)
    parts = (
        (held.own, _OWN, "mem-own"),
        (held.rest, _REST, "mem-rest"),
        (held.other, _OTHER, "mem-other"),
        (held.orphan, _ORPHAN, "mem-orphan"),
    )
    return stacked(parts, gpu.total or 0, width)


def numbers(gpu: Gpu, *, short: bool = False) -> tuple[Span, ...]:
    """Return memory in use, utilisation, power and temperature in columns; memory alone where it is to be short."""
    used = gib(gpu.used) if gpu.used is not None else "?"
    total = f"/{gpu.total / 1024:.0f}" if gpu.total else ""
    util = f"{gpu.utilization}%" if gpu.utilization is not None else "-"
    watts = f"{gpu.power:.0f}W" if gpu.power is not None else "-"
    degrees = f"{gpu.temperature}°C" if gpu.temperature is not None else "-"
    memory = f" {used.rjust(5)}{total.ljust(4)}"
    if short:
        return ((memory, "text"),)
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
