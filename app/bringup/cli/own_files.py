"""What is said of the user's own rule files that are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bringup.core.redact import mask
from bringup.core.sanitize import clean_text

if TYPE_CHECKING:
    from bringup.report.own_rules import Rules


def tell_broken(rules: Rules) -> None:
    """Say on standard error which of the user's own files are left out, and why."""
    for file in rules.broken:
        where = f", line {file.line}" if file.line is not None else ""
        complain(f"{file.path}{where}: {file.problem} The file is left out.")


def complain(sentence: str) -> None:
    """Say something on standard error that does not end the command."""
    from bringup.cli.output import tell

    tell(f"bringup: {mask(clean_text(sentence))}\n")
