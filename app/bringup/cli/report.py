"""`bringup report FILE|HOST -o FILE`: one page of a start, for a ticket."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import file_names, targets_and_files
from bringup.cli.own_files import complain, tell_broken
from bringup.cli.sampling import Samples, states_of
from bringup.cli.which import ANY, Which
from bringup.core.errors import ConnectionLost, UsageError

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.core.state import State
    from bringup.hosts.logfile import LogFile
    from bringup.report.account import Account
    from bringup.report.saving import Form
    from bringup.session.fleet_looks import FleetHeadless
    from bringup.session.headless import Headless, Look

STDIN = "-"
_LONGEST = 3600.0
_GPUS = 8.0
"""Seconds for which an answer of nvidia-smi is waited for: it takes seconds where many GPUs are busy."""


def report(
    *what: Annotated[str, Parameter(allow_leading_hyphen=True, completer=targets_and_files)],
    output: Annotated[str, Parameter(name=("--output", "-o"), completer=file_names)] = "",
    seconds: float = 0.0,
    which: Which = ANY,
) -> int:
    """Write one page about a start: verdict, cause, timeline, ranks and GPU memory over time, environment.

    It needs nothing beside itself, holds no script, and its secrets are masked. Exit codes: 0 done, 1 it could not be
    written, 2 wrong command line, configuration or input, 4 the host cannot be reached.

    Parameters
    ----------
    what
        A log or a recording, plain or packed; `-` for standard input. Else a target of the configuration, or
        whatever `ssh HOST` takes; several are the nodes of one start, the head node first.
    output
        The file to write: a page (.html), text for a ticket (.md), or a picture (.svg).
    seconds
        Watch a host for so long, to draw what moves; by default no longer than one look takes.
    """
    path, form = _place(output)
    if not 0 <= seconds <= _LONGEST:
        raise UsageError(f"A host cannot be watched for {seconds:g} s.", f"Give --seconds 0 to {_LONGEST:g}.")
    files = [name for name in what if _is_file(name)]
    if not files:
        return _write(_of_hosts(what, which, seconds), form, path)
    given = (*which.given, *(["--seconds"] if seconds else []))
    if given:
        raise UsageError(f"{files[0]} is a file: {', '.join(given)} {'are' if len(given) > 1 else 'is'} about a host.")
    if len(what) > 1:
        raise UsageError(
            f"A report is about one file or about hosts, and {' '.join(what)} was given.", "Name one file."
        )
    return _write(_of_file(files[0]), form, path)


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

    if what in ("", STDIN):
        return what == STDIN
    if what.startswith("-"):
        raise UsageError(f"Unknown option: {what}.", "`bringup report --help` lists them; write a file as ./-name.")
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


def _of_hosts(names: Sequence[str], which: Which, seconds: float) -> Account:
    # An empty name is most likely a variable that is not set: `which` refuses it.
    if not names and not which.given:
        hint = "Try `bringup report FILE -o report.html`, or a HOST."
        raise UsageError("What the report is about is not said.", hint)
    return asyncio.run(_watch(which.chosen(names), seconds))


async def _watch(chosen: Chosen, seconds: float) -> Account:
    from bringup.cli.headless import all_connected

    samples = Samples()
    async with all_connected(chosen) as (sessions, headless):
        look = await _last_look(headless, samples, seconds)
        lines = {name: session.take_lines() for name, session in sessions}
    return samples.account(chosen.target.name, look, lines)


async def _last_look(headless: Headless | FleetHeadless, samples: Samples, seconds: float) -> Look:
    """Look until a look can be relied on and the time is over; raises ConnectionLost when there is none before."""
    looks = headless.looks()
    known: Look | None = None
    try:
        async for look in looks:
            if headless.is_lost(look):
                if known is not None:
                    return known
                raise ConnectionLost(look.state.link.why or "The connection was lost.", "Nothing can be said now.")
            samples.add(look)
            known = look if look.settled else known
            if (
                known is not None
                and look.elapsed >= seconds
                and (all(map(_has_gpus, states_of(look))) or look.elapsed >= _GPUS)
            ):
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
