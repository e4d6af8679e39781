"""`bringup replay FILE`: a recorded start in the console, or judged again with one line for each change."""

from __future__ import annotations

import os
import re
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import Theme, file_names
from bringup.cli.own_files import complain, tell_broken
from bringup.core.errors import UsageError

if TYPE_CHECKING:
    from bringup.hosts.logfile import LogFile
    from bringup.hosts.recording import Recording
    from bringup.session.knowledge import Knowledge

STDIN = "-"
SLOWEST, FASTEST = 0.01, 1000.0
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?")
_DAY = 86_400.0


def replay(
    file: Annotated[str, Parameter(allow_leading_hyphen=True, show_default=False, completer=file_names)] = "",
    /,
    *,
    speed: Annotated[float | None, Parameter(show_default=False)] = None,
    at: Annotated[str | None, Parameter(show_default=False)] = None,
    theme: Annotated[Theme, Parameter(show_default=False)] = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False)] = False,
) -> int:
    """Watch a recorded start again in the console; without a terminal, one line for each change of the verdict.

    Parameters
    ----------
    file
        The recording, plain or packed; `-` for standard input, which is never shown in the console.
    speed
        How many times faster than life the console plays it; + and - change it. 1 where nothing is said.
    at
        Where it begins: a time of day on the recorded host, 12:03:10, or seconds since the begin, +90 or +1m30s.
    theme
        Colours: dark, light, ansi (the terminal's own 16), or any theme of Textual; else what the terminal suggests.
    as_json
        Print each verdict as one line of JSON, schema version 1, with its time `t` in seconds since the start.
    """
    # The rules take a moment to compile: `--help` must not wait for them.
    from bringup.hosts.recording import read_recording
    from bringup.report.own_rules import load_rules
    from bringup.report.replaying import command_reader

    if speed is not None and not SLOWEST <= speed <= FASTEST:
        hint = f"Give --speed a number from {SLOWEST:g} to {FASTEST:g}; 1 is life."
        raise UsageError(f"A recording cannot be played at a speed of {speed:g}.", hint)
    on_screen = not as_json and file not in ("", STDIN) and _has_terminal()
    unheard = [name for name, value in (("--speed", speed), ("--theme", theme)) if value is not None]
    if unheard and not on_screen:
        complain(f"{' and '.join(unheard)}: for the console only. Every change is printed as soon as it is read.")
    with _source(file) as source:
        rules = load_rules()
        knowledge = rules.knowledge
        recording = read_recording(source, command_reader(knowledge))
    tell_broken(rules)
    if recording.trouble:
        complain(recording.trouble)
    if on_screen:
        return _show(recording, knowledge, Path(file).name, speed or 1.0, _begin(at, recording), theme or "")
    return _tell(recording, knowledge, _begin(at, recording), as_json=as_json)


def _tell(recording: Recording, knowledge: Knowledge, begin: float, *, as_json: bool) -> int:
    from bringup.cli.output import emit
    from bringup.report.replaying import changes, moments, to_json, to_text

    for moment in changes(moment for moment in moments(recording, knowledge) if moment.t >= begin):
        emit(to_json(moment, recording) if as_json else to_text(moment))
    return 0


def _show(recording: Recording, knowledge: Knowledge, name: str, speed: float, begin: float, theme: str) -> int:
    from bringup.cli.console import refuse_unknown_theme
    from bringup.session.frames import Frames
    from bringup.session.replay import Replay
    from bringup.ui.replay import ReplayApp
    from bringup.ui.terminal import theme_for

    refuse_unknown_theme(theme)

    def read() -> Replay:
        return Replay(Frames(recording, knowledge), speed=speed, at=begin)

    app = ReplayApp(read, title=name, theme=theme_for(os.environ, theme))
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0


def _begin(at: str | None, recording: Recording) -> float:
    """Return the second of the recording at which it begins; raises UsageError where there is none such."""
    from bringup.config.durations import read_duration

    if at is None:
        return 0.0
    hint = "Give --at a time of day such as 12:03:10, or seconds since the begin such as +90."
    clock = _CLOCK.fullmatch(at)
    if clock is None:
        try:
            seconds = read_duration(at.removeprefix("+")) if at.startswith("+") else None
        except ValueError:
            seconds = None
        if seconds is None:
            raise UsageError(f"There is no moment {at!r}.", hint)
        return _within(float(seconds), at, recording)
    if not recording.wall:
        raise UsageError("This recording does not tell at what time of day it was made.", hint)
    hours, minutes, rest = (float(part or 0) for part in clock.groups())
    began = (recording.wall + _utc_offset(recording)) % _DAY
    return _within((hours * 3600 + minutes * 60 + rest - began) % _DAY, at, recording)


def _within(seconds: float, at: str, recording: Recording) -> float:
    if seconds <= recording.end:
        return seconds
    from bringup.core.words import duration
    from bringup.ui.paint.measures import clock

    offset = _utc_offset(recording)
    span = f"It lasts {duration(recording.end)}"
    if recording.wall:
        begin, end = (clock(recording.wall + t, offset) for t in (0.0, recording.end))
        span += f", from {begin} to {end} on the recorded host's clock"
    raise UsageError(f"{at} is not in this recording.", f"{span}.")


def _utc_offset(recording: Recording) -> float:
    from bringup.core.events import HostSeen

    return next((item.utc_offset for _, item in recording.items if isinstance(item, HostSeen)), 0.0)


def _has_terminal() -> bool:
    from bringup.ui.terminal import why_not

    streams = (sys.stdin, sys.stdout, sys.__stderr__)
    return not why_not(os.environ, is_tty=all(stream is not None and stream.isatty() for stream in streams))


def _source(file: str) -> AbstractContextManager[LogFile]:
    from bringup.hosts.logfile import open_log, read_log

    if file.startswith("-") and file != STDIN:
        raise UsageError(f"Unknown option: {file}.", "`bringup replay --help` lists them; write a file as ./-name.")
    if file not in ("", STDIN):
        return open_log(Path(file))
    if sys.stdin is None or (not file and sys.stdin.isatty()):
        raise UsageError("There is no recording to play.", "Try `bringup replay FILE`, or `... | bringup replay -`.")
    return nullcontext(read_log("standard input", sys.stdin.buffer))
