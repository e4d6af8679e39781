"""What an expert would ask for when a start hangs: stacks, wait channels, nvidia-smi, memory, the kernel log.

Everything is only looked at. Each question is a command of its own, so that one that hangs (nvidia-smi in the driver, a
process whose memory cannot be read while it holds its lock) costs its own answer and no other.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass

from bringup.core.errors import ChannelRefused, ConnectionLost
from bringup.core.events import Process
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.shipped import read_script, with_arguments

MOST_PROCESSES = 64
PROGRAM_S = 15
"""Seconds that nvidia-smi or py-spy may take."""
TIMEOUT = 30.0
"""Seconds after which a question is given up: a program that hangs in a driver cannot be ended."""
LIMIT = 1 << 20
_AT_ONCE = 4
_SEPARATOR = b"\x1e"


@dataclass(frozen=True, slots=True)
class Section:
    """One answer: what was asked and what came, made harmless for a terminal and with secrets masked."""

    title: str
    text: str


async def diagnose(host: Host, processes: Sequence[Process], program: str = "") -> tuple[Section, ...]:
    """Look at the GPUs, at each process, and at the machine; what does not answer is a section that says so.

    `program` is the server's own (its first argument): py-spy is looked for beside it, too.
    """
    folder = posixpath.dirname(program) if program.startswith("/") else ""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def ask(title: str, script: str) -> tuple[Section, ...]:
        async with turns:
            return await _ask(host, title, script)

    questions: list[Coroutine[None, None, tuple[Section, ...]]] = [ask("nvidia-smi", _script("gpus", PROGRAM_S))]
    for process in processes[:MOST_PROCESSES]:
        questions.append(ask(f"process {process.pid}", _of_process("where", process)))
        stacks = _of_process("stacks", process, PROGRAM_S, folder)
        questions.append(ask(f"Python stacks of {process.pid}", stacks))
    questions += [
        ask("kernel log", _script("kernel", PROGRAM_S)),
        ask("machine and memory", _script("machine", PROGRAM_S)),
        ask("disk space", _script("disks", PROGRAM_S)),
    ]
    answers = [section for answer in await asyncio.gather(*questions) for section in answer]
    more = len(processes) - MOST_PROCESSES
    if more > 0:
        answers.append(Section("more processes", f"{more} more of the server were not looked at."))
    return tuple(answers)


def _script(name: str, limit: int) -> str:
    asked = with_arguments(f"diagnose/{name}.sh", str(limit))
    return f"{read_script('diagnose/telling.sh')}\nlimit={limit}\n{asked}"


def _of_process(name: str, process: Process, limit: int = 0, folder: str = "") -> str:
    given = [str(process.pid), str(process.start)]
    asked = with_arguments(f"diagnose/{name}.sh", *([str(limit), *given, folder] if limit else given))
    return f"{read_script('control/identify.sh')}\n{read_script('diagnose/telling.sh')}\n{asked}"


async def _ask(host: Host, title: str, script: str) -> tuple[Section, ...]:
    try:
        done = await host.run(script, timeout=TIMEOUT, limit=LIMIT)
    except (ChannelRefused, ConnectionLost) as refused:
        return (Section(title, _harmless(str(refused).encode())),)
    parts = tuple(_section(part) for part in done.stdout.split(_SEPARATOR)[1:])
    if parts or done.status == 0:
        return parts
    return (Section(title, f"No answer (status {done.status}): {_harmless(done.stderr)}"),)


def _section(part: bytes) -> Section:
    title, _, text = part.partition(b"\n")
    return Section(_harmless(title), _harmless(text) or "nothing")


def _harmless(data: bytes) -> str:
    lines = mask(data.decode("utf-8", "replace")).splitlines()
    return "\n".join(clean_text(line) for line in lines).strip("\n")
