"""One bar per rank: what is proven, what is observed, what is only implied, and who is behind or in trouble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bringup.core.ranks import name_of
from bringup.core.sanitize import clean_text
from bringup.core.verdict import RankView
from bringup.ui.paint.bars import GROWN, INFERRED, OPENED, READ, SOLID, UNKNOWN, rank_bar
from bringup.ui.paint.headings import heading
from bringup.ui.paint.measures import age, count, gib
from bringup.ui.paint.row import Row, Span, fill, joined
from bringup.ui.picture import Picture

_MEMORY = 12
_NODE = 16
_QUIET_SHOWN = 5.0
_WIDE, _MIDDLE = 60, 38
_OVER = ("gone", "zombie")
_TROUBLES = {"uninterruptible": "stuck in I/O", "zombie": "dead (zombie)", "error": "error line"}


@dataclass(frozen=True, slots=True)
class RanksLook:
    """How the panel is to be drawn; `rows` are those below the heading."""

    rows: int
    columns: int = 1
    focused: bool = False
    chosen: int | None = None
    """Position of the chosen rank."""
    filtered: int | None = None
    """The rank that the log is filtered to."""
    with_memory: bool = False


def paint_ranks(picture: Picture, width: int, look: RanksLook) -> list[Row]:
    """Return the heading and `look.rows` rows."""
    rows = [heading(3, "ranks", width, focused=look.focused, left=_tally(picture), right=_legend(picture, look))]
    views = picture.verdict.ranks
    if not views:
        return [*rows, ((" No rank has shown itself yet.", "quiet"),)]
    first = first_shown(len(views), look)
    each = width // look.columns
    for line in range(look.rows):
        row: Row = ()
        for column in range(look.columns):
            place = first + column * look.rows + line
            if place < len(views):
                row = (*row, *fill(_rank(picture, views[place], each, place == look.chosen, look), each))
        rows.append(row)
    hidden = len(views) - first - look.rows * look.columns
    if hidden > 0:
        rows[-1] = _below(views[-(hidden + look.columns) :])
    return rows


def _below(views: Sequence[RankView]) -> Row:
    """What is said of the ranks for which there was no room: not least, whether one of them is behind."""
    late = sum(1 for view in views if view.straggler or view.trouble)
    text = f" … {count(len(views), 'more rank')} below"
    return ((text, "quiet"), (f", {late} of them behind or in trouble", "slow")) if late else ((text, "quiet"),)


def first_shown(ranks: int, look: RanksLook) -> int:
    """Return the position of the first rank shown: the first page, unless the chosen one is further down."""
    page = look.rows * look.columns
    if look.chosen is None or ranks <= page or look.chosen < page - look.columns:
        return 0
    return min(look.chosen, ranks - 1) - page + look.columns + 1


def columns_for(ranks: int, width: int, rows: int) -> int:
    """Return in how many columns the ranks are shown: few, for the notes are worth their room."""
    columns = 2 if ranks > 8 and width >= 2 * _WIDE else 1
    while -(-ranks // columns) > rows and width // (columns + 1) >= 26:
        columns += 1
    return columns


def _rank(picture: Picture, view: RankView, width: int, chosen: bool, look: RanksLook) -> Row:
    sign, ink = _sign(picture, view)
    several = len({other.node for other in picture.verdict.ranks}) > 1
    name = _name(picture, view, several)
    longest = max(len(_name(picture, other, several)) for other in picture.verdict.ranks[:64])
    room = width - longest - 4 - (_MEMORY if look.with_memory and look.columns == 1 else 0)
    counted = 8 if width >= _WIDE else 0
    bar = min(44, int(room * 0.34)) if width >= _WIDE else max(6, room - (14 if width >= _MIDDLE else 9))
    note = room - bar - counted - 1
    pointer = "›" if look.filtered == view.rank else " "
    row: Row = (
        (pointer, "focus"),
        (f"{sign} ", ink),
        (f"{name.ljust(longest)} ", "here" if chosen and look.focused else "strong" if view.straggler else "text"),
        *rank_bar(view, bar, _bar_ink(view)),
    )
    if counted:
        row = (*row, (_count(view).rjust(counted), "text"))
    said = joined(_said(picture, view)) if width >= _WIDE else _shortly(view, roomy=width >= _MIDDLE)
    row = (*row, (" ", "text"), *fill(said, note))
    if look.with_memory and look.columns == 1:
        row = (*row, (_memory(picture, view).rjust(_MEMORY - 1), "mem-own"))
    return row


def _name(picture: Picture, view: RankView, several: bool) -> str:
    """The rank's name, with its node where the start has several."""
    name = name_of(picture.state.attempt, view.rank)
    return f"{clean_text(view.node)[:_NODE]} {name}" if several else name


def _sign(picture: Picture, view: RankView) -> Span:
    if view.trouble and picture.verdict.state == "stopped":
        return "□", "off"
    if view.trouble:
        return "✕", "bad"
    if view.straggler:
        return "▲", "slow"
    return ("✓", "ok") if view.progress == 1.0 else (" ", "text")


def _bar_ink(view: RankView) -> str:
    if view.trouble:
        return "broken"
    return "late" if view.straggler else ""


def _word(view: RankView) -> Span:
    """The rank in one word, for where there is room for no more."""
    if view.trouble:
        return _TROUBLES.get(view.trouble, view.trouble), "bad"
    if view.straggler:
        return "behind", "slow"
    if view.progress == 1.0:
        return "done", "quiet"
    if view.progress is None and view.opened is None:
        return (clean_text(view.note) or ("not seen yet" if view.pid is None else "started")), "quiet"
    return {"log": "its own bar", "maps": "by its maps", "memory": "by its memory"}.get(
        view.source, "inferred"
    ), "quiet"


def _shortly(view: RankView, *, roomy: bool) -> Row:
    """The count, or the word where that says more; both only where both fit."""
    word, count = _word(view), _count(view)
    if not count:
        return (word,)
    if not (view.trouble or view.straggler):
        return ((count, "text"),)
    return ((f"{count} ", "text"), word) if roomy else (word,)


def _said(picture: Picture, view: RankView) -> list[Span]:
    """What is said beside a bar."""
    said: list[Span] = []
    if view.trouble in _OVER:
        return [("ended", "quiet") if picture.verdict.state == "stopped" else _word(view)]
    if view.trouble or view.straggler:
        said.append(_word(view))
    if view.progress != 1.0 and (view.phase, view.role) != (picture.verdict.phase, picture.verdict.role) and view.phase:
        said.append((f"{view.role} {view.phase}" if view.role else view.phase, "text"))
    up = "up" if picture.verdict.phase == "warmup" and view.pid is not None else ""
    word = _note(view) or up or _word(view)[0]
    if word not in [text for text, _ in said]:
        said.append((word, "text" if view.straggler or view.trouble else "quiet"))
    quiet = _quiet(picture, view)
    if quiet >= _QUIET_SHOWN:
        said.append((f"quiet {age(quiet)}", "quiet"))
    return said


def _quiet(picture: Picture, view: RankView) -> float:
    """Seconds without work, for a rank of which work is expected and could be seen."""
    expected = picture.verdict.state in ("starting", "slow", "stalled") and picture.verdict.phase != "warmup"
    if view.quiet_s is None or view.progress == 1.0 or view.source == "peers" or not expected:
        return 0.0
    return view.quiet_s


def _note(view: RankView) -> str:
    """The note without the count that stands beside the bar already."""
    note = clean_text(view.note)
    if view.done is None or view.total is None:
        return note
    opened = round((view.opened or 0.0) * view.total)
    if view.source == "maps" and opened - view.done > 1:
        return f"{opened} opened"
    for word in ("shard", "step"):
        note = note.removeprefix(f"{word} {view.done}/{view.total}").strip()
    return note


def _count(view: RankView) -> str:
    if view.done is not None and view.total is not None:
        return f"{view.done}/{view.total}"
    if view.progress is None or view.progress == 1.0:
        return ""
    return f"{int(view.progress * 100)} %"


def _memory(picture: Picture, view: RankView) -> str:
    """Memory of the rank's GPU, used and total in GiB."""
    gpu = next((gpu for gpu in picture.state.gpu.gpus if gpu.index == view.gpu), None)
    if gpu is None or gpu.used is None:
        return ""
    return gib(gpu.used) + (f"/{gpu.total / 1024:.0f}" if gpu.total else "")


def _tally(picture: Picture) -> Row:
    views = picture.verdict.ranks
    done = sum(1 for view in views if view.progress == 1.0)
    if not views or picture.verdict.phase in ("warmup", "serving", None):
        return ((f"{len(views)}", "quiet"),) if views else ()
    return ((f"{done} of {len(views)} done", "quiet"),)


def _legend(picture: Picture, look: RanksLook) -> Row:
    """The textures that are on the screen now, in words."""
    views = picture.verdict.ranks
    shown = [
        (SOLID, "proven", "own log", any(view.source == "log" for view in views)),
        (READ, "observed", "maps", any(view.source == "maps" for view in views)),
        (GROWN, "grown", "memory", any(view.source == "memory" for view in views)),
        (OPENED, "opened", "opened", any((view.opened or 0) > (view.progress or 0) for view in views)),
        (INFERRED, "inferred", "inferred", any(view.source == "peers" for view in views)),
        (UNKNOWN, "track", "unknown", any(view.progress is None and view.opened is None for view in views)),
    ]
    spans: list[Span] = []
    for sign, ink, word, there in shown:
        if there:
            spans += [(f"{sign * 2} ", ink), (f"{word}  ", "quiet")]
    if look.with_memory and look.columns == 1 and picture.state.gpu.gpus:
        spans += [("", "quiet"), ("GPU GiB", "quiet")]
    return tuple(spans)
