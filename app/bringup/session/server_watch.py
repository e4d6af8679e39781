"""All channels of one server: its logs, the probe of its process tree and the GPUs, and the questions to its port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from bringup.core.errors import ChannelRefused
from bringup.core.events import (
    ChannelClosed,
    Event,
    GpusSeen,
    HostSeen,
    LogTarget,
    ProcessesSeen,
    Server,
    ServerGone,
)
from bringup.hosts import probe, readiness
from bringup.hosts.base import Host
from bringup.session.clock import HostClock
from bringup.session.logs import Logs
from bringup.session.picture import Picture

ASK_AGAIN = 5.0
"""Seconds before a probe that ended is started again."""


class ServerWatch:
    """Runs until cancelled; `changed` is called when the server has ended."""

    def __init__(
        self,
        host: Host,
        server: Server,
        targets: Sequence[LogTarget],
        picture: Picture,
        clock: HostClock,
        logs: Logs,
        changed: Callable[[], None],
    ) -> None:
        self._host = host
        self._server = server
        self._targets = targets
        self._picture = picture
        self._clock = clock
        self._logs = logs
        self._changed = changed
