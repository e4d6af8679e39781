"""What is known before anything is seen: the engines, the wrappers, the thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.policy import Policy
from bringup.core.rules import Engine
from bringup.core.wrappers import Wrappers


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Engines, wrappers and policy as loaded from data."""

    engines: tuple[Engine, ...]
    wrappers: Wrappers
    policy: Policy
