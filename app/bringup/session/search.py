"""What is watched while no server is: who may be one, what the GPUs hold, who listens on the port that it will need."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bringup.core.errors import ChannelRefused
from bringup.core.events import Event
from bringup.hosts import probe
from bringup.hosts.base import Host
from bringup.session.server_watch import Channels
from bringup.session.target import Target

AGAIN = 5.0
"""Seconds before a stream that was refused or has ended is tried again."""
GPU_PATIENCE = 10
"""Seconds that an answer of nvidia-smi may take."""
SETTLES_IN = 6.0
"""Seconds after a change in which a candidate may still become a server: a shell that will exec it, a title to come."""


class Search:
    """A stream of the probe's search mode; calls `changed` when processes look like a server that did not before."""

    def __init__(self, target: Target, channels: Channels, changed: Callable[[], None]) -> None:
        self._target = target
        self._channels = channels
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._candidates: frozenset[int] = frozenset()
        self._moved_at = 0.0
        self._speaks = False

    @property
    def is_calm(self) -> bool:
        """It would tell of a new server by itself: rows come, and their candidates have not changed for a while."""
        return self._speaks and asyncio.get_running_loop().time() > self._moved_at + SETTLES_IN

    def begin(self, host: Host, group: asyncio.TaskGroup, *, alone: bool) -> None:
        """Begin, unless it has; where it is not `alone`, the GPUs and the port are asked by the watch of a server."""
        if self._task is None or self._task.done():
            self._task = group.create_task(self._run(host, alone), name="candidates")

    def end(self) -> None:
        """End it: a server was found."""
        if self._task is not None:
            self._task.cancel()
        self._task, self._speaks, self._candidates = None, False, frozenset()

    async def _run(self, host: Host, alone: bool) -> None:
        engines = self._channels.knowledge.engines
        script = probe.script(
            None,
            within=self._target.within,
            patterns=sorted({word for engine in engines for word in (engine.name, engine.package) if word}),
            port=self._target.port if alone else None,
            patience=GPU_PATIENCE if alone else 0,
        )
        await self._channels.logs.begun()
        while True:
            decoder = probe.ProbeDecoder()
            try:
                async with host.stream(script) as stream:
                    while data := await stream.read():
                        self._take(decoder.feed(data), decoder)
            except ChannelRefused as refused:
                if alone:
                    self._channels.close("gpus", f"{refused} It is tried again.")
            self._speaks = False
            await asyncio.sleep(AGAIN)

    def _take(self, events: list[Event], decoder: probe.ProbeDecoder) -> None:
        if decoder.now is not None:
            self._channels.clock.tell(decoder.now)
        self._channels.picture.apply(events)
        self._speaks = True
        new = decoder.candidates - self._candidates
        self._candidates = decoder.candidates
        if new:
            # Those that are gone make no server.
            self._moved_at = asyncio.get_running_loop().time()
            self._changed()
