"""The command line: words in, a command run, its failures told as sentences. The only place that ends the process."""

from __future__ import annotations

import os
import sys
import traceback

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from bringup.cli.demo import demo
from bringup.cli.explain import explain
from bringup.cli.mistakes import explained
from bringup.cli.watch import watch
from bringup.core.defects import failure_of
from bringup.core.errors import BringupError, Defect
from bringup.core.sanitize import clean_text

INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
TRACEBACK = "BRINGUP_TRACEBACK"
"""Set to anything, this environment variable adds the traceback to the sentence about a defect."""


def build() -> App:
    """Assemble the commands."""
    app = App(
        name="bringup",
        help="Watch a multi-GPU LLM server start on another machine, one honest bar per rank.",
        version=_version,
        result_action="return_value",
    )
    app.command(watch)
    app.command(demo)
    app.command(explain)
    return app


def _version() -> str:
    # Reading the installed metadata costs 20 ms: only who asks for the version pays.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"bringup {version('bringup')}"
    except PackageNotFoundError:
        return "bringup (not installed: run from its source)"


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code: 0 done, 1 not done, 2 usage, 4 unreachable."""
    try:
        code = build()(argv, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        return complain(explained(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the edge: whatever comes here is told as a sentence
        return complain(failure_of(error))
    return code if isinstance(code, int) else 0


def complain(error: BringupError) -> int:
    """Say on standard error what went wrong and what to do, and return the exit code that goes with it."""
    lines = [f"bringup: {clean_text(error.what)}"]
    if error.hint:
        lines.append(f"         {clean_text(error.hint)}")
    if isinstance(error, Defect) and os.environ.get(TRACEBACK):
        lines += traceback.format_exception(error)
    print("\n".join(lines), file=sys.stderr)  # noqa: T201 - this is the edge
    return error.exit_code


def main() -> None:
    """Run the process's own command line and exit."""
    sys.exit(run(sys.argv[1:]))
