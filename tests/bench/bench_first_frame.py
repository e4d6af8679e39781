"""Time to the first frame of the console beside an empty Textual app, interleaved in one run.

python tests/bench/bench_first_frame.py [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from terminal import Terminal

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("first-frame")
Empty().run()
"""


def once(argv: list[str], marker: bytes) -> float:
    """Start a program and return the seconds until it has drawn `marker`."""
    with Terminal(argv) as terminal:
        terminal.wait_for(marker)
        return time.perf_counter() - terminal.started


def main() -> None:
    """Print the medians and their ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    programs = {
        "empty Textual app": ([sys.executable, "-c", EMPTY], b"first-frame"),
        # A closed port: the connection is tried after the first frame and costs it nothing.
        "bringup watch": ([sys.executable, "-m", "bringup", "watch", "nobody@127.0.0.1"], b"127.0.0.1"),
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, (argv, marker) in programs.items():
            times[name].append(once(argv, marker))
    base = statistics.median(times["empty Textual app"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:20} {median * 1000:6.0f} ms median of {rounds}   {median / base:.2f} x")


if __name__ == "__main__":
    main()
