"""An engine made ready for reading: its headers and its rules, and what decides that a log is its log."""

from __future__ import annotations

from bringup.core.events import Fault
from bringup.core.headers import Headers
from bringup.core.matching import Matcher
from bringup.core.rule import Rule
from bringup.core.rules import Engine


class Dialect:
    """One engine's way to write a log."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.headers = Headers(engine.headers)
        self.matcher = Matcher(engine.rules)
        self._package = f"/{engine.package}/".encode() if engine.package else b""

    def decides(self, rule: Rule) -> bool:
        """Tell whether a line of this rule proves the engine: errors and lines that others print too do not."""
        return rule.event not in (None, Fault) and not rule.shared and rule.scope in ("rank", "main")

    def owns_frame(self, text: bytes) -> bool:
        """Tell whether a frame of a traceback lies in the engine's package."""
        return bool(self._package) and self._package in text
