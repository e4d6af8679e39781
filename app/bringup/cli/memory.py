"""Where a session's earlier starts come from, how many are kept, and where it is written down what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bringup.config.shapes import Config
    from bringup.history.actions import ActionLog
    from bringup.history.store import Store
    from bringup.session.deeds import Write
    from bringup.session.target import Target


def memory_of(target: Target, environ: Mapping[str, str]) -> Store | None:
    """Return the history for a session; None where it is turned off, and for the simulated host.

    Raises UsageError with what is wrong in the configuration.
    """
    from bringup.cli.targets import configuration
    from bringup.history.place import is_off

    if target.within is not None or is_off(environ):
        return None
    return history_of(configuration(), environ)


def history_of(config: Config | None, environ: Mapping[str, str]) -> Store:
    """Return the history, which keeps as much as the configuration says."""
    from bringup.history.place import data_folder
    from bringup.history.store import Retention, Store

    kept = Retention(config.history.keep_starts, config.history.keep_days) if config is not None else Retention()
    return Store(data_folder(environ), kept)


def ledger_of(target: Target, environ: Mapping[str, str]) -> Write | None:
    """Return what writes down what is done to servers; None where nothing is kept, and for the simulated host."""
    from bringup.history.place import is_off

    return None if target.within is not None or is_off(environ) else actions_of(environ).write


def actions_of(environ: Mapping[str, str]) -> ActionLog:
    """Return the log of what was done to servers."""
    from bringup.history.actions import ActionLog
    from bringup.history.place import data_folder

    return ActionLog(data_folder(environ))
