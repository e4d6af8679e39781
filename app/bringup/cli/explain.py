"""`bringup explain FILE`: what happened in a log or a recording, and the line that caused it."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import file_names
from bringup.cli.own_files import complain, tell_broken
from bringup.core.errors import UsageError

if TYPE_CHECKING:
    from bringup.core.verdict import StateName
    from bringup.hosts.logfile import LogFile
    from bringup.report.own_rules import Rules
    from bringup.report.sources import Begun

STDIN = "-"
_LONGEST_SILENCE = 1e8


def explain(
    file: Annotated[str, Parameter(allow_leading_hyphen=True, show_default=False, completer=file_names)] = "",
    /,
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False)] = False,
    silent: float = 0.0,
    exit_code: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    rules: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> int:
    """Say what happened in a log that you already have, and which line caused it.

    Parameters
    ----------
    file
        The log, plain or packed with gzip or zstd; `-` for standard input. Of a recording the end is told.
    as_json
        Print the verdict as JSON, schema version 1.
    silent
        Assume so many seconds of silence after the log's last byte.
    exit_code
        End with the state: 0 ready, 1 failed, 3 stalled, 5 degraded, 6 starting or slow, 7 waiting, 8 stopped,
        9 standby, 10 unknown. Without it 0 whenever there is a verdict.
    rules
        List the rules in use and where they come from, your own files first.
    """
    # The rules take a moment to compile: `--help` must not wait for them.
    from bringup.report.own_rules import load_rules

    loaded = load_rules()
    if rules:
        return _list(loaded, as_json=as_json)
    if not 0 <= silent <= _LONGEST_SILENCE:
        raise UsageError(f"A silence of {silent:g} s cannot be.", "Give --silent a number of seconds, 0 or more.")
    from bringup.report.sources import Begun, is_recording

    tell_broken(loaded)
    with _log(file) as log:
        begun = Begun(log)
        if is_recording(begun.head()):
            state = _explain_recording(begun, loaded, silent, as_json=as_json)
        else:
            state = _explain(begun, loaded, silent, as_json=as_json)
    from bringup.cli.exits import BY_STATE

    return BY_STATE[state] if exit_code else 0


def _log(file: str) -> AbstractContextManager[LogFile]:
    from bringup.hosts.logfile import open_log, read_log

    if file.startswith("-") and file != STDIN:
        raise UsageError(f"Unknown option: {file}.", "`bringup explain --help` lists them; write a file as ./-name.")
    if file not in ("", STDIN):
        return open_log(Path(file))
    if sys.stdin is None or (not file and sys.stdin.isatty()):
        raise UsageError("There is no log to explain.", "Try `bringup explain FILE`, or `... | bringup explain -`.")
    return nullcontext(read_log("standard input", sys.stdin.buffer))


def _explain(log: LogFile, rules: Rules, silent: float, *, as_json: bool) -> StateName:
    from bringup.cli.output import emit, emit_page
    from bringup.report.contract import to_json
    from bringup.report.explanation import explain as judge

    explanation = judge(log, rules.knowledge, silent)
    if explanation.reading.trouble:
        if not explanation.reading.size:
            raise UsageError(log.trouble, "Nothing of it could be read.")
        complain(explanation.reading.trouble)
    if as_json:
        emit(to_json(explanation.verdict))
    else:
        from bringup.report.page import page

        emit_page(lambda width: page(explanation, width))
    return explanation.verdict.state


def _explain_recording(begun: Begun, rules: Rules, silent: float, *, as_json: bool) -> StateName:
    """Tell the end of a recording: all that was recorded counts, not its log alone."""
    from bringup.cli.output import emit, emit_page
    from bringup.hosts.recording import read_recording
    from bringup.report.accounts import of_recording
    from bringup.report.contract import to_json
    from bringup.report.replaying import command_reader
    from bringup.report.status import status_page

    if silent:
        raise UsageError(f"{begun.name} is a recording, which knows its own silence.", "Leave --silent out.")
    recording = read_recording(begun, command_reader(rules.knowledge))
    account = of_recording(recording, rules.knowledge, begun.name)
    if account.trouble:
        complain(account.trouble)
    if as_json:
        emit(to_json(account.verdict, account.zone))
    else:
        emit_page(lambda width: status_page(account.verdict, account.state, account.name, width))
    return account.verdict.state


def _list(rules: Rules, *, as_json: bool) -> int:
    from bringup.cli.output import emit, emit_page
    from bringup.report.listing import listing, to_json

    if as_json:
        emit(to_json(rules))
    else:
        emit_page(lambda _: listing(rules))
    return 0
