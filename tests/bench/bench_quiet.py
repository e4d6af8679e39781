"""What the console costs while a ready server of eight ranks says nothing.

    python tests/bench/bench_quiet.py [SECONDS]

The demo's host runs in a process of its own; the console watches it over SSH, on a pseudo-terminal of 120x40.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, Popen

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench_console import cpu_share
from terminal import Terminal

from bringup.demo import scenarios
from bringup.demo.host import DemoHost

ROUNDS = 3
SETTLES = 8.0
"""Seconds in which what is looked at once after a start has been looked at."""

CONSOLE = """
from pathlib import Path
from bringup.cli.console import make_console
from bringup.hosts.ssh.config import SshOptions
from bringup.session.target import Target
options = SshOptions({host!r}, {port}, {username!r}, (Path({key!r}),), {known_hosts!r}.encode())
app, _ = make_console("bench", Target(name="bench", within={within}), options=options)
app.run()
"""


async def serve() -> None:
    """Be the host until standard input ends; say how to log in."""
    healthy = scenarios.load("healthy")
    silent = replace(healthy.plan, durations=replace(healthy.plan.durations, traffic=1e6))
    async with DemoHost(replace(healthy, plan=silent), speed=30) as host:
        way = {
            "host": host.host,
            "port": host.port,
            "username": host.username,
            "key": str(host.home.key),
            "known_hosts": host.known_hosts.decode(),
            "within": host.within,
        }
        print(json.dumps(way), flush=True)
        await asyncio.to_thread(sys.stdin.read)


@contextmanager
def served() -> Iterator[dict[str, object]]:
    """Run the host in a process of its own; the context ends it."""
    with Popen([sys.executable, __file__, "serve"], stdin=PIPE, stdout=PIPE) as host:
        assert host.stdout is not None
        assert host.stdin is not None
        yield json.loads(host.stdout.readline())
        host.stdin.close()


def main() -> None:
    """Print the least share of a core in some rounds: other work on the machine only adds to it."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with served() as way, Terminal([sys.executable, "-c", CONSOLE.format(**way)]) as terminal:
        terminal.wait_for(b"READY", 60.0)
        terminal.drain(SETTLES)
        shares = [cpu_share(terminal, seconds) for _ in range(ROUNDS)]
        print(f"ready, 8 ranks, quiet  {min(shares):6.2%} of a core (rounds: {', '.join(f'{s:.2%}' for s in shares)})")


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        main()
