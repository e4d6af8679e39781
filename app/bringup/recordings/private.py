"""Folders that only their owner can look into, whatever the umask is."""

from __future__ import annotations

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing, each with mode 0700; those that are there stay as they are.

    `Path.mkdir(parents=True)` makes the missing ones with the mode that the umask leaves. Raises OSError.
    """
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir(mode=0o700, exist_ok=True)
