"""`bringup config`: where the configuration is, what it may hold, and what is wrong in it."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter


def make_config() -> App:
    """Return the command with its own commands."""
    app = App(name="config", help="Where the configuration is, what it may hold, and what is wrong in it.")
    for command in (check, path, sample):
        app.command(command)
    return app


def check(file: Annotated[str | None, Parameter(show_default=False)] = None, /) -> int:
    """Check the configuration; each mistake is told with its line and what was expected.

    Parameters
    ----------
    file
        Check this file instead of the one in use.
    """
    from bringup.cli.known import names_known
    from bringup.cli.output import emit
    from bringup.config.folder import config_file
    from bringup.config.reading import read_config
    from bringup.core.errors import UsageError

    where = Path(file).expanduser() if file is not None else config_file(os.environ)
    read = read_config(where, names_known)
    if not read.exists:
        if file is not None:
            raise UsageError(f"There is no file {where}.", "`bringup config sample` prints one to begin with.")
        emit(f"{where}: there is no configuration, and none is needed.\n")
        return 0
    if read.problems:
        emit("".join(f"{problem}\n" for problem in read.problems))
        return 2
    targets = len(read.config.targets)
    emit(f"{where}: good, with {targets} target{'' if targets == 1 else 's'}.\n")
    return 0


def path() -> int:
    """Print where the configuration is looked for; BRINGUP_CONFIG_DIR names another folder."""
    from bringup.cli.output import emit
    from bringup.config.folder import config_file

    emit(f"{config_file(os.environ)}\n")
    return 0


def sample() -> int:
    """Print a configuration that explains every key."""
    from bringup.cli.output import emit

    emit(resources.files("bringup.config").joinpath("sample.toml").read_text("utf-8"))
    return 0
