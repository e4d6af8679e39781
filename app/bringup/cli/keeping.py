"""Where a session's recordings go, and whether every start is recorded: the environment's and configuration's word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bringup.recordings.place import Keeping
    from bringup.session.target import Target


def keeping_of(target: Target, environ: Mapping[str, str], *, watches: bool) -> Keeping:
    """Return what is kept of a session; `watches` says that it sees a start through, which a mere look does not.

    The simulated host is never recorded by itself. Raises UsageError with what is wrong in the configuration.
    """
    from bringup.cli.targets import configuration
    from bringup.config.shapes import RecordingShape
    from bringup.history.place import data_folder
    from bringup.recordings.place import FOLDER, MIB, Keeping, is_off

    config = configuration()
    wanted = config.recording if config is not None else RecordingShape()
    folder = Path(wanted.folder).expanduser() if wanted.folder else data_folder(environ) / FOLDER
    always = wanted.always and watches and target.within is None and not is_off(environ)
    return Keeping(folder, always, wanted.max_mib * MIB, wanted.total_mib * MIB)
