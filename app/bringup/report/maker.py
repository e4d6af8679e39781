"""Which program made a report, and with what."""

from __future__ import annotations


def program() -> str:
    """Return the name and the version of this program."""
    version = version_of("bringup")
    return f"bringup {version}" if version is not None else "bringup (not installed: run from its source)"


def version_of(package: str) -> str | None:
    """Return the version of an installed package; None where it is not installed."""
    # Reading the installed metadata costs 20 ms: only who asks for the version pays.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
