"""Which processes hold memory of a GPU, as the driver knows them; or why nobody can tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from bringup.core.errors import ChannelRefused
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Completed, Host
from bringup.hosts.control.processes import list_processes, script

ANSWER = 10.0
"""Seconds for nvidia-smi to answer."""
_ABSENT = 127
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Holders:
    """What nvidia-smi answered."""

    held: Mapping[int, int | None] = field(default_factory=dict)
    """MiB by PID; None where the driver does not say how much."""
    unasked: str = ""
    """Why nobody can tell, as the rest of a sentence; "" where it answered, or where there is no GPU."""
    answered: bool = False
    """It answered; else there is no GPU to ask about, or `unasked` says why not."""


async def gpu_holders(host: Host) -> Holders:
    """Ask for the processes that hold GPU memory; a driver that hangs or refuses is told, not raised."""
    try:
        done = await host.run(script("gpu_holders.sh"), timeout=ANSWER, limit=1 << 16)
    except ChannelRefused as refused:
        if refused.reason == "timeout":
            return Holders(unasked=f"nvidia-smi did not answer within {ANSWER:.0f} s")
        raise
    if done.status == _ABSENT:
        return Holders()
    if done.status != 0:
        return Holders(unasked=_refusal(done))
    held: dict[int, int | None] = {}
    for line in done.stdout.decode("ascii", "replace").splitlines():
        pid, _, used = (part.strip() for part in line.partition(","))
        if pid.isdigit():
            sum_of = held.get(int(pid), 0)
            held[int(pid)] = sum_of + int(used) if used.isdigit() and sum_of is not None else None
    return Holders(held, answered=True)


async def still_held(host: Host, ended: Collection[int]) -> Holders:
    """Ask for the memory that the driver has not taken back of processes that have ended.

    A PID that is running again is another process by now, and what that holds is its own.
    """
    gpus = await gpu_holders(host)
    pids = sorted(gpus.held.keys() & set(ended))
    rows = await list_processes(host, pids) if pids else {}
    held = {pid: gpus.held[pid] for pid in pids if pid not in rows or rows[pid].ended}
    return replace(gpus, held=held)


def _refusal(done: Completed) -> str:
    """Return its own words; nvidia-smi complains on the standard output."""
    said = clean_text((done.stderr or done.stdout).decode("utf-8", "replace")).split("\n")
    words = next((line.strip().rstrip(".") for line in said if line.strip()), "it said nothing")
    return f"nvidia-smi failed with exit status {done.status}: {words[:_LONGEST]}"
