"""The command line: words in, a command run, its failures told as sentences. The only place that ends the process."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from bringup.core.errors import BringupError, Defect
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text

if TYPE_CHECKING:
    from cyclopts import App

INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
TRACEBACK = "BRINGUP_TRACEBACK"
"""Set to anything, this environment variable adds the traceback, masked, to the sentence about a defect."""
_FEW_COLLECTIONS = 50_000
"""Objects made between two looks for garbage: loading makes none, and looking took a tenth of the time it takes."""


def build() -> App:
    """Assemble the commands."""
    from cyclopts import Parameter

    from bringup.cli.acting import restart, stop
    from bringup.cli.commands import Commands
    from bringup.cli.completion import make_completion
    from bringup.cli.config import make_config
    from bringup.cli.demo import demo
    from bringup.cli.diagnose import diagnose
    from bringup.cli.explain import explain
    from bringup.cli.history import history
    from bringup.cli.record import record
    from bringup.cli.replay import replay
    from bringup.cli.report import report
    from bringup.cli.status import status
    from bringup.cli.wait import wait
    from bringup.cli.watch import watch

    app = Commands(
        name="bringup",
        help="Watch a multi-GPU LLM server start on another machine, one honest bar per rank.",
        version=_version,
        result_action="return_value",
    )
    for command in (watch, status, wait, stop, restart, diagnose, record, report):
        app.command(command, default_parameter=Parameter(negative="", show_default=False))
    app.command(demo)
    app.command(explain)
    app.command(replay)
    app.command(history)
    app.command(make_config())
    app.command(make_completion(build))
    return app


def _version() -> str:
    from bringup.report.maker import program

    return program()


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code: 0 done, 1 not done, 2 usage, 4 unreachable."""
    try:
        code = _run(argv)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the edge: whatever comes here is told as a sentence
        from bringup.core.defects import failure_of

        return complain(failure_of(error))
    return code if isinstance(code, int) else 0


def _run(argv: list[str]) -> object:
    if len(argv) == 2 and argv[0] == "watch" and not argv[1].startswith("-"):
        # What is typed most often has nothing to parse, and the parser costs a sixth of the time to the first frame.
        from bringup.cli.watching import open_console

        return open_console(argv[1])
    from cyclopts.exceptions import CycloptsError

    from bringup.cli.mistakes import explained

    try:
        return build()(argv, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        raise explained(error) from error


def complain(error: BringupError) -> int:
    """Say on standard error what went wrong and what to do, and return the exit code that goes with it."""
    lines = [f"bringup: {mask(clean_text(error.what))}"]
    if error.hint:
        lines.append(f"         {mask(clean_text(error.hint))}")
    if isinstance(error, Defect):
        lines += _details(error)
    from bringup.cli.output import tell

    tell("".join(f"{line}\n" for line in lines))
    return error.exit_code


def _details(error: Defect) -> list[str]:
    """Keep the report of a defect, and return where it is."""
    from bringup.cli.crash import keep, told
    from bringup.history.place import data_folder

    try:
        where = f"What led to it is kept in {keep(error, data_folder(os.environ))}"
    except OSError as trouble:
        where = f"What led to it could not be kept ({trouble.strerror or trouble})"
    lines = [f"         {clean_text(where)}; {TRACEBACK}=1 shows it here."]
    return [*lines, *told(error)] if os.environ.get(TRACEBACK) else lines


def main() -> None:
    """Run the process's own command line and exit."""
    gc.set_threshold(_FEW_COLLECTIONS)
    code = run(sys.argv[1:])
    from bringup.cli.leaving import leave

    leave(code)
