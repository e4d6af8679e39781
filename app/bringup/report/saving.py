"""Reports as files: what a name asks for, and how one is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from bringup.core.errors import BringupError, UsageError
from bringup.report.account import Account
from bringup.report.drawing.picture import picture
from bringup.report.html.page import page
from bringup.report.markdown import markdown
from bringup.report.stems import stem, write_new

Form = Callable[[Account], str]
FORMS: Mapping[str, Form] = {".html": page, ".htm": page, ".md": markdown, ".markdown": markdown, ".svg": picture}
"""By the end of the file's name."""


def form_of(path: Path) -> Form:
    """Return what a name asks for; raises UsageError where that is nothing we can write."""
    form = FORMS.get(path.suffix.lower())
    if form is None:
        what = f"What {path.name or path} should hold cannot be told from its name."
        raise UsageError(what, "Give -o a name that ends in .html, .md or .svg.")
    return form


def check_place(path: Path) -> None:
    """Raise UsageError where no file can be written there, before any work is done for it."""
    if path.is_dir():
        raise UsageError(f"{path} is a directory.", "Give -o the name of a file in it.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}.", "Make it, or give -o another place.")


def write(text: str, path: Path) -> None:
    """Write a report where the operator wants it; raises BringupError when that cannot be done."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        what = f"The report cannot be written to {path}: {error.strerror or error}."
        raise BringupError(what, "Make room, or give -o another place.") from error


def keep(text: str, folder: Path, name: str, now: float) -> Path:
    """Write a page into a folder, readable by its owner only, under a name that nobody has taken; returns the file.

    Raises BringupError when it cannot be written.
    """
    called = stem("start", name, now)
    try:
        return write_new(text, folder, called, ".html")
    except OSError as error:
        what = f"The report cannot be written to {folder}: {error.strerror or error}."
        raise BringupError(what, "Make room, or the folder writable.") from error
