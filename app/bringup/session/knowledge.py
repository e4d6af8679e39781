"""What is known before anything is seen: the engines, the wrappers, the thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.policy import Policy
from bringup.core.rules import Engine
from bringup.core.titles import WORKERS
from bringup.core.wrappers import Wrappers


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Engines, wrappers and policy as loaded from data."""

    engines: tuple[Engine, ...]
    wrappers: Wrappers
    policy: Policy

    def is_engine(self, title: str) -> bool:
        """Say whether the title of a process proves it to be an engine's."""
        found = (engine.titles.classify(title) for engine in self.engines)
        return any(known is not None and known[0] in WORKERS for known in found)
