"""One log that is read: what it means and what it shows."""

from __future__ import annotations

from bringup.core.decode import Decoder
from bringup.core.folding import LineFolder
from bringup.hosts.position import Position
from bringup.session.knowledge import Knowledge


class LogReader:
    """Decodes one log into events, and folds it into lines for the screen."""

    def __init__(self, knowledge: Knowledge, utc_offset: float) -> None:
        self.decoder = Decoder(knowledge.engines, knowledge.wrappers, utc_offset=utc_offset)
        self.folder = LineFolder(knowledge.engines)
        self.position: Position | None = None
        """How far it was read, where it is followed."""
