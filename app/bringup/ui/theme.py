"""The colours: three themes, and the inks that the painters name.

A painter never names a colour. It names an ink ("quiet", "proven", "bad"); an ink names theme variables; a theme gives
them values. With a theme that does not know ours, Textual's own colours stand in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme


@dataclass(frozen=True, slots=True)
class Ink:
    """How one kind of text is drawn: names of theme variables, and attributes that work without colour."""

    front: str = "ink-text"
    back: str = ""
    bold: bool = False
    underline: bool = False
    faded: bool = False
    """Dimmed by attribute where the terminal's own palette is used: there is no grey to rely on."""
    swapped: bool = False
    """Front and back exchanged there, for the same reason."""


INKS: dict[str, Ink] = {
    "text": Ink(),
    "strong": Ink(bold=True),
    "quiet": Ink("ink-quiet", faded=True),
    "faint": Ink("ink-faint", faded=True),
    "title": Ink("ink-text", bold=True),
    "focus": Ink("ink-work", bold=True),
    "work": Ink("ink-work", bold=True),
    "ok": Ink("ink-ok", bold=True),
    "slow": Ink("ink-slow", bold=True),
    "bad": Ink("ink-bad", bold=True),
    "off": Ink("ink-quiet", bold=True),
    "proven": Ink("ink-proven"),
    "proven-done": Ink("ink-proven-done"),
    "observed": Ink("ink-observed"),
    "opened": Ink("ink-opened"),
    "grown": Ink("ink-memory"),
    "inferred": Ink("ink-inferred", faded=True),
    "track": Ink("ink-faint", faded=True),
    "late": Ink("ink-slow"),
    "broken": Ink("ink-bad"),
    "mem-own": Ink("ink-memory"),
    "mem-other": Ink("ink-slow"),
    "mem-orphan": Ink("ink-bad"),
    "mem-rest": Ink("ink-quiet", faded=True),
    "spark": Ink("ink-memory", faded=True),
    "phase": Ink("ink-text", "back-phase", swapped=True),
    "phase-edge": Ink("background", "back-phase", swapped=True),
    "phase-now": Ink("ink-on-work", "ink-work", bold=True),
    "phase-bad": Ink("ink-on-work", "ink-bad", bold=True),
    "ghost": Ink("ink-quiet", faded=True),
    "here": Ink("ink-text", "back-here", bold=True, swapped=True),
    "match": Ink("ink-on-match", "back-match", swapped=True),
    "match-now": Ink("ink-on-work", "ink-slow", bold=True, swapped=True),
    "log-warn": Ink("ink-slow"),
    "log-error": Ink("ink-bad"),
    "key": Ink("ink-work", bold=True),
    "notice": Ink("ink-on-work", "ink-slow", bold=True),
    "notice-bad": Ink("ink-on-work", "ink-bad", bold=True),
    "notice-work": Ink("ink-on-work", "ink-work", bold=True),
}
"""By name; a name that is missing is an error of ours and fails loudly."""

_DARK = {
    "ink-text": "#cdd3dc",
    "ink-quiet": "#8792a2",
    "ink-faint": "#3b4452",
    "ink-work": "#7fb2ea",
    "ink-ok": "#8fc987",
    "ink-slow": "#e6b866",
    "ink-bad": "#f0857a",
    "ink-proven": "#7fb2ea",
    "ink-proven-done": "#4a6d94",
    "ink-observed": "#6fa5b8",
    "ink-opened": "#5b8494",
    "ink-inferred": "#6c7686",
    "ink-memory": "#8f83bd",
    "ink-on-work": "#0e1217",
    "ink-on-match": "#0e1217",
    "back-match": "#b9a468",
    "back-phase": "#2f3b4b",
    "back-here": "#232c38",
    "footer-key-foreground": "#7fb2ea",
    "block-cursor-background": "#7fb2ea",
    "block-cursor-foreground": "#0e1217",
}
_LIGHT = {
    "ink-text": "#2a3038",
    "ink-quiet": "#636b76",
    "ink-faint": "#c6c8c4",
    "ink-work": "#1f63a8",
    "ink-ok": "#2f7331",
    "ink-slow": "#8f5c00",
    "ink-bad": "#b02a20",
    "ink-proven": "#2f74b8",
    "ink-proven-done": "#9dbcdc",
    "ink-observed": "#3c7f93",
    "ink-opened": "#7aa7b5",
    "ink-inferred": "#8b929b",
    "ink-memory": "#6d5cae",
    "ink-on-work": "#ffffff",
    "ink-on-match": "#2a3038",
    "back-match": "#f2dd9c",
    "back-phase": "#dfe5ec",
    "back-here": "#e6ebf1",
    "footer-key-foreground": "#1f63a8",
    "block-cursor-background": "#1f63a8",
    "block-cursor-foreground": "#ffffff",
}
_ANSI = {
    "ink-text": "ansi_default",
    "ink-quiet": "ansi_default",
    "ink-faint": "ansi_default",
    "ink-work": "ansi_cyan",
    "ink-ok": "ansi_green",
    "ink-slow": "ansi_yellow",
    "ink-bad": "ansi_red",
    "ink-proven": "ansi_cyan",
    "ink-proven-done": "ansi_blue",
    "ink-observed": "ansi_blue",
    "ink-opened": "ansi_blue",
    "ink-inferred": "ansi_default",
    "ink-memory": "ansi_magenta",
    "ink-on-work": "ansi_black",
    "ink-on-match": "ansi_default",
    "back-match": "ansi_default",
    "back-phase": "ansi_default",
    "back-here": "ansi_default",
}

DARK = Theme(
    "bringup-dark",
    primary="#7fb2ea",
    secondary="#6fa5b8",
    accent="#7fb2ea",
    warning="#e6b866",
    error="#f0857a",
    success="#8fc987",
    foreground="#cdd3dc",
    background="#0e1217",
    surface="#161c24",
    panel="#1d2530",
    variables=_DARK,
)
LIGHT = Theme(
    "bringup-light",
    primary="#1f63a8",
    secondary="#3c7f93",
    accent="#1f63a8",
    warning="#8f5c00",
    error="#b02a20",
    success="#2f7331",
    foreground="#2a3038",
    background="#fbfaf7",
    surface="#f1f0ec",
    panel="#e8e7e2",
    dark=False,
    variables=_LIGHT,
)
ANSI = Theme(
    "bringup-ansi",
    primary="ansi_cyan",
    secondary="ansi_blue",
    accent="ansi_cyan",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    ansi=True,
    variables={**BUILTIN_THEMES["ansi-dark"].variables, **_ANSI},
)
THEMES = (DARK, LIGHT, ANSI)
NAMES = frozenset({*BUILTIN_THEMES, *(theme.name for theme in THEMES)})
"""What a theme may be called: ours and Textual's."""


def stand_ins(theme: Theme | None) -> dict[str, str]:
    """Return values for our variables under a theme that is not ours."""
    if theme is not None and theme.ansi:
        return dict(_ANSI)
    return dict(_LIGHT if theme is not None and not theme.dark else _DARK)


def styles(variables: Mapping[str, str], *, ansi: bool) -> dict[str, Style]:
    """Return the style of every ink, from the values of the theme's variables."""
    return {name: _style(ink, variables, ansi) for name, ink in INKS.items()}


def _style(ink: Ink, variables: Mapping[str, str], ansi: bool) -> Style:
    front = Color.parse(variables[ink.front]).rich_color
    back = Color.parse(variables[ink.back]).rich_color if ink.back and not (ansi and ink.swapped) else None
    return Style(
        color=front,
        bgcolor=back,
        bold=ink.bold or None,
        underline=ink.underline or None,
        dim=(ink.faded and ansi) or None,
        reverse=(ink.swapped and ansi) or None,
    )
