"""What in a configuration does not go together, and no single key shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bringup.config.check import Mistake, suggestion
from bringup.config.shapes import Config, RecordingShape, Target
from bringup.core.events import PHASES

_TARGET = re.compile(r"[\w][\w.@+-]*")


def among_themselves(config: Config) -> Iterator[Mistake]:
    """Yield what is wrong between the keys, and with the names that the operator gives."""
    for name, target in config.targets.items():
        if not _TARGET.fullmatch(name):
            expected = "Expected a name of letters, digits, '-', '_' and '.', so that it can be typed as a host."
            yield Mistake(("targets", name), f"{name!r} is not a name for a target.", expected)
        yield from _target(name, target)
    known = [*PHASES, "default"]
    for phase in config.thresholds.patience:
        if phase not in known:
            here = ("thresholds", "patience", phase)
            yield Mistake(here, f"There is no phase {phase!r}.", suggestion(phase, known))
    yield from _recording(config.recording)


def _target(name: str, target: Target) -> Iterator[Mistake]:
    path = ("targets", name)
    if target.host is not None and target.hosts is not None:
        yield Mistake((*path, "hosts"), f"[targets.{name}] has both host and hosts.", "Expected one of them.")
    hosts = target.hosts or []
    for place, host in enumerate(hosts):
        if host in hosts[:place]:
            what = f"hosts in [targets.{name}] names {host!r} more than once."
            yield Mistake((*path, "hosts", place), what, "Expected each node once.")
    ways = [key for key in ("docker", "kube", "slurm", "unit") if getattr(target, key) is not None]
    if len(ways) > 1:
        what = f"[targets.{name}] has both {ways[0]} and {ways[1]}."
        yield Mistake((*path, ways[1]), what, "Expected one way to the server.")


def _recording(recording: RecordingShape) -> Iterator[Mistake]:
    """Whoever only says what all of them may take has said nothing about one."""
    if recording.total_mib < recording.max_mib != RecordingShape().max_mib:
        what = f"One recording may take {recording.max_mib} MiB, and all of them {recording.total_mib} MiB."
        yield Mistake(("recording", "max-mib"), what, "Expected max-mib to be at most total-mib.")
