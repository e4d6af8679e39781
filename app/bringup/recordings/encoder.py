"""What a session sees, as the rows of a recording: in order, with times since it began, secrets masked."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Event, LogMoved
from bringup.recordings.masking import Masking
from bringup.recordings.rows import is_kept, log_row, to_row


@dataclass(frozen=True, slots=True)
class LogPiece:
    """Bytes of one of the logs; `at` is when they arrived (epoch seconds), None where they were there before."""

    path: str
    data: bytes
    at: float | None


@dataclass(frozen=True, slots=True)
class LogTurn:
    """One of the logs was replaced or cut: what comes next is the beginning of another file."""

    path: str
    moved: LogMoved


Item = Event | LogPiece | LogTurn
"""What a recording is made of."""


class Encoder:
    """Makes rows; `began` is the moment (epoch seconds on the host's clock) from which they count."""

    def __init__(self, began: float) -> None:
        self.began = began
        self._last = 0.0
        self._logs: dict[str, Masking] = {}

    def rows(self, item: Item, now: float) -> list[bytes]:
        """Return the rows of what was seen at `now`; a clock that goes back does not take them along."""
        self._last = t = max(self._last, now - self.began)
        match item:
            case LogPiece(path, data, at):
                safe = self._masking(path).feed(data)
                return [log_row(t, path, safe, at)] if safe else []
            case LogTurn(path, moved):
                return [*self._rest(path, moved.at), to_row(t, moved, path)]
            case _:
                return [to_row(t, item)] if is_kept(item) and not isinstance(item, LogMoved) else []

    def lose(self) -> None:
        """Pass over what is left of the lines of all logs: some of their bytes are missing."""
        for masking in self._logs.values():
            masking.skip()

    def close(self, now: float) -> list[bytes]:
        """Return what was held back, and the moment of the end."""
        self._last = max(self._last, now - self.began)
        return [row for path in self._logs for row in self._rest(path, now)]

    def _rest(self, path: str, at: float) -> list[bytes]:
        rest = self._masking(path).close()
        return [log_row(self._last, path, rest, at)] if rest else []

    def _masking(self, path: str) -> Masking:
        return self._logs.setdefault(path, Masking())
