"""Folders and files that only their owner can look into, whatever the umask is."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing, each with mode 0700; those that are there stay as they are.

    `Path.mkdir(parents=True)` makes the missing ones with the mode that the umask leaves. Raises OSError, which is
    NotADirectoryError where a file stands in the way.
    """
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            try:
                each.mkdir(mode=0o700, exist_ok=True)
            except FileExistsError as error:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(each)) from error


def write_private(path: Path, text: str, *, new: bool = False) -> None:
    """Write a text file with mode 0600, and its folder as `make_private` does; raises OSError.

    A link in its place is never followed; `new` raises FileExistsError where something is there already.
    """
    make_private(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_EXCL if new else os.O_TRUNC)
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
