"""Environment variables that turn something off."""

from __future__ import annotations

from collections.abc import Mapping


def is_off(environ: Mapping[str, str], switch: str) -> bool:
    """Say whether the variable `switch` is set to a word that means no."""
    return environ.get(switch, "").strip().lower() in ("0", "no", "off", "false")
