"""A job of Slurm: its nodes and its log, as `scontrol show job` tells them (scontrol(1))."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from bringup.core.errors import BringupError, Unreachable
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host

MOST_NODES = 1024
_FIELD = re.compile(r"(?:^|\s)(\w+)=(\S*)")
_HOST = re.compile(r"[\w][\w.-]{0,252}")
_MISSING = ("", "(null)", "None")


@dataclass(frozen=True, slots=True)
class Job:
    """What is needed to watch a job."""

    number: str
    state: str
    nodes: tuple[str, ...]
    """The node of the batch script first."""
    log: str
    """Where the batch script's output goes; "" where it goes nowhere."""


async def read_job(host: Host, number: str) -> Job:
    """Ask Slurm on a host about a job; raises Unreachable in its own words, or because it has no nodes (yet)."""
    done = await host.run(f"scontrol -o show job {shlex.quote(number)}", timeout=30.0)
    text = done.stdout.decode("utf-8", "replace")
    # The first of each name: what a user wrote (a comment, a command) comes later in the line.
    told = dict(reversed(_FIELD.findall(text.splitlines()[0] if text.strip() else "")))
    state = clean_text(told.get("JobState", ""))
    if done.status or not state:
        said = clean_text((done.stderr or done.stdout).decode("utf-8", "replace")).strip()[:300]
        raise Unreachable(
            f"Slurm on {host.name} does not know the job {number}: {said or 'nothing was said'}.",
            "Check the number with `squeue`; a job that ended a while ago is forgotten.",
        )
    if told.get("NodeList", "") in _MISSING:
        why = clean_text(told.get("Reason", "")) or "no reason is given"
        raise Unreachable(f"The job {number} has no nodes: it is {state} ({why}).", "Try again once it runs.")
    nodes = await _expanded(host, told["NodeList"])
    first = told.get("BatchHost", "")
    ordered = sorted(nodes, key=lambda node: node != first)
    log = told.get("StdOut", "")
    return Job(number, state, tuple(ordered), "" if log in (*_MISSING, "/dev/null") else log)


async def _expanded(host: Host, listed: str) -> list[str]:
    """Return the names in a list such as node[01-04,07]."""
    done = await host.run(f"scontrol show hostnames {shlex.quote(listed)}", timeout=30.0)
    names = done.stdout.decode("utf-8", "replace").split()
    if done.status or not names or len(names) > MOST_NODES or not all(_HOST.fullmatch(name) for name in names):
        raise BringupError(f"The nodes of the job ({clean_text(listed)[:100]}) cannot be told on {host.name}.")
    return names
