"""Which of the followed logs cannot be read: the channel "log" is closed only while none of them can."""

from __future__ import annotations

from collections.abc import Iterable

from bringup.core.events import ChannelClosed, ChannelOpened
from bringup.session.clock import HostClock
from bringup.session.marks import read_again_of, unread_of
from bringup.session.picture import Picture


class LogChannel:
    """Tells of each log by itself, so that one that is well does not hide what is wrong with another."""

    def __init__(self, picture: Picture, clock: HostClock) -> None:
        self._picture = picture
        self._clock = clock
        self._followed: set[str] = set()
        self._troubles: dict[str, str] = {}
        self._marked: set[str] = set()
        """Logs of which the pane says that they cannot be read."""

    def follow(self, paths: Iterable[str]) -> None:
        """Begin anew with these logs; those that are followed no more say nothing more."""
        now = self._clock.now()
        self._picture.apply([ChannelOpened(at=now, channel=_own(path)) for path in self._troubles])
        self._followed, self._troubles = set(paths), {}

    def close(self, path: str, why: str) -> None:
        """Say why a log cannot be read now."""
        self._troubles[path] = why
        self._tell()

    def refuse(self, path: str, why: str, *, was_read: bool) -> None:
        """Say why a log may not be read any more, in the pane too: once, and where lines of it stand there."""
        if was_read and path not in self._marked:
            self._marked.add(path)
            now, offset = self._clock.now(), self._picture.state.utc_offset
            self._picture.add_lines([unread_of(path, why, now, offset)])
        self.close(path, why)

    def open(self, path: str) -> None:
        """Say that a log can be read."""
        if path in self._marked:
            self._marked.remove(path)
            now, offset = self._clock.now(), self._picture.state.utc_offset
            self._picture.add_lines([read_again_of(path, now, offset)])
        if self._troubles.pop(path, None) is not None:
            self._picture.apply([ChannelOpened(at=self._clock.now(), channel=_own(path))])
            self._tell()
        elif not self._troubles:
            self._picture.apply([ChannelOpened(at=self._clock.now(), channel="log")])

    def _tell(self) -> None:
        now = self._clock.now()
        if self._followed <= set(self._troubles):
            why = " ".join(self._troubles.values())
            told = [ChannelOpened(at=now, channel=_own(path)) for path in self._troubles]
            self._picture.apply([*told, ChannelClosed(at=now, channel="log", why=why)])
            return
        told = [ChannelOpened(at=now, channel="log")]
        partly = [ChannelClosed(at=now, channel=_own(path), why=why) for path, why in self._troubles.items()]
        self._picture.apply([*told, *partly])


def _own(path: str) -> str:
    """Return the name of the channel of one log among several."""
    return f"log {path}"
