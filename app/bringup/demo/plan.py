"""What a simulated server does, as plain values that every process of it can read.

Standard library only: this is imported by each rank process.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

FaultKind = Literal["none", "oom", "stall", "port-in-use", "dead-draft"]
FAULTS: tuple[FaultKind, ...] = ("none", "oom", "stall", "port-in-use", "dead-draft")
VARIABLE = "BRINGUP_DEMO"
"""Environment variable with the path of the plan; a restart that repeats the environment repeats the plan."""


@dataclass(frozen=True, slots=True)
class Durations:
    """Seconds of each phase at speed 1, in the order of the start."""

    imports: float
    """Of the launcher, before it prints its arguments."""
    launch: float
    """From the exec to the first line of a rank, imports included."""
    distributed: float
    weights: float
    draft: float
    kv_cache: float
    graphs: float
    """Graphs of the target."""
    draft_graphs: float
    warmup: float
    drain: float
    """From SIGTERM to the end of a serving server."""
    traffic: float
    """Between two simulated requests while serving."""


@dataclass(frozen=True, slots=True)
class Memory:
    """GB per GPU; the KV caches get what --mem-fraction-static leaves beside the weights."""

    total: float
    context: float
    target: float
    draft: float
    draft_kv_share: float
    """Share of the KV memory that is the draft's."""
    graphs: float


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong: `kind`, on which rank, and when."""

    kind: FaultKind = "none"
    rank: int = 0
    shard: int = 0
    """stall: the rank stops itself while it reads this shard."""
    fraction: float = 0.0
    """oom: only at this --mem-fraction-static or more, so that a restart with less goes well."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One simulated server, and where its files are."""

    name: str
    speed: float
    ranks: int
    shards: int
    slow_rank: int
    slow_by: float
    """Seconds by which the slow rank ends its weights later."""
    target_class: str
    draft_class: str
    args: tuple[str, ...]
    """Arguments of the launch besides models, port and ranks."""
    durations: Durations
    memory: Memory
    fault: Fault
    state: str = ""
    """Folder in which ranks say what they hold of their GPU."""
    lifeline: str = ""
    """FIFO whose writer is the supervisor: its end means that the demo is gone."""

    def pace(self, seconds: float) -> float:
        """Return how long `seconds` of the original take here."""
        return seconds / self.speed

    def sleep(self, seconds: float) -> None:
        """Sleep as long as `seconds` of the original take here."""
        time.sleep(max(0.0, self.pace(seconds)))


def save(plan: Plan, path: Path) -> None:
    """Write a plan where the server will look for it."""
    path.write_text(json.dumps(asdict(plan), indent=1))


def read(path: str | os.PathLike[str]) -> Plan:
    """Read a plan that `save` wrote."""
    raw = json.loads(Path(path).read_text())
    return Plan(
        **raw
        | {
            "args": tuple(raw["args"]),
            "durations": Durations(**raw["durations"]),
            "memory": Memory(**raw["memory"]),
            "fault": Fault(**raw["fault"]),
        }
    )
