"""Servers that discovery takes for an engine's, started the ways in which operators start them; and their end.

Every process that is one writes a file named by its PID below `pids`; that is how a test counts and ends them. Whoever
sees that of a server with a child knows that the child is there.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from fakehost import make_program
from waiting import alive, eventually

from bringup.core.events import Server
from bringup.engines import load_engines
from bringup.hosts.base import Host
from bringup.hosts.discover import discover

PROGRAM = """
import os, signal, sys, time
from pathlib import Path
folder = Path(os.environ["PLACE"])
if "--deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
parent = os.getpid()
if "--child" in sys.argv and os.fork() == 0:
    sys.argv.append("as a child")
print("a server starts", flush=True)
if (folder / "die").exists():
    sys.exit("no memory for the KV cache\\nraise --mem-fraction-static")
while os.getpid() != parent and not (folder / "pids" / str(parent)).exists():
    time.sleep(0.01)
(folder / "pids" / str(os.getpid())).touch()
time.sleep(600)
"""
ENGINES = load_engines()
HERE = os.getpid()


class Place:
    """A folder with the engine in it, its programs, and the servers that were started there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("pids", "run", "bin", "sglang"):
            (folder / name).mkdir(parents=True)
        (folder / "sglang" / "__init__.py").touch()
        (folder / "sglang" / "launch_server.py").write_text(PROGRAM)
        self.log = folder / "server.log"
        self.environ = {
            "PLACE": str(folder),
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        }
        self._processes: list[subprocess.Popen[bytes]] = []

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "sglang.launch_server", "--model-path", str(self.folder), *words]

    def line(self, *words: str) -> str:
        return shlex.join(self.command(*words))

    def program(self, name: str, text: str) -> Path:
        return make_program(self.folder / "bin", name, text)

    def start(self, *command: str, append: bool = False, session: bool = True) -> subprocess.Popen[bytes]:
        """Start a command with its output in the log."""
        with self.log.open("ab" if append else "wb") as log:
            made = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **self.environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=session,
            )
        self._processes.append(made)
        return made

    def running(self) -> list[int]:
        """PIDs of the servers that live."""
        found = [int(file.name) for file in (self.folder / "pids").iterdir()]
        return sorted(pid for pid in found if alive(pid) and self._is_ours(pid))

    async def one(self, but: Sequence[int] = ()) -> int:
        """Wait until one server runs, besides those that are known."""
        found: set[int] = set()

        def is_one() -> bool:
            found.clear()
            found.update(set(self.running()) - set(but))
            return len(found) == 1

        await eventually(is_one)
        return found.pop()

    async def see(self, host: Host, pid: int, within: int | None = HERE) -> Server:
        """Return a server as discovery finds it; the test itself does not count as what launched it."""
        found = await discover(host, ENGINES, pid=pid, within=within)
        (server,) = found.servers
        return server

    def kept(self) -> list[Path]:
        """What lies on the host of actions that are not over."""
        return list((self.folder / "run").glob("bringup-*/*-*"))

    def secrets(self) -> list[Path]:
        return [path for path in (self.folder / "run").rglob("*") if path.name in ("environ", "argv")]

    def end(self) -> None:
        """End everything that was started from here, and what that starts meanwhile."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(60)
        deadline = time.monotonic() + 60
        while (left := [pid for pid in _processes() if self._is_ours(pid)]) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def _is_ours(self, pid: int) -> bool:
        """It has this folder in its environment, and so it was started from here."""
        with contextlib.suppress(OSError):
            return f"PLACE={self.folder}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return False


def _processes() -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != HERE and alive(int(folder.name)):
            yield int(folder.name)


SHIM = """setsid sh -c 'echo $$ >"$PLACE/main"; exec "$@"' sh "$@" & wait"""
CONTAINER = "4f3c1a0b9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a"
DOCKER = r"""
main() { cat "$PLACE/main"; }
echo "$*" | head -n 1 >>"$PLACE/docker.calls"
[ ! -f "$PLACE/docker.refuses" ] || { echo "permission denied while connecting to the docker daemon" >&2; exit 1; }
case $1 in
    inspect)
        case $* in *State.Status* | *.Restarting*) cat "$PLACE/docker.state" 2>/dev/null; exit ;; esac
        printf 'main=%s\nname=llm\npolicy=always\nproject=stack\nservice=sglang\n' "$(main)" ;;
    stop) kill -TERM "$(main)"; look=0
        while kill -0 "$(main)" 2>/dev/null && [ $((look += 1)) -lt 200 ]; do
            [ "$look" -lt $(($3 * 10)) ] || kill -KILL "$(main)" 2>/dev/null
            sleep 0.05
        done ;;
    start)
        [ ! -f "$PLACE/docker.broken" ] || { echo "Error response from daemon: no such device nvidia0" >&2; exit 125; }
        echo llm
        [ -f "$PLACE/main" ] && kill -0 "$(main)" 2>/dev/null && exit
        rm -f "$PLACE/main"
        "$PLACE/bin/run-container" </dev/null >>"$PLACE/server.log" 2>&1 &
        look=0
        while [ ! -s "$PLACE/main" ] && kill -0 $! 2>/dev/null && [ $((look += 1)) -lt 400 ]; do sleep 0.05; done
        while [ -f "$PLACE/docker.waits" ]; do sleep 0.05; done
        [ ! -f "$PLACE/docker.fails" ] || { cat "$PLACE/docker.fails" >&2; exit 125; } ;;
    logs) since=${3%s}
        [ $(($(date +%s) - $(date -r "$PLACE/server.log" +%s))) -gt "$since" ] || tail -n "$5" "$PLACE/server.log" ;;
esac
"""


def make_docker(place: Place, *words: str) -> Path:
    """Make a docker command that keeps one real server under a process named as containerd's shim is."""
    title = f"/usr/bin/containerd-shim-runc-v2 -namespace moby -id {CONTAINER} -address /run/containerd.sock"
    inner = f"exec -a {shlex.quote(title)} bash -c {shlex.quote(SHIM)} shim {place.line(*words)}"
    place.program("run-container", f"exec setsid bash -c {shlex.quote(inner)}\n")
    place.program("docker", DOCKER)
    return place.folder / "docker.calls"
