"""A server that behaves as a file says each time it is launched, watched by a console that launches it again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from engineserver import Place
from session_watch import watching_own
from sshd import Sshd, free_port
from waiting import alive, eventually, is_listening

from bringup.core.verdict import Verdict
from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy
from bringup.hosts.base import Host
from bringup.hosts.control import Started
from bringup.hosts.discover import Discovery
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session

PATIENCE = 60.0
LOOK = 4.0
"""Seconds that a look for servers takes on a busy host with many processes: longer than a launch is watched."""
PROGRAM = """
import http.server, os, signal, sys, threading, time
from pathlib import Path
folder = Path(os.environ["PLACE"])
words = (folder / "words").read_text().split()
number = len(list((folder / "pids").iterdir())) + 1
port = int(sys.argv[sys.argv.index("--port") + 1])

def say(text):
    stamp = "" if "undated" in words else time.strftime("[%Y-%m-%d %H:%M:%S] ")
    print(f"{stamp}{text}", flush=True)

class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # Who has asked may leave before the answer: a real server says nothing of that.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass

def end(*_):
    say("SIGTERM received. signum=None frame=None. Draining requests and shutting down...")
    say(f"the last word of server {number}")
    os._exit(0)

signal.signal(signal.SIGTERM, end)
say(f"server_args=ServerArgs(model_path='/models/tiny', tp_size=1, port={port})")
say(f"the first word of server {number}")
if "fails" in words:
    sys.exit(f"RuntimeError: server {number} fails at once")
if "ready" in words:
    server = Server(("127.0.0.1", port), Health)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say("The server is fired up and ready to roll!")
(folder / "pids" / str(os.getpid())).touch()
while not (folder / "die").exists():
    time.sleep(0.02)
(folder / "die").unlink()
print('Traceback (most recent call last):\\n  File "scheduler.py", line 9, in init\\n    self.allocate()', flush=True)
print(f"RuntimeError: Not enough memory. Server {number} wants more --mem-fraction-static", flush=True)
sys.exit(1)
"""


class Relaunched:
    """A server in a place, and the console that watches it over a real sshd."""

    def __init__(self, place: Place, session: Session, knowledge: Knowledge) -> None:
        self.place = place
        self.knowledge = knowledge
        self.session = session
        self.lines: list[str] = []
        finder = session._finder
        plain = finder._discover

        async def discover(host: Host) -> Discovery:
            await asyncio.sleep(LOOK)
            return await plain(host)

        finder._discover = discover  # type: ignore[method-assign]

    def behave(self, *words: str) -> None:
        """Say how the next server behaves."""
        (self.place.folder / "words").write_text(" ".join(words))

    def look(self) -> Verdict:
        """Look at what a screen shows now."""
        self.lines += [line.decode() for line in self.session.take_lines()]
        return self.session.verdict()

    async def reaches(self, state: str, attempt: int = 1) -> Verdict:
        """Wait for a verdict."""

        def is_there() -> bool:
            verdict = self.look()
            return (verdict.state, verdict.attempt) == (state, attempt)

        try:
            await eventually(is_there, PATIENCE)
        except AssertionError as error:
            now = self.look()
            raise AssertionError(f"{now.state}, attempt {now.attempt}: {now.summary} {self.session.state}") from error
        return self.look()

    async def restart(self, *, dies: bool = False) -> Verdict:
        """Launch it again, and return what is shown in the moment in which that is done."""
        actions = self.session._actions
        plain = actions.restart

        async def restart(*given: object) -> Started:
            started = await plain(*given)  # type: ignore[arg-type]
            if dies:
                (self.place.folder / "die").touch()
                # Nothing else has its turn meanwhile: it has ended before anybody could look at it.
                limit = time.monotonic() + PATIENCE
                while alive(started.pid):
                    assert time.monotonic() < limit, "it does not end"
                    time.sleep(0.01)
            return started

        actions.restart = restart  # type: ignore[method-assign]
        await self.session.restart(replace(await self.session.plan(), regardless=True))
        return self.look()

    async def sees(self, seconds: float) -> list[str]:
        """Look for a while, a hundred times a second; return the states that were shown, each once in a row."""
        states: list[str] = []
        for _ in range(int(seconds * 100)):
            state = self.look().state
            if states[-1:] != [state]:
                states.append(state)
            await asyncio.sleep(0.01)
        return states

    def own(self) -> list[str]:
        """The lines of the servers that were shown, without their time."""
        return [line.partition("] ")[2] or line for line in self.lines if not line.startswith("--- bringup")]


@asynccontextmanager
async def relaunched(place: Place, sshd: Sshd, *words: str, append: bool) -> AsyncIterator[Relaunched]:
    """Start a server that is ready, and watch it until that is shown."""
    (place.folder / "sglang" / "launch_server.py").write_text(PROGRAM)
    (place.folder / "words").write_text(" ".join(("ready", *words)))
    started = place.start(*place.command("--port", str(free_port())), append=append)
    await eventually(lambda: (place.folder / "pids" / str(started.pid)).exists() and is_listening(started.pid))
    knowledge = Knowledge(load_engines(), load_wrappers(), load_policy())
    async with watching_own(sshd, knowledge, mark=str(place.folder)) as session:
        made = Relaunched(place, session, knowledge)
        await made.reaches("ready")
        yield made


def whole(place: Place) -> list[str]:
    """What the servers wrote, old logs first, as lines without their time."""
    files = [*sorted(place.folder.glob("server.log.*")), place.log]
    lines = [line for file in files for line in Path(file).read_text().splitlines()]
    return [line.partition("] ")[2] or line for line in lines]
