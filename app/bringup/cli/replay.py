"""`bringup replay FILE`: a recorded start judged again, one line for each change of the verdict."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.own_files import complain, tell_broken
from bringup.core.errors import UsageError

if TYPE_CHECKING:
    from bringup.hosts.logfile import LogFile

STDIN = "-"


def replay(
    file: Annotated[str, Parameter(allow_leading_hyphen=True, show_default=False)] = "",
    /,
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False)] = False,
) -> int:
    """Judge a recorded start again, as fast as it goes: one line for each change of the verdict, the last for the end.

    Parameters
    ----------
    file
        The recording, plain or packed; `-` for standard input.
    as_json
        Print each verdict as one line of JSON, schema version 1, with its time `t` in seconds since the start.
    """
    # The rules take a moment to compile: `--help` must not wait for them.
    from bringup.cli.output import emit
    from bringup.hosts.recording import read_recording
    from bringup.report.own_rules import load_rules
    from bringup.report.replaying import changes, command_reader, moments, to_json, to_text

    with _source(file) as source:
        rules = load_rules()
        knowledge = rules.knowledge
        recording = read_recording(source, command_reader(knowledge))
    tell_broken(rules)
    if recording.trouble:
        complain(recording.trouble)
    for moment in changes(moments(recording, knowledge)):
        emit(to_json(moment, recording) if as_json else to_text(moment))
    return 0


def _source(file: str) -> AbstractContextManager[LogFile]:
    from bringup.hosts.logfile import open_log, read_log

    if file.startswith("-") and file != STDIN:
        raise UsageError(f"Unknown option: {file}.", "`bringup replay --help` lists them; write a file as ./-name.")
    if file not in ("", STDIN):
        return open_log(Path(file))
    if sys.stdin is None or (not file and sys.stdin.isatty()):
        raise UsageError("There is no recording to play.", "Try `bringup replay FILE`, or `... | bringup replay -`.")
    return nullcontext(read_log("standard input", sys.stdin.buffer))
