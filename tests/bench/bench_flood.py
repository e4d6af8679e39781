"""A log that floods: how soon keys answer, whether every line is read, what it costs, and whether memory stays flat.

    python tests/bench/bench_flood.py [SECONDS [LINES_PER_SECOND [local|ssh]]]

The console follows, on a pseudo-terminal of 120x40, a local file and one behind a real sshd on loopback, while another
process writes: so many lines a second (60 s of 50,000 unless told), a bar that is redrawn 1,000 times a second, one
line of 100 MB. The same keys are pressed in the same console before the flood: what the flood adds is their ratio.
Once all is written, the console is asked until it has read all of it, or reads no further.

Where this runs as root, the console goes before the other work of the machine (autogroup, sched(7)): otherwise a key
waits for a core on a machine that is busy with other things, with a flood and without.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench_console import LINE
from flooding import flooded, written
from sshd import SFTP, start_sshd
from terminal import Terminal

from bringup.hosts.ssh.tokens import local_user

PRESSES = 60
"""Keys pressed without a flood."""
KEYS = ((b"s", b"paused"), (b"s", b"following"))
LONG_LINE_TAKES = 10.0
PATIENCE = 60.0
"""Seconds without progress after which the rest counts as lost."""
MIB = 1 << 20

CONSOLE = """
import json, os, signal, sys
from pathlib import Path
from bringup.cli.console import make_console
from bringup.hosts.ssh.config import SshOptions
from bringup.session.picture import Picture
from bringup.session.target import Target
way = json.loads(sys.argv[1])
options = None
if way["port"]:
    options = SshOptions("127.0.0.1", way["port"], way["user"], (Path(way["key"]),), way["known"].encode())
target = Target(name="bench", log=way["log"], port=9, within=os.getppid())
app, _ = make_console("bench" if way["port"] else "", target, options=options)
left_out = []
leave_out = Picture.skip
def count(picture, lines):
    left_out.append(lines)
    leave_out(picture, lines)
Picture.skip = count
def tell(*_):
    log = app.watch_screen.console.state.log
    new = Path(way["out"] + ".new")
    new.write_text(json.dumps({"size": log.size, "lines": log.lines, "skipped": sum(left_out)}))
    new.rename(way["out"])
signal.signal(signal.SIGUSR1, tell)
app.run()
"""
"""The console on one log; SIGUSR1 makes it write down how far it has read."""


@dataclass
class Sample:
    """What was seen of a console under a flood."""

    alone: list[float] = field(default_factory=list)
    """Seconds from each key to its picture without the flood."""
    keys: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    """MiB resident: before the flood, and at each key in it."""
    share: float = 0.0
    caught_up: float = 0.0
    """Seconds from the last byte written until all was read."""
    lines: int = 0
    size: int = 0
    told: dict[str, int] = field(default_factory=dict)


def resident(pid: int, name: str = "VmRSS") -> float:
    """Return the MiB of memory that a process holds; with VmHWM, that it held at most."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0]) / 1024


def favour(pid: int | str) -> bool:
    """Let a process go before the other work of a machine that is shared, where we may; say whether we may."""
    try:
        Path(f"/proc/{pid}/autogroup").write_text("-15")
    except OSError:
        return False
    return True


def press(terminal: Terminal, number: int) -> float:
    """Press the next key; return the seconds until its picture is there."""
    key, marker = KEYS[number % len(KEYS)]
    # Not in step with the screen's own timers.
    terminal.drain(0.2 + 0.013 * (number % 7))
    terminal.seen = b""
    terminal.send(key)
    return terminal.wait_for(marker, 60.0)


def ask(terminal: Terminal, out: Path) -> dict[str, int]:
    """Return how far the console has read."""
    out.unlink(missing_ok=True)
    os.kill(terminal.pid, signal.SIGUSR1)
    while not out.exists():
        terminal.drain(0.05)
    told: dict[str, int] = json.loads(out.read_text())
    return told


def measure(way: dict[str, object], kind: str, seconds: float, rate: int) -> tuple[Sample, float]:
    """Watch one flood; return what was seen, and the most memory held."""
    log, out, sample = Path(str(way["log"])), Path(str(way["out"])), Sample()
    log.write_text(LINE.format(second=0, token=1))
    with Terminal([sys.executable, "-c", CONSOLE, json.dumps(way)]) as terminal:
        favour(terminal.pid)
        terminal.wait_for(b"Decode batch", 60.0)
        terminal.drain(3.0)
        sample.alone = [press(terminal, number) for number in range(PRESSES)]
        sample.memory.append(resident(terminal.pid))
        before, began = terminal.cpu(), time.perf_counter()
        with flooded(log, kind, seconds, rate) as writer:
            while writer.poll() is None or len(sample.keys) % 2:
                sample.keys.append(press(terminal, len(sample.keys)))
                sample.memory.append(resident(terminal.pid))
            sample.share = (terminal.cpu() - before) / (time.perf_counter() - began)
            written(writer)
        ended = time.perf_counter()
        sample.size = log.stat().st_size
        sample.lines = count(log)
        sample.told = read_out(terminal, out, sample.size)
        sample.caught_up = time.perf_counter() - ended
        return sample, resident(terminal.pid, "VmHWM")


def read_out(terminal: Terminal, out: Path, size: int) -> dict[str, int]:
    """Wait until the console has read everything, or reads no further; return how far it came."""
    told, moved = ask(terminal, out), time.perf_counter()
    while told["size"] < size and time.perf_counter() - moved < PATIENCE:
        now = ask(terminal, out)
        moved = time.perf_counter() if now != told else moved
        told = now
    return told


def count(log: Path) -> int:
    """Return how many lines a file has."""
    with log.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(MIB), b""))


def of(found: list[float]) -> tuple[float, float]:
    """Return median and 95th percentile in milliseconds."""
    ordered = sorted(found)
    return statistics.median(ordered) * 1000, ordered[int(len(ordered) * 0.95)] * 1000


def tell(what: str, sample: Sample, most: float) -> None:
    """Print one row of the table."""
    alone, flood = of(sample.alone), of(sample.keys)
    memory = sample.memory
    print(
        f"{what:28} {sample.share:5.0%} {alone[0]:5.0f} {alone[1]:5.0f} {flood[0]:5.0f} {flood[1]:5.0f} "
        f"{flood[1] / alone[1]:6.1f} {len(sample.keys):5} {memory[0]:5.0f} {memory[len(memory) // 2]:5.0f} "
        f"{memory[-1]:5.0f} {most:5.0f} {sample.size / MIB:7.0f} {sample.size - sample.told['size']:9} "
        f"{sample.lines:9} {sample.lines - sample.told['lines']:5} {sample.caught_up:6.1f} {sample.told['skipped']:9} "
        f"{os.getloadavg()[0]:5.1f}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    words = "before other work of this machine" if favour("self") else "beside all other work of this machine"
    print(f"the console runs {words}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    floods = {f"{rate} lines/s": "lines", "a bar, 1,000 states/s": "bar", "one line of 100 MB": "line"}
    print(f"{'':28} {'CPU':>5} {'keys alone':>11} {'in the flood':>11} {'p95':>6} {'':5} {'MiB of memory':>23}")
    print(
        f"{'':28} {'':5} {'p50':>5} {'p95':>5} {'p50':>5} {'p95':>5} {'ratio':>6} {'keys':>5} {'begin':>5} {'half':>5} "
        f"{'end':>5} {'most':>5} {'MiB':>7} {'not read':>9} {'lines':>9} {'lost':>5} {'behind':>6} {'not shown':>9}"
        " load"
    )
    with tempfile.TemporaryDirectory() as name, start_sshd(Path(name) / "sshd", SFTP) as server:
        folder = Path(name)
        known = server.known_line if isinstance(server.known_line, str) else server.known_line.decode()
        ssh = {"port": server.port, "user": local_user(), "key": str(server.client_key), "known": known}
        for what, kind in floods.items():
            for where, more in (("local", {"port": 0}), ("ssh", ssh)):
                if only in ("", where):
                    way = {"log": str(folder / "server.log"), "out": str(folder / "out"), **more}
                    takes = LONG_LINE_TAKES if kind == "line" else seconds
                    tell(f"{what}, {where}", *measure(way, kind, takes, rate))


if __name__ == "__main__":
    main()
