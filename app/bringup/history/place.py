"""Where the history lies: the user's data folder, or wherever the environment points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bringup.core import switches

FOLDER = "BRINGUP_DATA_DIR"
"""Environment variable that names another data folder."""
SWITCH = "BRINGUP_HISTORY"
"""Environment variable that turns the history off with "0"."""
FILE = "history.sqlite"


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the user's data; it may not exist yet."""
    elsewhere = environ.get(FOLDER, "")
    if elsewhere:
        return Path(elsewhere).expanduser()
    # It takes 10 ms to import, and most who have a folder of their own named it.
    from platformdirs import user_data_path

    return user_data_path("bringup")


def is_off(environ: Mapping[str, str]) -> bool:
    """Say whether the user wants no history."""
    return switches.is_off(environ, SWITCH)
