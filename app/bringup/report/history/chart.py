"""One start as a row of a chart: its phases as stretches on an axis of seconds, each with its name in it."""

from __future__ import annotations

from rich.text import Text

from bringup.core.words import duration
from bringup.history.records import PhaseRow, StartRow

_STYLES = {"launch": "blue", "distributed": "blue", "weights": "cyan", "graphs": "green", "warmup": "yellow"}
_DRAFT = "magenta"
_EDGE, _BODY, _GAP = "▕", "━", " "
_CUT = "…"


def bar(start: StartRow, until: float, width: int) -> Text:
    """Return the phases on an axis of `until` seconds and `width` columns; a start without phases is one stretch."""
    row = Text(no_wrap=True, overflow="crop")
    at = 0
    for phase in sorted(start.phases, key=lambda phase: phase.began):
        begin = max(at, min(width - 1, _column(phase.began, until, width)))
        end = max(begin + 1, min(width, _column(phase.began + phase.seconds, until, width)))
        if begin >= width:
            break
        row.append(_GAP * (begin - at))
        row.append(_stretch(phase, end - begin), _style(phase))
        at = end
    if not start.phases:
        row.append(_BODY * max(1, _column(start.seconds, until, width)), "dim")
    return row


def words(start: StartRow) -> list[str]:
    """Return the phases with their durations in words, in their order."""
    return [
        f"{name_of(phase)} {duration(phase.seconds)}{'' if phase.ended else ', not over'}" for phase in start.phases
    ]


def name_of(phase: PhaseRow) -> str:
    """Return a phase as it is called: "weights target", "graphs draft decode"."""
    return " ".join(filter(None, (phase.phase, phase.role, phase.part)))


def _column(seconds: float, until: float, width: int) -> int:
    return round(seconds / max(until, 0.001) * width)


def _stretch(phase: PhaseRow, room: int) -> str:
    """The edge, the name as far as it fits, and the rest of the stretch."""
    if room < 2:
        return _EDGE
    name = name_of(phase)
    if len(name) > room - 1:
        name = phase.phase if len(phase.phase) <= room - 1 else f"{phase.phase[: room - 2]}{_CUT}" if room > 4 else ""
    return f"{_EDGE}{name}".ljust(room, _BODY)


def _style(phase: PhaseRow) -> str:
    if not phase.ended:
        return "red"
    return _DRAFT if phase.role == "draft" else _STYLES.get(phase.phase, "cyan")
