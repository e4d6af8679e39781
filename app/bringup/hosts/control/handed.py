"""What a configured command has left to others, as docker run -d does: known by its words, and asked after."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from importlib import resources

from bringup.core.words import BETWEEN
from bringup.hosts.base import Host
from bringup.hosts.control.launching import LaunchFailed, Started
from bringup.hosts.control.lives import Life, life
from bringup.hosts.discover.launchers import fill, fill_plain

LOOKS = 2
"""Looks in a row by which it has ended, and as many for what has not: what ends at once does so soon."""
LOOK = 0.7
"""Seconds before each of them."""
_LONG = re.compile(r"^([0-9a-f]{12})[0-9a-f]{52}$")


@dataclass(frozen=True, slots=True)
class Handed:
    """What was left to others."""

    words: str
    """What it is: "job 4711 of Slurm"."""
    lives: str
    """The command that asks after it (lives.sh)."""


def recognise(said: str) -> Handed | None:
    """Return what the last words of a command tell that it has started (launchers.toml); None for nothing known."""
    for line in said.split(BETWEEN):
        for pattern, words, lives in _kinds():
            found = pattern.search(line)
            if found is not None:
                short = _LONG.sub(r"\1", found["name"])
                return Handed(fill_plain(words, name=short), fill(lives, name=found["name"]))
    return None


async def ask_after(
    host: Host, started: Started, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> tuple[Started, bool]:
    """Return a launch with what has become of what its command left to others, and whether that has ended already."""
    handed = recognise(started.handed or "")
    if handed is None:
        return started, False
    became = Life()
    for _ in range(LOOKS):
        await sleep(LOOK)
        became = await life(host, handed.lives)
        if became.state != "ended":
            break
    if not became.state:
        return started, False
    told = f"{handed.words} {became.became}"
    return replace(started, became=told), became.state == "ended"


def ended_already(node: str, started: Started, log: str = "") -> LaunchFailed:
    """Return the failure of a launch whose command ended well, and what it had left to others has ended, too."""
    said = f" ({started.handed})" if started.handed else ""
    what = f"What was launched on {node} does not run any more. The command ended with exit status 0{said}"
    return LaunchFailed(f"{what}: {started.became}.", f"See {log}." if log else "")


def _kinds() -> Iterator[tuple[re.Pattern[str], str, str]]:
    table = tomllib.loads(resources.files("bringup.hosts.discover").joinpath("launchers.toml").read_text("utf-8"))
    for entry in table["handed"]:
        yield re.compile(entry["said"]), entry["words"], entry["lives"]
