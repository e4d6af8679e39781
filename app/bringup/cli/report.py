"""`bringup report FILE|HOST -o FILE`: one page of a start, for a ticket."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.own_files import complain, tell_broken
from bringup.core.errors import ConnectionLost, UsageError

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.core.state import State
    from bringup.hosts.logfile import LogFile
    from bringup.report.account import Account
    from bringup.report.saving import Form
    from bringup.session.headless import Headless, Look
    from bringup.session.series import Series

STDIN = "-"
_LONGEST = 3600.0
_GPUS = 8.0
"""Seconds for which an answer of nvidia-smi is waited for: it takes seconds where many GPUs are busy."""


def report(
    what: Annotated[str, Parameter(allow_leading_hyphen=True)] = "",
    /,
    *,
    output: Annotated[str, Parameter(name=("--output", "-o"))] = "",
    seconds: float = 0.0,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
) -> int:
    """Write one page about a start: verdict, cause, timeline, ranks and GPU memory over time, environment.

    It needs nothing beside itself, holds no script, and its secrets are masked. Exit codes: 0 done, 1 it could not be
    written, 2 wrong command line, configuration or input, 4 the host cannot be reached.

    Parameters
    ----------
    what
        A log or a recording, plain or packed; `-` for standard input. Else a target of the configuration, or
        whatever `ssh HOST` takes.
    output
        The file to write: a page (.html), text for a ticket (.md), or a picture (.svg).
    seconds
        Watch a host for so long, to draw what moves; by default no longer than one look takes.
    log
        On a host: read this log instead of the one the server was found to write.
    port
        On a host: the server on this port.
    pid
        On a host: the server with this process ID.
    """
    path, form = _place(output)
    if not 0 <= seconds <= _LONGEST:
        raise UsageError(f"A host cannot be watched for {seconds:g} s.", f"Give --seconds 0 to {_LONGEST:g}.")
    if _is_file(what):
        if log is not None or port is not None or pid is not None or seconds:
            raise UsageError(f"{what} is a file: --seconds, --log, --port and --pid are about a host.")
        return _write(_of_file(what), form, path)
    return _write(_of_host(what, log, port, pid, seconds), form, path)


def _place(output: str) -> tuple[Path, Form]:
    from bringup.report.saving import check_place, form_of

    if not output:
        raise UsageError("Where the report should go is not said.", "Give -o a name that ends in .html, .md or .svg.")
    path = Path(output)
    form = form_of(path)
    check_place(path)
    return path, form


def _is_file(what: str) -> bool:
    """Say whether a file is meant: a target of the configuration wins over one, and it over a host."""
    from bringup.cli.targets import configuration

    if what == STDIN:
        return True
    if what.startswith("-"):
        raise UsageError(f"Unknown option: {what}.", "`bringup report --help` lists them; write a file as ./-name.")
    if not what:
        raise UsageError(
            "What the report is about is not said.", "Try `bringup report FILE -o report.html`, or a HOST."
        )
    if "/" in what:
        return True
    config = configuration()
    if config is not None and what in config.targets:
        return False
    return Path(what).exists() or Path(what).suffix in (".log", ".gz", ".zst", ".jsonl", ".bringup", ".txt", ".out")


def _of_file(what: str) -> Account:
    from bringup.hosts.recording import read_recording
    from bringup.report.accounts import of_log, of_recording
    from bringup.report.own_rules import load_rules
    from bringup.report.replaying import command_reader
    from bringup.report.sources import Begun, is_recording

    with _source(what) as source:
        rules = load_rules()
        tell_broken(rules)
        begun = Begun(source)
        if is_recording(begun.head()):
            recording = read_recording(begun, command_reader(rules.knowledge))
            return of_recording(recording, rules.knowledge, begun.name)
        return of_log(begun, rules.knowledge)


def _source(file: str) -> AbstractContextManager[LogFile]:
    from bringup.hosts.logfile import open_log, read_log

    if file != STDIN:
        return open_log(Path(file))
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("Nothing comes on standard input.", "Try `... | bringup report - -o report.html`.")
    return nullcontext(read_log("standard input", sys.stdin.buffer))


def _of_host(name: str, log: str | None, port: int | None, pid: int | None, seconds: float) -> Account:
    from bringup.cli.targets import choose, configuration

    chosen = choose(name, log=log, port=port, pid=pid, config=configuration())
    return asyncio.run(_watch(chosen, seconds))


async def _watch(chosen: Chosen, seconds: float) -> Account:
    from bringup.cli.headless import connected
    from bringup.report.accounts import of_host
    from bringup.session.series import Series

    series = Series()
    async with connected(chosen) as (session, headless):
        look = await _last_look(headless, series, seconds)
        lines = session.take_lines()
    return of_host(chosen.target.name, look.state, look.verdict, series.points, lines)


async def _last_look(headless: Headless, series: Series, seconds: float) -> Look:
    """Look until a look can be relied on and the time is over; raises ConnectionLost when there is none before."""
    looks = headless.looks()
    known: Look | None = None
    try:
        async for look in looks:
            if look.state.link.status == "lost":
                if known is not None:
                    return known
                raise ConnectionLost(look.state.link.why or "The connection was lost.", "Nothing can be said now.")
            series.add(look.state, look.verdict)
            known = look if look.settled else known
            if known is not None and look.elapsed >= seconds and (_has_gpus(look.state) or look.elapsed >= _GPUS):
                return known
    finally:
        await looks.aclose()
    raise AssertionError("looks never end by themselves")


def _has_gpus(state: State) -> bool:
    """The GPUs have told their memory, or it is known that they will not, or there is nobody who uses them."""
    return state.gpu.seen_at is not None or state.server is None or "gpus" in dict(state.closed)


def _write(account: Account, form: Form, path: Path) -> int:
    from bringup.cli.output import emit
    from bringup.report.harmless import harmless
    from bringup.report.maker import program
    from bringup.report.saving import write

    if account.trouble:
        complain(account.trouble)
    write(form(replace(account, maker=program())), path)
    emit(f"{account.verdict.state}: {harmless(account.verdict.summary)}\nThe report is in {path}.\n")
    return 0
