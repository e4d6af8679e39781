"""A job of Slurm: its nodes and its log, as `scontrol show job` tells them (scontrol(1), Slurm 22.05)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from bringup.core.errors import BringupError, Unreachable, UsageError
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host

MOST_NODES = 1024
_FIELD = re.compile(r"(?:^|\s)(\w+)=(\S*)")
_HOST = re.compile(r"[\w][\w.-]{0,252}")
_MISSING = ("", "(null)", "None")
_COMING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
_GOING = ("RUNNING", "COMPLETING", "SUSPENDED", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED")
_MOST_TASKS = 8
_LONGEST = 160

Record = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """A node of a job."""

    node: str
    job: str
    """The number that `srun --jobid` takes, which 4711_3 is not; 4711+1 is a component of a heterogeneous job."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is needed to watch a job."""

    number: str
    state: str
    places: tuple[Place, ...] = ()
    """The node of the batch script first; empty as long as it waits for its nodes."""
    log: str = ""
    """Where the batch script's output goes; "" where it goes nowhere."""
    waits: str = ""
    """For what it waits, as a sentence; "" once it has its nodes."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of its nodes."""
        return tuple(place.node for place in self.places)


async def read_job(host: Host, number: str) -> Job:
    """Ask Slurm on a host about a job.

    Raises Unreachable in its own words, or for a job that has ended, and UsageError where several tasks of an array
    could be meant.
    """
    done = await host.run(f"scontrol -o show job {shlex.quote(number)}", timeout=30.0)
    text = done.stdout.decode("utf-8", "replace")
    records = [record for line in text.splitlines() if "JobState" in (record := _record(line))]
    if done.status or not records:
        said = clean_text((done.stderr or done.stdout).decode("utf-8", "replace")).strip()[:300]
        raise Unreachable(
            f"Slurm on {host.name} does not know the job {number}: {said or 'nothing was said'}.",
            "Check the number with `squeue`; a job that ended a while ago is forgotten.",
        )
    parts = _one_task(number, records)
    waiting = next((part for part in parts if part["JobState"] in _COMING), None)
    if waiting is not None:
        return Job(number, waiting["JobState"], waits=_waits(number, waiting))
    if not any(part["JobState"] in _GOING for part in parts):
        raise _ended(number, parts[0])
    places = [place for part in parts for place in await _places(host, part)]
    log = parts[0].get("StdOut", "")
    return Job(number, parts[0]["JobState"], tuple(places), "" if log in (*_MISSING, "/dev/null") else log)


def _record(line: str) -> Record:
    """Return the fields of a job; the first of each name: what a user wrote (a comment, a command) comes later."""
    told = dict(reversed(_FIELD.findall(line)))
    if "JobState" in told:
        told["JobState"] = clean_text(told["JobState"])[:_LONGEST]
    return told


def _one_task(number: str, records: list[Record]) -> list[Record]:
    """Return what belongs together: the components of a heterogeneous job, or one task of an array.

    Of an array it is the one that runs, where there is one; raises UsageError where several do.
    """
    if "ArrayJobId" not in records[0]:
        return sorted(records, key=lambda record: int(record.get("HetJobOffset", "0") or 0))
    alive = [record for record in records if record["JobState"] in _GOING]
    if len(alive) > 1:
        tasks = sorted(f"{record['ArrayJobId']}_{record.get('ArrayTaskId', '')}" for record in alive)
        more = f" and {len(tasks) - _MOST_TASKS} more" if len(tasks) > _MOST_TASKS else ""
        named = f"{', '.join(tasks[:_MOST_TASKS])}{more}"
        raise UsageError(f"The job {number} is an array, and {len(tasks)} of its tasks run: {named}.", "Name one task.")
    coming = [record for record in records if record["JobState"] in _COMING]
    return [*alive, *coming, *records][:1]


def _waits(number: str, record: Record) -> str:
    """Return for what a job waits: "The Slurm job 4711 is pending (Resources), expected to start at …"."""
    why = clean_text(record.get("Reason", "")).replace("_", " ")[:_LONGEST]
    reason = f" ({why})" if why not in _MISSING else ""
    start = clean_text(record.get("StartTime", ""))[:_LONGEST]
    known = start not in (*_MISSING, "Unknown", "N/A")
    expected = f", and expected to start at {start.replace('T', ' ')}" if known else ""
    return f"The Slurm job {number} is {record['JobState'].lower().replace('_', ' ')}{reason}{expected}."


def _ended(number: str, record: Record) -> Unreachable:
    """Return the sentence about a job that is over, and where to read what it said."""
    code, signal = (*record.get("ExitCode", "").split(":"), "", "")[:2]
    how = f"signal {signal}" if signal not in ("", "0") else f"exit code {code}" if code else ""
    when = record.get("EndTime", "")
    at = f" at {when.replace('T', ' ')}" if when not in (*_MISSING, "Unknown") else ""
    log = record.get("StdOut", "")
    hint = f"What it wrote is in {clean_text(log)}: give --log with it, without --slurm." if log not in _MISSING else ""
    state = record["JobState"].lower().replace("_", " ")
    told = f"The Slurm job {number} is over{clean_text(at)}: {state}{f' ({clean_text(how)})' if how else ''}."
    return Unreachable(told, hint)


async def _places(host: Host, record: Record) -> list[Place]:
    """Return the nodes of a job or of a component of it, the one of the batch script first."""
    listed = record.get("NodeList", "")
    if listed in _MISSING:
        raise Unreachable(f"The job {record.get('JobId', '')} is {record['JobState']} and has no nodes.")
    first = record.get("BatchHost", "")
    nodes = sorted(await _expanded(host, listed), key=lambda node: node != first)
    leader = record.get("HetJobId", "")
    job = f"{leader}+{record.get('HetJobOffset', '0')}" if leader else record.get("JobId", "")
    return [Place(node, job) for node in nodes]


async def _expanded(host: Host, listed: str) -> list[str]:
    """Return the names in a list such as node[01-04,07]."""
    done = await host.run(f"scontrol show hostnames {shlex.quote(listed)}", timeout=30.0)
    names = done.stdout.decode("utf-8", "replace").split()
    if done.status or not names or len(names) > MOST_NODES or not all(_HOST.fullmatch(name) for name in names):
        raise BringupError(f"The nodes of the job ({clean_text(listed)[:100]}) cannot be told on {host.name}.")
    return names
