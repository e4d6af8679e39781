"""What stands in the way of a start before it fails of it: GPU memory that others hold, a port that is taken.

Looked at while there is no server, and while one is young enough to need what it has not taken yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bringup.core.events import GpuApp, Phase
from bringup.core.ranks import expected_ranks
from bringup.core.state import State
from bringup.core.verdict import StateName
from bringup.core.words import names

LEAST_MIB = 1024
"""Memory of a process that is worth a warning: what stays below it is a driver's own, a desktop, a monitor."""
_UNNAMED_MIB = 4096
"""Memory without a process that is worth one: drivers, page tables and ECC take up to some hundred MiB themselves."""
_GOING = ("starting", "slow", "stalled", "failed")
_EARLY: tuple[Phase | None, ...] = (None, "launch", "download", "distributed", "weights")
_TITLE = 48
_RUNS = 6


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds GPU memory and is not of the watched server; `used` is MiB on all its GPUs."""

    pid: int
    gpus: tuple[int, ...]
    used: int | None
    orphan: bool
    title: str = ""
    user: str = ""
    since: float | None = None
    """When it was started, epoch seconds; None where that is not known."""


def own_pids(state: State) -> frozenset[int]:
    """Return the processes of the watched server, as the newest sample and its log tell."""
    own = {process.pid for process in state.processes}
    return frozenset(own | {rank.pid for rank in state.attempt.ranks if rank.pid is not None})


def is_orphan(state: State, app: GpuApp) -> bool:
    """Tell whether a process on a GPU has lost its parent: nobody will end it."""
    return app.orphan or app.pid in state.orphans


def holders(state: State) -> tuple[Holder, ...]:
    """Return who holds GPU memory beside the watched server: orphans first, then by memory."""
    own = own_pids(state)
    apps: dict[int, list[GpuApp]] = {}
    for app in state.gpu.apps:
        if app.pid not in own or is_orphan(state, app):
            apps.setdefault(app.pid, []).append(app)
    found = [_holder(state, held) for held in apps.values()]
    return tuple(sorted(found, key=lambda one: (not one.orphan, -(one.used or 0), one.gpus, one.pid)))


def preflight(state: State, name: StateName, phase: Phase | None) -> tuple[tuple[str, str], ...]:
    """Return the warnings (kind, sentence) that a start should have before it fails of what they say."""
    waiting = name == "waiting"
    if not waiting and not (name in _GOING and phase in _EARLY):
        return ()
    taken = tuple(_taken(state, waiting=waiting))
    if not waiting:
        return (*taken, *_storage(state))
    return (*_port(state), *taken, *_unnamed(state), *_storage(state))


def _holder(state: State, apps: Sequence[GpuApp]) -> Holder:
    first = apps[0]
    known = [app.used for app in apps if app.used is not None]
    return Holder(
        pid=first.pid,
        gpus=tuple(sorted({app.gpu for app in apps})),
        used=sum(known) if known else None,
        orphan=any(is_orphan(state, app) for app in apps),
        title=next((app.title for app in apps if app.title), ""),
        user=next((app.user for app in apps if app.user), ""),
        since=next((app.since for app in apps if app.since), None),
    )


def _taken(state: State, *, waiting: bool) -> Iterator[tuple[str, str]]:
    """One sentence for all orphans, and one for each other user's processes."""
    needed = _needed(state)
    large = [one for one in holders(state) if (one.used or 0) >= LEAST_MIB]
    in_the_way = [one for one in large if waiting or one.orphan or needed & set(one.gpus)]
    groups: dict[tuple[bool, str], list[Holder]] = {}
    for one in in_the_way:
        groups.setdefault((one.orphan, "" if one.orphan else one.user), []).append(one)
    for (orphan, user), group in groups.items():
        yield "gpu-memory-taken", f"{_amount(group)} held by {_who(group, user, orphan=orphan)}"


def _needed(state: State) -> set[int]:
    """GPUs that the server uses or, where its ranks are as many as the GPUs, will use."""
    gpus = {gpu.index for gpu in state.gpu.gpus}
    ranks = expected_ranks(state.attempt)
    if ranks is not None and len(ranks) >= len(gpus):
        return gpus
    return {rank.gpu for rank in state.attempt.ranks if rank.gpu is not None}


def _amount(group: Sequence[Holder]) -> str:
    gpus = sorted({gpu for one in group for gpu in one.gpus})
    return f"{gpu_names(gpus)}: {sum(one.used or 0 for one in group) / 1024:.1f} GiB are"


def _who(group: Sequence[Holder], user: str, *, orphan: bool) -> str:
    pids = in_short(sorted(one.pid for one in group))
    titles = sorted({one.title for one in group if one.title})
    what = f" ({called(titles[0])})" if len(titles) == 1 else ""
    if len(group) == 1:
        whose = "an orphan" if orphan else f"{user or 'somebody'}'s process"
        return f"{whose}, PID {pids}{what}"
    whose = "orphans" if orphan else f"processes of {user or 'somebody'}"
    return f"{len(group)} {whose}, PID {pids}{what}"


def called(title: str) -> str:
    """Return a command line as it is called in a sentence: without the folder of its program, and short."""
    program, blank, rest = title.partition(" ")
    return f"{program.rpartition('/')[2] or program}{blank}{rest}"[:_TITLE].rstrip()


def gpu_names(gpus: Sequence[int]) -> str:
    """Return GPU numbers in short: "GPU 2", "GPUs 0-7", "GPUs 0-2 and 5"; `gpus` are in order."""
    return f"GPU{'s' if len(gpus) != 1 else ''} {in_short(gpus)}"


def in_short(numbers: Sequence[int]) -> str:
    """Return numbers, which are in order, with neighbours joined: "0-3 and 6"."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return names([str(first) if first == last else f"{first}-{last}" for first, last in runs], _RUNS)


def _unnamed(state: State) -> Iterator[tuple[str, str]]:
    """Memory in use that belongs to no process which can be seen: another container's, another user's."""
    named: dict[int, int] = {}
    for app in state.gpu.apps:
        named[app.gpu] = named.get(app.gpu, 0) + (app.used or 0)
    blind = {app.gpu for app in state.gpu.apps if app.used is None}
    rest = {gpu.index: (gpu.used or 0) - named.get(gpu.index, 0) for gpu in state.gpu.gpus if gpu.index not in blind}
    large = sorted(index for index, mib in rest.items() if mib >= _UNNAMED_MIB)
    if large:
        held = sum(rest[index] for index in large) / 1024
        yield (
            "gpu-memory-taken",
            f"{gpu_names(large)}: {held:.1f} GiB are held by no process that can be seen from here",
        )


def _port(state: State) -> Iterator[tuple[str, str]]:
    if state.port_pid is None or state.port_number is None:
        return
    title = f" ({called(state.port_title)})" if state.port_title else ""
    who = f"PID {state.port_pid}{title}" if state.port_pid else "a process that cannot be seen from here"
    yield "port-conflict", f"Port {state.port_number} is taken: {who} listens on it"


def _storage(state: State) -> Iterator[tuple[str, str]]:
    """A model was found, but not what kind of disk it lies on."""
    for checkpoint in state.checkpoints:
        if checkpoint.size and not checkpoint.filesystem:
            yield "channel-missing", f"storage: the kind of disk below {checkpoint.folder} cannot be told"
