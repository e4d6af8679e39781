"""Where the operator's own files are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

VARIABLE = "BRINGUP_CONFIG_DIR"
"""Environment variable that names another folder."""
FILE = "config.toml"


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the operator's own files: where the platform has such files, or where `environ` points."""
    elsewhere = environ.get(VARIABLE, "")
    if elsewhere:
        return Path(elsewhere).expanduser()
    from platformdirs import user_config_path

    return user_config_path("bringup")


def config_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the configuration, whether or not there is one."""
    return config_folder(environ) / FILE
