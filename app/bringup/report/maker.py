"""Which program made a report."""

from __future__ import annotations


def program() -> str:
    """Return the name and the version of this program."""
    # Reading the installed metadata costs 20 ms: only who asks for the version pays.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"bringup {version('bringup')}"
    except PackageNotFoundError:
        return "bringup (not installed: run from its source)"
