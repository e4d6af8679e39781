"""The phase timeline: two lanes on one axis of time, the running phase growing, last time's start as a ghost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bringup.core.verdict import PhaseView, Verdict
from bringup.core.words import duration
from bringup.ui.paint.headings import heading
from bringup.ui.paint.measures import short_duration
from bringup.ui.paint.row import Row, Span, clip, joined, shorten, width_of
from bringup.ui.picture import Picture

_LABEL = 8
"""Cells before a lane for its name."""
_TICKS = 6
"""The axis of a running start ends at a round time, after about so many ticks: it must not shift every second."""
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_TICK_ROOM = 14
_ENDED = ("failed", "stopped")
_GOING = ("starting", "slow", "stalled")
_SERVING_SHOWN = 0.15
"""Serving has no end: it takes at most this share of the axis."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a lane: seconds from the launch, what is written into it, how it is drawn."""

    begin: float
    end: float
    name: str
    took: str
    ink: str


def paint_phases(picture: Picture, width: int, height: int, *, focused: bool) -> list[Row]:
    """Return at most `height` rows: heading, lanes, then ghosts and the axis as far as there is room."""
    verdict = picture.verdict
    rows = [heading(2, "phases", width, focused=focused, left=_spoken(picture, width - 18))]
    until = extent(verdict)
    for name, lane in lanes(picture):
        rows.append(_lane(name, lane, until, width))
    if height > len(rows) + 1 and verdict.ghosts:
        rows.append(_lane("last", ghosts(verdict), until, width))
    if height > len(rows):
        rows.append(_axis(until, width))
    return rows[:height]


def wanted_height(picture: Picture) -> int:
    """Return how many rows all of it would take: none while no phase was seen."""
    if not picture.verdict.phases:
        return 0
    return 1 + len(lanes(picture)) + (1 if picture.verdict.ghosts else 0) + 1


def lanes(picture: Picture) -> list[tuple[str, list[Stretch]]]:
    """Return the lanes with their stretches; what belongs to no model stands in the first."""
    verdict = picture.verdict
    ahead = upcoming(verdict)
    if not picture.has_draft:
        return [("start", [*_stretches(verdict, verdict.phases), *(stretch for _, stretch in ahead)])]
    target = [view for view in verdict.phases if view.role != "draft"]
    draft = [view for view in verdict.phases if view.role == "draft"]
    of_target = [stretch for role, stretch in ahead if role != "draft"]
    of_draft = [stretch for role, stretch in ahead if role == "draft"]
    return [
        ("target", [*_stretches(verdict, target), *of_target]),
        ("draft", [*_stretches(verdict, draft), *of_draft]),
    ]


def extent(verdict: Verdict) -> float:
    """Return the seconds that the axis covers."""
    origin = _origin(verdict)
    ends = [view.started + view.seconds - origin for view in verdict.phases if view.phase != "serving"]
    ahead = [stretch.end for _, stretch in upcoming(verdict)]
    reached = max([*ends, *ahead, sum(seconds for _, seconds in verdict.ghosts), 1.0])
    if _serves(verdict):
        return reached / (1 - _SERVING_SHOWN)
    if verdict.state in _ENDED or all(view.ended for view in verdict.phases):
        return reached
    step = next((step for step in _STEPS if step * _TICKS > reached), _STEPS[-1])
    return (reached // step + 1) * step


def ghosts(verdict: Verdict) -> list[Stretch]:
    """Return the phases of the earlier start one after the other, as they would lie if this one went the same way."""
    found, at = [], 0.0
    for key, seconds in verdict.ghosts:
        found.append(Stretch(at, at + seconds, key.replace("/", " "), short_duration(seconds), "ghost"))
        at += seconds
    return found


def to_come(verdict: Verdict) -> list[tuple[str, float]]:
    """Return the phases of the earlier start that this one has not begun, in their order; none once it is over."""
    if verdict.state not in _GOING or not verdict.phases:
        return []
    begun = {_key(view) for view in verdict.phases}
    return [(key, seconds) for key, seconds in verdict.ghosts if key not in begun and key != "serving"]


def upcoming(verdict: Verdict) -> list[tuple[str, Stretch]]:
    """Return what is still to come, with its role, as it would lie if it took as long as in the earlier start."""
    if verdict.state not in _GOING or not verdict.phases:
        return []
    last, origin = dict(verdict.ghosts), _origin(verdict)
    running = [view for view in verdict.phases if not view.ended]
    at = max(view.started + view.seconds - origin for view in verdict.phases)
    found: list[tuple[str, Stretch]] = []
    for view in running:
        rest = view.started - origin + last.get(_key(view), 0.0)
        if rest > view.started + view.seconds - origin:
            here = view.started + view.seconds - origin
            found.append((view.role or "", Stretch(here, rest, "", "", "ghost")))
            at = max(at, rest)
    for key, seconds in to_come(verdict):
        phase, *more = key.split("/")
        role = next((word for word in more if word in ("target", "draft")), "")
        name = " ".join([phase, *(word for word in more if word != role)])
        found.append((role, Stretch(at, at + seconds, name, short_duration(seconds), "ghost")))
        at += seconds
    return found


def _key(view: PhaseView) -> str:
    return "/".join(filter(None, (view.phase, view.role or "", view.part)))


def phase_name(view: PhaseView) -> str:
    """Return a phase as it is called on the screen: "weights", "graphs decode"."""
    return f"{view.phase} {view.part}" if view.part else view.phase


def _origin(verdict: Verdict) -> float:
    started = [view.started for view in verdict.phases]
    return min([*started, verdict.since if verdict.since is not None else min(started, default=verdict.now)])


def _serves(verdict: Verdict) -> bool:
    return any(view.phase == "serving" for view in verdict.phases)


def _stretches(verdict: Verdict, views: Iterable[PhaseView]) -> list[Stretch]:
    origin, until = _origin(verdict), extent(verdict)
    found = []
    for view in views:
        begin = view.started - origin
        end = min(until, begin + view.seconds) if view.phase == "serving" else begin + view.seconds
        over = view.ended or verdict.state in _ENDED
        ink = "phase" if over else "phase-now"
        if verdict.state in ("failed", "stalled") and not view.ended:
            ink = "phase-bad"
        found.append(Stretch(begin, end, phase_name(view), short_duration(view.seconds), ink))
    return found


def _lane(name: str, stretches: list[Stretch], until: float, width: int) -> Row:
    room = width - _LABEL - 1
    row: list[Span] = [(f" {name}".ljust(_LABEL), "quiet")]
    at = 0
    for stretch in stretches:
        begin = max(at, min(room - 1, round(stretch.begin / until * room)))
        end = max(begin + 1, min(room, round(stretch.end / until * room)))
        row += [(" " * (begin - at), "text"), *_inside(stretch, end - begin)]
        at = end
        if at >= room:
            break
    return (*row, ("╌" * (room - at), "faint"))


def _inside(stretch: Stretch, room: int) -> Row:
    """What fits into a stretch: name and duration, else the name, else its beginning."""
    for text in (f"{stretch.name} {stretch.took}", stretch.name, shorten(stretch.name, room - 2) if room > 5 else ""):
        if len(text) + 2 <= room:
            break
    if stretch.ink == "ghost" and not stretch.name:
        return (("─" * room, "ghost"),)
    if stretch.ink == "ghost":
        return ((f"└{text}".ljust(room, "─"), "ghost"),)
    edge = ("▏", "phase-edge") if stretch.ink == "phase" else (" ", stretch.ink)
    return (edge, (text.ljust(room - 1), stretch.ink))


def _spoken(picture: Picture, width: int) -> Row:
    """All phases in words, so that those too short for their lane can be read too; the oldest give way."""
    spans = [_word(picture, view) for view in picture.verdict.phases]
    row = joined(spans, " › ")
    cut = False
    while len(spans) > 1 and width_of(row) > width - 4:
        spans, cut = spans[1:], True
        row = joined(spans, " › ")
    return clip((("… › ", "faint"), *row) if cut else row, max(0, width))


def _word(picture: Picture, view: PhaseView) -> Span:
    role = f"{view.role} " if view.role is not None and picture.has_draft else ""
    text = f"{role}{phase_name(view)} {duration(view.seconds)}"
    expected = picture.verdict.ranks_expected
    if not view.ended and view.ranks_done and expected is not None and expected > 1:
        text += f" ({view.ranks_done} of {expected} ranks)"
    return text, "quiet" if view.ended else "text"


def _axis(until: float, width: int) -> Row:
    room = width - _LABEL - 1
    most = max(1, room // _TICK_ROOM)
    step = next((step for step in _STEPS if until / step <= most), _STEPS[-1])
    line = ""
    for number in range(int(until // step) + 1):
        at = round(number * step / until * room)
        label = f"{'├' if number else '└'} {duration(number * step)}" if number else "0"
        if at >= len(line) and at + len(label) <= room:
            line = line.ljust(at) + label.replace("├ ", "╵")
    return ((" " * _LABEL, "text"), (line, "quiet"))
