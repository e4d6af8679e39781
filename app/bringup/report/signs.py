"""A sign and a style for every state: the word beside it says the same without colour."""

from __future__ import annotations

from collections.abc import Mapping

from bringup.core.verdict import StateName

SIGNS: Mapping[StateName, tuple[str, str]] = {
    "waiting": ("○", "bold"),
    "starting": ("◐", "bold cyan"),
    "slow": ("◔", "bold yellow"),
    "stalled": ("■", "bold red"),
    "failed": ("✕", "bold red"),
    "stopped": ("□", "bold"),
    "ready": ("●", "bold green"),
    "degraded": ("▲", "bold yellow"),
    "standby": ("◌", "bold green"),
    "unknown": ("?", "bold"),
}
"""Sign and style; colours are the terminal's own, so that they fit light and dark ones."""
