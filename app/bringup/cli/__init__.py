"""The command line: words in, a command run, its failures told as sentences. The only place that ends the process."""

from __future__ import annotations

import sys

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from bringup.cli.demo import demo
from bringup.cli.explain import explain
from bringup.cli.watch import watch
from bringup.core.errors import BringupError, UsageError

INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""


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
    from importlib.metadata import version

    return f"bringup {version('bringup')}"


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code: 0 done, 1 not done, 2 usage, 4 unreachable."""
    try:
        code = build()(argv, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        return complain(UsageError(str(error).strip(), "`bringup --help` lists the commands and their options."))
    except BringupError as error:
        return complain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def complain(error: BringupError) -> int:
    """Say on standard error what went wrong and what to do, and return the exit code that goes with it."""
    print(f"bringup: {error.what}", file=sys.stderr)  # noqa: T201 - this is the edge
    if error.hint:
        print(f"         {error.hint}", file=sys.stderr)  # noqa: T201 - this is the edge
    return error.exit_code


def main() -> None:
    """Run the process's own command line and exit."""
    sys.exit(run(sys.argv[1:]))
