"""The GPUs before a start: which are free, and who holds the memory of the others."""

from __future__ import annotations

from rich.cells import cell_len

from bringup.core.events import Gpu
from bringup.core.preflight import LEAST_MIB, Holder, holders, in_short, is_orphan
from bringup.core.sanitize import clean_text
from bringup.core.state import State
from bringup.ui.paint.gpus import numbers, owner_bar
from bringup.ui.paint.measures import age, gib
from bringup.ui.paint.row import Row, Span, clip, joined, shorten, shorten_front, width_of
from bringup.ui.picture import Picture

_WIDE = 110
_BAR = (10, 44)
_LEAST_TITLE = 6


def paint_held(picture: Picture, gpu: Gpu, width: int) -> Row:
    """Return one row: the bar of owners, what is in use, and the process that holds most of it."""
    state = picture.state
    measured = numbers(gpu, short=width < _WIDE)
    bar = max(_BAR[0], min(_BAR[1], width // 6))
    row: Row = ((f" {gpu.index:>2} ", "text"), *owner_bar(state, gpu, bar), *measured, ("  ", "text"))
    return clip((*row, *_who(picture, state, gpu, width - width_of(row))), width)


def _who(picture: Picture, state: State, gpu: Gpu, room: int) -> Row:
    """The process that holds most, cut so that it fits: of a rank's title the end is kept."""
    here = sorted((app for app in state.gpu.apps if app.gpu == gpu.index), key=lambda app: -(app.used or 0))
    named = sum(app.used or 0 for app in here)
    hidden = (gpu.used or 0) - named
    if not here:
        return (("free", "ok"),) if hidden < LEAST_MIB else ((f"{gib(hidden)} GiB without a process", "slow"),)
    most = here[0]
    ink = "bad" if is_orphan(state, most) else "slow" if (most.used or 0) >= LEAST_MIB else "quiet"
    spans: list[Span] = [
        (f"{'orphan ' if is_orphan(state, most) else ''}PID {most.pid}", ink),
        (f"and {len(here) - 1} more" if len(here) > 1 else "", "slow"),
        (clean_text(most.user), "text"),
        (age(max(0.0, picture.now - most.since)) if most.since else "", "quiet"),
    ]
    left = room - width_of(joined(spans)) - 3
    return joined([*spans, (short_title(most.title, left) if left >= _LEAST_TITLE else "", "text")])


def short_title(title: str, width: int) -> str:
    """Return a process's title in at most `width` cells: of a name that an engine set, the end tells ranks apart."""
    text = clean_text(title)
    program, blank, arguments = text.partition(" ")
    if not blank:
        return shorten_front(text, width)
    # Where a program lies tells less than what it was started with.
    return shorten(text if cell_len(text) <= width else f"{program.rpartition('/')[2]} {arguments}", width)


def paint_holders(picture: Picture, width: int) -> list[Row]:
    """Return who holds GPU memory beside the server, one process a row of at most `width` cells."""
    found = holders(picture.state)
    longest = max((len(_gpus(one)) for one in found), default=0)
    rows: list[Row] = []
    for one in found:
        head: Row = ((f"  {_gpus(one).ljust(longest)}  ", "quiet"), *_told(picture, one))
        left = width - width_of(head) - 3
        title: Row = ((" · ", "faint"), (short_title(one.title, left), "text")) if one.title and left > 0 else ()
        rows.append(clip((*head, *title), width))
    return rows


def _gpus(one: Holder) -> str:
    return f"GPU {in_short(one.gpus)}"


def _told(picture: Picture, one: Holder) -> Row:
    return joined(
        [
            (f"{gib(one.used)} GiB" if one.used is not None else "some memory", "strong"),
            ("orphan", "bad") if one.orphan else ("another process", "slow"),
            (f"PID {one.pid}", "text"),
            (f"user {clean_text(one.user)}" if one.user else "", "text"),
            (f"for {age(max(0.0, picture.now - one.since))}" if one.since is not None else "", "quiet"),
        ]
    )
