"""What a host is made of: processes, GPUs, the servers that run on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bringup.core.events.base import Role


@dataclass(frozen=True, slots=True)
class Process:
    """One process as /proc shows it (proc(5)); counters are totals since its start."""

    pid: int
    ppid: int
    start: int
    """Start time in clock ticks since boot: with the PID, the identity of a process."""
    title: str
    """Command line with the arguments joined by blanks, or the title the engine set."""
    comm: str = ""
    pgid: int = 0
    sid: int = 0
    user: str = ""
    state: str = "?"
    """One letter: R running, S sleeping, D uninterruptible, T stopped, Z zombie."""
    wchan: str = ""
    threads: int = 0
    cpu_s: float = 0.0
    minflt: int = 0
    majflt: int = 0
    rchar: int = 0
    read_bytes: int = 0
    rss_kb: int = 0
    shards: tuple[str, ...] | None = None
    """Checkpoint files mapped now, full paths; None where the maps could not be read or were not sampled."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One row of nvidia-smi; MiB, percent, watts, degrees Celsius; None where the driver says N/A."""

    index: int
    uuid: str = ""
    name: str = ""
    used: int | None = None
    total: int | None = None
    utilization: int | None = None
    power: float | None = None
    power_limit: float | None = None
    temperature: int | None = None


@dataclass(frozen=True, slots=True)
class GpuApp:
    """A compute process on a GPU; `used` in MiB."""

    pid: int
    gpu: int
    used: int | None
    title: str = ""
    user: str = ""
    orphan: bool = False
    """A child of PID 1 that is not the server's."""
    since: float = 0.0
    """When it was started, epoch seconds; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class LogTarget:
    """Where a server writes one of its streams (/proc/PID/fd/1 and 2)."""

    path: str
    kind: str
    """As in LogOpened."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Launcher:
    """How a server was launched, and with it how it is stopped and started properly; commands are for a POSIX shell."""

    kind: str = ""
    """As hosts/discover/launchers.toml names it: "process", "tmux", "systemd", "docker", …; "" where nobody looked."""
    name: str = ""
    """Unit, container, pane, job step or script, where it has a name."""
    words: str = ""
    """The kind in words, with the name: "the systemd service sglang.service"."""
    detail: str = ""
    """What else was found out, as a sentence: a compose service, a restart policy, why a command is not offered."""
    stop: str = ""
    """Its own command to stop the server; "" where the processes themselves are signalled."""
    start: str = ""
    """Its own command to start it; with {command} in it, the place where a command is run that becomes the server."""
    says: str = ""
    """Prints the last words of a server that it started, of the last {since} seconds."""
    lives: str = ""
    """Tells whether what it started lives, in its own words (hosts/control/lives.sh)."""
    respawns: bool | None = False
    """It starts the server again by itself after a kill; None: nobody can tell."""
    own: str = ""
    """The part of `detail` that is about its own commands: what they need of this login, or why they are not used."""
    scope: str = ""
    """Everything in the server's control group ends with its stop command ("cgroup"); "" where only the server does."""
    parent: int | None = None
    """PID of the process that starts the server again, where one was seen."""
    above: tuple[tuple[int, int], ...] = ()
    """PID and start time of all above the server that may start it again or do more after its end, nearest first.
    Nothing that stands above a prompt (a login, a terminal) is among it: whoever sits there launched the server."""
    sentence: str = ""
    """What a stop and a restart do here, for the operator."""
    bound: str = ""
    """Why nothing can be launched here a second time, as the rest of a sentence: it would not be where it was."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server as discovery found it; `argv` may hold secrets: mask it before it is shown."""

    pid: int
    start: int
    engine: str
    argv: tuple[str, ...]
    cwd: str = ""
    user: str = ""
    logs: tuple[LogTarget, ...] = ()
    port: int | None = None
    model: str = ""
    draft_model: str = ""
    algorithm: str = ""
    tp: int = 1
    pp: int = 1
    dp: int = 1
    nnodes: int = 1
    node_rank: int = 0
    started_at: float = 0.0
    parent: str = ""
    """Title of the process above the launcher, where that is more than a shell: a supervisor or script."""
    launcher: Launcher = Launcher()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The files of one model on the watched host, as a look at its folder and the header of its first file told."""

    role: Role
    folder: str
    """Where they lie, symbolic links of the folder resolved."""
    present: tuple[str, ...] = ()
    """Names of the weight files that are there and not empty, sorted, bounded."""
    expected: tuple[str, ...] = ()
    """Names that the index, or else the numbering, asks for; empty where neither tells."""
    basis: Literal["index", "numbering", ""] = ""
    broken: tuple[str, ...] = ()
    """Names of files that cannot be weights: empty, or pointers of git-lfs."""
    architectures: tuple[str, ...] = ()
    """Of its config.json."""
    names: tuple[str, ...] = ()
    """Weight names of the safetensors headers, sorted, bounded; read for a draft model only."""
    size: int = 0
    """Bytes of all weight files."""
    filesystem: str = ""
    """Type of the file system, as mountinfo(5) calls it."""
    remote: bool = False
    """That type goes over a network."""
    model: str = ""
    """Folder or name that the server was given."""
    seen_at: float = 0.0
    """When the look was made, epoch seconds."""


@dataclass(frozen=True, slots=True)
class KernelLine:
    """A line of the kernel log that explains why a process or a GPU went away."""

    at: float
    """Epoch seconds on the host's clock; 0 where the line has no usable time."""
    kind: Literal["oom", "gpu-fault", "fault"]
    """An end by the OOM killer, an Xid of the GPU driver, a crash of a process."""
    text: str
    pid: int | None = None
