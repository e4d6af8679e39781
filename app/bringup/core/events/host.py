"""What the host, its probes, the connection and the operator's actions tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bringup.core.events.base import Event
from bringup.core.events.records import Checkpoint, Gpu, GpuApp, KernelLine, Process, Server


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSeen(Event):
    """What kind of machine answers."""

    node: str
    system: str
    """`uname -s`."""
    ticks: int = 100
    """Clock ticks per second (getconf CLK_TCK)."""
    boot: float = 0.0
    utc_offset: float = 0.0
    """Seconds east of UTC, to read stamps without a zone."""
    user: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessesSeen(Event):
    """A whole sample of the server's tree: a process that is missing from it has ended."""

    root: int
    processes: tuple[Process, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusSeen(Event):
    """One answer of nvidia-smi; `took` seconds."""

    gpus: tuple[Gpu, ...]
    apps: tuple[GpuApp, ...]
    took: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelClosed(Event):
    """A channel cannot be had: "gpus", "processes", "maps", "http", "log", "search"; `why` is a sentence."""

    channel: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelOpened(Event):
    """A channel of evidence is there, whatever was said of it before."""

    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswered(Event):
    """The answer to a readiness probe: a status, or the error that came instead."""

    path: str
    status: int | None = None
    error: Literal["", "refused", "timeout", "reset", "forbidden", "other"] = ""
    took: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSeen(Event):
    """Who listens on the server's port; `pid` None while nobody does, 0 where somebody does but who cannot be told."""

    port: int
    pid: int | None
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFound(Event):
    """Discovery chose a server to watch; `others` are those it did not choose."""

    server: Server
    others: tuple[Server, ...] = ()
    instead: bool = False
    """It is of the launch that is watched already, whose first process was taken for it until now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGone(Event):
    """The launcher of the watched server has ended; `orphans` of its tree live on."""

    pid: int
    orphans: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching(Event):
    """No server is running; `seeks` says what is looked for, in words."""

    seeks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkChanged(Event):
    """The connection to the host: "connecting", "up", "lost", "refused"."""

    status: Literal["connecting", "up", "lost", "refused"]
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionStep(Event):
    """The operator's stop or restart goes on: `step` says in words what is being done now."""

    action: Literal["stop", "restart", "launch", "clear"]
    step: str
    ended: bool = False
    failed: bool = False
    left: float | None = None
    """Seconds until the next step is taken, where there is a limit: a countdown."""
    name: str = ""
    """The step as it is written down on the host, where it is: stopping, killing, waiting, launching; or `REFUSED`."""
    detail: Mapping[str, str] = field(default_factory=dict)
    who: str = ""
    """Who does it on another console; "" for what is done on this one."""
    since: float | None = None
    """When it was begun, where that is not known from the first of its steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSeen(Event):
    """The files of one model were looked at on the host."""

    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSeen(Event):
    """The engine's version as its package on the host says, for where no log line tells it."""

    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSaid(Event):
    """The kernel log was asked after a process went without a word; `lines` are those that matter, oldest first."""

    lines: tuple[KernelLine, ...]
