"""What the probe costs the watched host: `python tests/bench/bench_probe.py [SECONDS]`, by hand.

A tree of 41 processes, eight of them ranks that fault in pages all the time, as a load does. The share is that of one
core: user and system time of the probe and of all it started (without nvidia-smi), from /proc/PID/stat.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "app")]

from fakehost import Tree, make_shards, running  # noqa: E402

from bringup.hosts.probe import script  # noqa: E402

RANKS = 8
CHILDREN = 40
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def measure(tree: Tree | None, programs: Path, seconds: float) -> tuple[float, float]:
    """Return the probe's share of a core in percent, and the kilobytes it sent a second."""
    text = script(tree.pid if tree else None, port=30000)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    with tempfile.TemporaryFile() as output:
        probe = subprocess.Popen(
            ["sh", "-c", text], stdin=subprocess.DEVNULL, stdout=output, env=environment, start_new_session=True
        )
        time.sleep(2)
        size, before, began = os.fstat(output.fileno()).st_size, cpu_seconds(probe.pid), time.monotonic()
        while time.monotonic() < began + seconds:
            time.sleep(0.5)
            for rank in tree.children[:RANKS] if tree else ():
                rank.do("touch", 100)
        spent, passed = cpu_seconds(probe.pid) - before, time.monotonic() - began
        sent = os.fstat(output.fileno()).st_size - size
        os.killpg(probe.pid, 15)
        probe.wait()
    return 100 * spent / passed, sent / 1000 / passed


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    print(f"{'awk':8} {'what':34} {'% of a core':>12} {'kB/s':>8}")
    for awk in ("mawk", "gawk", "busybox"):
        if shutil.which(awk) is None:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            programs = folder / "programs"
            programs.mkdir()
            (programs / "awk").symlink_to(str(shutil.which(awk)))
            rows = [("looking for a server", None)] if awk == "mawk" else []
            rows += [(f"{RANKS} ranks, {mapped} files mapped by each", mapped) for mapped in (0, 9, 500)]
            for what, mapped in rows:
                if mapped is None:
                    share, sent = measure(None, programs, seconds)
                else:
                    with running(folder, CHILDREN) as tree:
                        tree.become_ranks()
                        files = make_shards(folder / "model", 500)[:mapped]
                        for rank in tree.children[:RANKS]:
                            rank.do("map", *files)
                        share, sent = measure(tree, programs, seconds)
                print(f"{awk:8} {what:34} {share:12.2f} {sent:8.1f}", flush=True)


if __name__ == "__main__":
    main()
