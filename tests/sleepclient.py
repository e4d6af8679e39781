"""A watching client in a process of its own, to be stopped and continued as a laptop that sleeps.

Reads one JSON object of arguments, then the number of bytes that must have been read in the end; prints what it knows.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "app"), str(HERE)]

from faultwatch import KEEPALIVE, LOGIN, PATIENCE, Run, Writer, knowledge, look_on, tap  # noqa: E402
from sshd import Sshd  # noqa: E402
from waiting import eventually  # noqa: E402

from bringup.hosts.ssh import SshHost, SshOptions  # noqa: E402
from bringup.session.session import Session  # noqa: E402
from bringup.session.target import Target  # noqa: E402


async def main() -> None:
    given = json.loads(sys.stdin.readline())
    server = Sshd(Path(given["folder"]), given["port"], 0, given["host_key"], Path(given["client_key"]))
    options: SshOptions = server.options(connect_timeout=LOGIN, **KEEPALIVE)
    target = Target("box", log=given["log"], within=os.getpid())
    session = Session(lambda: SshHost.login("box", options=options), target, knowledge())
    run = Run(Path(given["folder"]), server, Writer(Path(given["log"])), session)
    tap(run)
    await session.open()
    eye = asyncio.create_task(look_on(run))
    await run.level(1)
    print(json.dumps("begun"), flush=True)
    size = int(await asyncio.to_thread(sys.stdin.readline))
    await run.level(size)
    await eventually(lambda: session.state.link.status == "up", PATIENCE)
    await asyncio.sleep(0.3)
    run.lines += session.take_lines()
    eye.cancel()
    answer = {
        "outcome": run.outcome(),
        "got": run.got.decode("latin-1"),
        "lines": [line.decode("latin-1") for line in run.lines],
        "told": run.told,
        "off": session.now() - time.time(),
    }
    await session.close()
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
