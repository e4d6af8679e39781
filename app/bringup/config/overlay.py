"""The operator's thresholds in the shape of patience.toml, which they are laid over."""

from __future__ import annotations

from typing import Any

import msgspec

from bringup.config.shapes import Config


def thresholds(config: Config) -> dict[str, Any]:
    """Return what the configuration says about thresholds, and nothing of what it does not say."""
    told = msgspec.structs.asdict(config.thresholds)
    patience = {phase: _said(msgspec.structs.asdict(shape)) for phase, shape in config.thresholds.patience.items()}
    overlay = {**_said(told), "patience": patience, "advice": dict(config.thresholds.advice)}
    return {key: value for key, value in overlay.items() if value != {}}


def _said(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}
