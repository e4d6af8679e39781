"""What the configuration may hold: every key with its type, its limits, and in words what is expected of it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from bringup.config.durations import FORM, read_duration


class Seconds(float):
    """A duration: a number of seconds, or text such as "10m"."""


Text = Annotated[str, Meta(min_length=1, description="text in quotes")]
Command = Annotated[str, Meta(min_length=1, pattern=r"\S", description="a shell command in quotes")]
HostName = Annotated[str, Meta(min_length=1, description='a host as ssh takes it, in quotes: "gpu-a", "root@gpu-a"')]
Hosts = Annotated[list[HostName], Meta(min_length=1, description='a list of hosts: ["node1", "node2"]')]
FilePath = Annotated[str, Meta(min_length=1, description="the path of a file on the host, in quotes")]
Port = Annotated[int, Meta(ge=1, le=65535, description="a port number from 1 to 65535")]
Pid = Annotated[int, Meta(ge=1, description="a process ID, 1 or more")]
Ranks = Annotated[int, Meta(ge=1, le=100_000, description="a number of ranks, 1 or more")]
Switch = Annotated[bool, Meta(description="true or false")]
Environment = Annotated[dict[str, str], Meta(description='names with texts: { HF_HOME = "/data/hf" }')]
Wait = Annotated[Seconds, Meta(description=f"a number of seconds, or {FORM} in quotes")]
Ratio = Annotated[float, Meta(ge=0, description="a number, 0 or more")]
Factor = Annotated[float, Meta(ge=1, description="a number, 1 or more")]
Count = Annotated[int, Meta(ge=1, description="a whole number, 1 or more")]
Words = Annotated[list[str], Meta(description="a list of texts")]
Days = Annotated[int, Meta(ge=1, description="a number of days, 1 or more")]
Mebibytes = Annotated[int, Meta(ge=1, description="a size in MiB, 1 or more")]
KeyNames = Annotated[str, Meta(min_length=1, description='keys, separated by commas: "x" or "ctrl+x,f5"')]


class Target(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """One of [targets.NAME]: a server on a host, and how it is started and stopped."""

    host: HostName | None = None
    """As ssh takes it; this machine where it is left out."""
    hosts: Hosts | None = None
    """Instead of `host`: all nodes of one start, the head node first."""
    log: FilePath | None = None
    """Where it writes, instead of what it is found to write; `launch` appends to it, or has a file of its own."""
    port: Port | None = None
    pid: Pid | None = None
    launch: Command | None = None
    """Shell command that starts the server on the host."""
    stop: Command | None = None
    """Shell command that stops it, instead of signals."""
    drain: Wait | None = None
    """Between the polite request and SIGKILL, instead of the general one."""
    patient: Wait | None = None
    """What the gentle way waits, instead of the general one."""
    cwd: FilePath | None = None
    """Folder in which `launch` and `stop` run."""
    env: Environment = {}
    """Added to the environment of `launch`."""
    read_only: Switch = False
    notify: Command | None = None
    """Run on this machine when a start of this target has ended, instead of the general one."""
    ranks: Ranks | None = None
    """How many ranks a whole start has, on all its hosts; counts where its command is not seen."""
    docker: Text | None = None
    """The container in which the server runs."""
    kube: Text | None = None
    """The pod in which it runs, NAMESPACE/POD or NAMESPACE/POD/CONTAINER."""
    slurm: Text | None = None
    """The job of Slurm that it is."""
    unit: Text | None = None
    """The systemd unit that it is."""


class PatienceShape(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """One of [thresholds.patience.PHASE]; what is left out stays as it is."""

    slow: Wait | None = None
    stalled: Wait | None = None
    compiling: Wait | None = None
    blind: Wait | None = None
    stopped: Wait | None = None
    stuck: Wait | None = None


class Thresholds(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """[thresholds]: what judgement depends on; what is left out stays as it is."""

    accept_floor: Ratio | None = None
    accept_lines: Count | None = None
    stale_after: Wait | None = None
    busy_factor: Factor | None = None
    compilers: Words | None = None
    patience: dict[str, PatienceShape] = {}
    """By phase."""
    advice: dict[str, Text] = {}
    """By kind of cause."""


class StopShape(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """[stop]: how long a stop waits; what is left out is as the engine needs it (engines/endings.toml)."""

    drain: Wait | None = None
    """Between the polite request and SIGKILL."""
    patient: Wait | None = None
    """What the gentle way waits, after which nothing is killed."""


class HistoryShape(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """[history]: how much of earlier starts is kept."""

    keep_starts: Count = 500
    """Starts kept, of all servers together."""
    keep_days: Days = 365


class RecordingShape(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """[recording]: whether every start is recorded, and how much room recordings may take."""

    always: Switch = True
    max_mib: Mebibytes = 64
    """Of one recording; it ends there."""
    total_mib: Mebibytes = 500
    """Of all that were made by themselves; the oldest are removed."""
    folder: Annotated[str, Meta(min_length=1, description="a folder of this machine, in quotes")] | None = None


class Config(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """The whole file."""

    theme: Annotated[str, Meta(min_length=1, description="the name of a theme, in quotes")] | None = None
    bell: Switch = True
    """The console rings the terminal's bell when a start has ended."""
    notification: Switch = True
    """The console shows a notification then, where the terminal can (OSC 9)."""
    notify: Command | None = None
    """Run on this machine when a start has ended, by the console and by `bringup wait`."""
    keys: dict[str, KeyNames] = {}
    """What an action's keys are instead, by the action's name."""
    thresholds: Thresholds = msgspec.field(default_factory=Thresholds)
    stop: StopShape = msgspec.field(default_factory=StopShape)
    history: HistoryShape = msgspec.field(default_factory=HistoryShape)
    recording: RecordingShape = msgspec.field(default_factory=RecordingShape)
    targets: dict[str, Target] = {}


def decode(kind: type, value: object) -> object:
    """Make what msgspec does not know by itself; raises ValueError."""
    if kind is not Seconds:
        raise NotImplementedError(kind)
    if isinstance(value, str):
        return Seconds(read_duration(value))
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return Seconds(value)
    raise ValueError("not a duration")
