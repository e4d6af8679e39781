"""What an expert would ask for when a start hangs: stacks, wait channels, nvidia-smi, memory, the kernel log.

Everything is only looked at. Each process is a question of its own, so that one whose /proc hangs costs its own answer
and no other: reading the command line of a process can wait for a lock that the process holds (mmap_lock, proc(5)).
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.shipped import read_script, with_arguments

MOST_PROCESSES = 64
PROGRAM_S = 15
"""Seconds that nvidia-smi or py-spy may take."""
TIMEOUT = 60.0
LIMIT = 1 << 20
_AT_ONCE = 4
_SEPARATOR = b"\x1e"


@dataclass(frozen=True, slots=True)
class Section:
    """One answer: what was asked and what came, made harmless for a terminal and with secrets masked."""

    title: str
    text: str


async def diagnose(host: Host, processes: Sequence[Process], program: str = "") -> tuple[Section, ...]:
    """Look at the machine and at each process; what does not answer is a section that says so.

    `program` is the server's own (its first argument): py-spy is looked for beside it, too. Raises ConnectionLost.
    """
    folder = posixpath.dirname(program) if program.startswith("/") else ""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def ask(title: str, script: str) -> tuple[Section, ...]:
        async with turns:
            return await _ask(host, title, script)

    questions = [ask("machine", with_arguments("diagnose/machine.sh", str(PROGRAM_S)))]
    questions += [ask(f"process {process.pid}", _about(process, folder)) for process in processes[:MOST_PROCESSES]]
    return tuple(section for answer in await asyncio.gather(*questions) for section in answer)


def _about(process: Process, folder: str) -> str:
    asked = with_arguments("diagnose/process.sh", str(PROGRAM_S), str(process.pid), str(process.start), folder)
    return f"{read_script('control/identify.sh')}\n{asked}"


async def _ask(host: Host, title: str, script: str) -> tuple[Section, ...]:
    try:
        done = await host.run(script, timeout=TIMEOUT, limit=LIMIT)
    except ChannelRefused as refused:
        return (Section(title, str(refused)),)
    return tuple(_section(part) for part in done.stdout.split(_SEPARATOR)[1:]) or (
        Section(title, f"No answer (status {done.status}): {_harmless(done.stderr)}"),
    )


def _section(part: bytes) -> Section:
    title, _, text = part.partition(b"\n")
    return Section(_harmless(title), _harmless(text) or "nothing")


def _harmless(data: bytes) -> str:
    lines = mask(data.decode("utf-8", "replace")).splitlines()
    return "\n".join(clean_text(line) for line in lines).strip("\n")
