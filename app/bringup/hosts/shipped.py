"""The shell scripts that lie beside these modules."""

from __future__ import annotations

import shlex
from importlib import resources


def read_script(name: str) -> str:
    """Return the text of a script."""
    return resources.files("bringup.hosts").joinpath(name).read_text("utf-8")


def with_arguments(name: str, *arguments: str) -> str:
    """Return a script that finds `arguments` in its positional parameters."""
    return f"set -- {shlex.join(arguments)}\n{read_script(name)}"


def grep_pattern(word: str) -> str:
    """Return a basic regular expression for a word that does not match its own text.

    The script that looks for a word in command lines has the pattern on its own command line.
    """
    quoted = "".join(
        f"[{letter}]" if letter in ".*[]$\\" else f"\\{letter}" if letter == "^" else letter for letter in word
    )
    return f"[{word[0]}]{quoted[1:]}" if word[:1].isalnum() else quoted
