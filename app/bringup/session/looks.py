"""What is looked at once or twice a launch: the engine's version, and the files of its models."""

from __future__ import annotations

import asyncio
from typing import Protocol

from bringup.core.checkpoints import files_are_complete, load_began
from bringup.core.errors import ChannelRefused
from bringup.core.events import CheckpointSeen, Role, Server, VersionSeen
from bringup.hosts.base import Host
from bringup.hosts.checkpoint import look
from bringup.hosts.readiness.installed import installed_version
from bringup.session.clock import HostClock
from bringup.session.picture import Picture

CHANNEL = "checkpoints"
VERSION_WAITS = (0.0, 10.0, 30.0)
"""Seconds before each look for the version: an interpreter that has just been started has mapped nothing yet."""
EVERY = 1.0
"""Seconds between two looks, at what is known here already, whether the files are worth a second look."""


class Telling(Protocol):
    """Where what was seen goes."""

    @property
    def picture(self) -> Picture:
        """The state."""
        ...

    @property
    def clock(self) -> HostClock:
        """The host's clock."""
        ...

    def open(self, channel: str) -> None:
        """Say that a channel works."""
        ...

    def close(self, channel: str, why: str) -> None:
        """Say that a channel cannot be had."""
        ...


class Looks:
    """Looks at what lies on the host of one server; nothing else waits for it."""

    def __init__(self, host: Host, server: Server, channels: Telling) -> None:
        self._host = host
        self._server = server
        self._channels = channels

    async def run(self) -> None:
        """Look until there is nothing more to see; raises ConnectionLost when the connection ends."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._find_version(), name="version")
            group.create_task(self._watch_files("target"), name="target files")
            group.create_task(self._watch_files("draft"), name="draft files")

    async def _find_version(self) -> None:
        for wait in VERSION_WAITS:
            await asyncio.sleep(wait)
            if self._channels.picture.state.attempt.version is not None or not self._server.engine:
                return
            try:
                version = await installed_version(self._host, self._server.pid, self._server.engine)
            except ChannelRefused:
                continue  # it is asked once more, and is of use only where the log does not tell it
            if version is not None:
                self._channels.picture.apply([VersionSeen(at=self._channels.clock.now(), version=version)])
                return

    async def _watch_files(self, role: Role) -> None:
        """Look when the server is found, and again when its weights begin: a download may have gone on meanwhile."""
        looks = 0
        while True:
            settled, model = self._is_settled(role), self._model(role)
            if model and (settled or not looks):
                looks += 1
                if not await self._look(role, model) or settled:
                    return
            await asyncio.sleep(EVERY)

    def _model(self, role: Role) -> str:
        server, attempt = self._server, self._channels.picture.state.attempt
        return (
            (server.draft_model or attempt.draft_model or "")
            if role == "draft"
            else server.model or attempt.model or ""
        )

    def _is_settled(self, role: Role) -> bool:
        """No more files can come that the engine would take."""
        state = self._channels.picture.state
        known = next((checkpoint for checkpoint in state.checkpoints if checkpoint.role == role), None)
        local = known is not None and "/snapshots/" not in known.folder
        return files_are_complete(state.attempt, role) or (local and load_began(state.attempt, role))

    async def _look(self, role: Role, model: str) -> bool:
        """Look once; returns whether it is worth another: a file system that hangs is left alone."""
        channels = self._channels
        try:
            found = await look(self._host, self._server, role, model, channels.clock.now())
        except ChannelRefused as refused:
            channels.close(CHANNEL, str(refused))
            return refused.reason != "timeout"
        channels.open(CHANNEL)
        if found is not None:
            channels.picture.apply([CheckpointSeen(at=channels.clock.now(), checkpoint=found)])
        return True
