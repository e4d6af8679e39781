"""All that the verdict rests on: the sentence, every line of evidence, and each channel with its age."""

from __future__ import annotations

from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.ui.paint.gpus import foreign
from bringup.ui.paint.measures import count, gib, size
from bringup.ui.paint.phases import phase_name
from bringup.ui.paint.row import Row, Span, clip, shorten, wrapped
from bringup.ui.paint.verdict import SIGNS, details, time_left
from bringup.ui.picture import Picture

_CHANNEL = 12


def paint_evidence(picture: Picture, width: int) -> list[Row]:
    """Return the whole account as rows of at most `width` cells; long lines are wrapped."""
    verdict = picture.verdict
    sign, ink = SIGNS[verdict.state]
    rows: list[Row] = [((f"{sign} {verdict.state.upper()}", ink),)]
    rows += [((line, "strong"),) for line in wrapped(clean_text(verdict.summary), width, 6)]
    if verdict.state in ("starting", "slow"):
        rows += [(), *_wrapped(time_left(verdict), width)]
    rows += [(), (("What it rests on", "title"),)]
    shown = [row for row in details(picture, 10_000) if row != time_left(verdict)]
    for row in shown or [(("Nothing was seen yet.", "quiet"),)]:
        rows += _wrapped(row, width)
    rows += [(), (("Channels", "title"),)]
    for name, text, ink in channels(picture):
        for number, line in enumerate(wrapped(text, width - _CHANNEL - 2, 4)):
            rows.append(((f"  {(name if number == 0 else '').ljust(_CHANNEL)}", "quiet"), (line, ink)))
    rows += [(), (("Phases", "title"),), *_phases(picture)]
    if picture.state.earlier:
        rows += [(), (("Earlier launches in this log", "title"),), *_earlier(picture)]
    return [clip(row, width) for row in rows]


def channels(picture: Picture) -> list[tuple[str, str, str]]:
    """Return (channel, what it says of itself, ink) for all of them, those that are closed too."""
    state, closed = picture.state, dict(picture.state.closed)
    link = state.link
    found = [
        ("connection", f"{link.status}{f', {clean_text(link.why)}' if link.why else ''}", _ink(link.status == "up"))
    ]
    found.append(
        _channel(picture, closed, "processes", state.sampled_at, count(len(state.processes), "process", "processes"))
    )
    log = state.log
    read = f"{size(log.size)}, {count(log.lines, 'line')}, {log.unknown:,} that no rule knows"
    told = f"{clean_text(log.path) or 'without a path'}, {read}"
    found.append(_channel(picture, closed, "log", log.grew_at, told))
    for at, how in log.moves[-3:]:
        found.append(("", f"the log was {clean_text(how)} {duration(picture.now - at)} ago", "slow"))
    found.append(_channel(picture, closed, "gpus", state.gpu.seen_at, count(len(state.gpu.gpus), "GPU")))
    for app, orphan in foreign(state)[:8]:
        whose = "an orphan" if orphan else "another process"
        title = shorten(clean_text(app.title), 40)
        held = f"{gib(app.used)} GiB" if app.used is not None else "memory"
        found.append(("", f"GPU {app.gpu}: {held} held by {whose}, PID {app.pid} {title}".rstrip(), "slow"))
    if "maps" in closed:
        found.append(("maps", f"closed: {clean_text(closed['maps'])}", "slow"))
    found.append(_http(picture, closed))
    return found


def _ink(good: bool) -> str:
    return "text" if good else "slow"


def _channel(picture: Picture, closed: dict[str, str], name: str, at: float | None, text: str) -> tuple[str, str, str]:
    if name in closed:
        return name, f"closed: {clean_text(closed[name])}", "slow"
    if at is None:
        return name, "nothing came yet", "quiet"
    return name, f"{text}, last sign {duration(max(0.0, picture.now - at))} ago", "text"


def _http(picture: Picture, closed: dict[str, str]) -> tuple[str, str, str]:
    answer = picture.state.http
    if "http" in closed:
        return "http", f"closed: {clean_text(closed['http'])}", "slow"
    if answer is None:
        return "http", "not asked yet", "quiet"
    said = f"HTTP {answer.status}" if answer.status is not None else answer.error or "no answer"
    return (
        "http",
        f"{clean_text(answer.path)} answered {said}, {duration(max(0.0, picture.now - answer.at))} ago",
        "text",
    )


def _phases(picture: Picture) -> list[Row]:
    rows: list[Row] = []
    last = dict(picture.verdict.ghosts)
    for view in picture.verdict.phases:
        name = f"{view.role} {phase_name(view)}" if view.role else phase_name(view)
        key = "/".join(filter(None, (view.phase, view.role or "", view.part)))
        before: tuple[Span, ...] = ((f"   last time {duration(last[key])}", "quiet"),) if key in last else ()
        running: tuple[Span, ...] = () if view.ended else (("  running", "work"),)
        rows.append(((f"  {name.ljust(22)}", "text"), (duration(view.seconds).rjust(12), "text"), *before, *running))
    return rows or [(("  None was seen yet.", "quiet"),)]


def _earlier(picture: Picture) -> list[Row]:
    return [
        (
            (f"  {past.number}. line {past.line:,}  ", "quiet"),
            (clean_text(past.text) or "ended without an error line", "text"),
        )
        for past in picture.state.earlier
    ]


def _wrapped(row: Row, width: int) -> list[Row]:
    """A row broken over several ones, in the ink of its longest part; its first part stays in front."""
    (head, head_ink), rest = row[0], row[1:]
    text = "".join(part for part, _ in rest)
    ink = max(rest, key=lambda span: len(span[0]))[1] if rest else head_ink
    lines = wrapped(text, max(10, width - len(head) - 2), 8)
    first: Row = ((f"  {head}{' ' if text.startswith(' ') else ''}", head_ink), (lines[0], ink))
    return [first, *(((" " * (len(head) + 2), ink), (line, ink)) for line in lines[1:])]
