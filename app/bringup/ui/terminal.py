"""What kind of terminal this is: whether the console can run on it, and which theme suits it."""

from __future__ import annotations

from collections.abc import Mapping

_UTF8 = ("utf-8", "utf8")
OWN_THEME = "bringup-"
"""What the names of our own themes begin with."""
_LIGHT_BACKGROUNDS = ("7", "15")
"""Colour numbers that COLORFGBG gives to a light background (rxvt, Konsole and others set it)."""
_INSTEAD = "`bringup explain FILE` needs none: it prints what a log tells."


def why_not(environment: Mapping[str, str], *, is_tty: bool, encoding: str = "utf-8", instead: str = _INSTEAD) -> str:
    """Return the sentence why the console cannot run here, or an empty string when it can.

    `is_tty` says that standard input, output and error are all terminals; `encoding` is the one of the locale, as
    Python names it. In the C and POSIX locales that is UTF-8 (PEP 538, PEP 540), and terminals of today agree.
    `instead` tells what needs no terminal.
    """
    if not is_tty:
        return f"The console needs a terminal, and this is not one (a pipe or a file). {instead}"
    if environment.get("TERM", "") in ("", "dumb"):
        return f"The console needs a terminal that can move its cursor, and TERM says it cannot. {instead}"
    if encoding.lower().replace("_", "-") not in _UTF8:
        locale = f"The console is drawn in UTF-8, and the locale says that this terminal takes {encoding}."
        return f"{locale} Where it does take UTF-8, set LC_ALL=C.UTF-8. {instead}"
    return ""


def theme_for(environment: Mapping[str, str], asked: str = "") -> str:
    """Return the name of the theme to begin with: the one asked for, else what the terminal suggests."""
    if asked in ("dark", "light", "ansi"):
        return f"{OWN_THEME}{asked}"
    if asked or environment.get("TEXTUAL_THEME"):
        return asked or environment["TEXTUAL_THEME"]
    if not _has_many_colours(environment):
        return "bringup-ansi"
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return "bringup-light" if background in _LIGHT_BACKGROUNDS else "bringup-dark"


def _has_many_colours(environment: Mapping[str, str]) -> bool:
    term = environment.get("TERM", "")
    rich = environment.get("COLORTERM", "") in ("truecolor", "24bit")
    return rich or "256color" in term or "kitty" in term or "direct" in term
