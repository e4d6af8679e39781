"""A start of SGLang on two nodes: two process trees that really run, each with a log, behind an sshd of its own."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fakehost import Tree, running
from sshd import Sshd, free_port, start_sshd

RANKS = 2
"""Of each node."""


@dataclass
class Node:
    """One node: its server, its log, and how it is reached."""

    number: int
    name: str
    tree: Tree
    log: Path
    port: int
    sshd: Sshd

    @property
    def ranks(self) -> range:
        return range(self.number * RANKS, (self.number + 1) * RANKS)

    def say(self, text: str, rank: int | None = None) -> None:
        """Print a line as SGLang 0.5.15 does."""
        label = "" if rank is None else f" TP{rank}"
        with self.log.open("a") as file:
            file.write(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{label}] {text}\n")

    def launch(self) -> None:
        args = (
            f"model_path='/models/tiny', host='127.0.0.1', port={self.port}, tp_size={2 * RANKS}, pp_size=1, dp_size=1"
        )
        self.say(f"server_args=ServerArgs({args}, nnodes=2, node_rank={self.number}, dist_init_addr='127.0.0.1:5000')")
        for child, rank in zip(self.tree.children, self.ranks, strict=True):
            child.do("title", f"sglang::scheduler_TP{rank}", "sglang::schedul")

    def load(self) -> None:
        for rank in self.ranks:
            self.say("Init torch distributed begin.", rank)
            self.say("Init torch distributed ends. elapsed=1.00 s, mem usage=0.10 GB", rank)
            self.say("Load weight begin. avail mem=78.00 GB", rank)

    def fail(self, rank: int) -> None:
        """Let a rank run out of memory, and the launcher end with all its processes."""
        self.say("Scheduler hit an exception: Traceback (most recent call last):", rank)
        with self.log.open("a") as file:
            file.write(
                '  File "/sgl/scheduler.py", line 1, in run_scheduler_process\n    scheduler = Scheduler(args)\n'
            )
            file.write("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 1 is full.\n\n")
        self.say("Received sigquit from a child process. It usually means the child failed.")
        self.tree.process.kill()
        self.tree.process.wait()


@contextmanager
def two_nodes(folder: Path) -> Iterator[tuple[Node, Node]]:
    """Run both nodes, before anything was printed."""
    with ExitStack() as stack:
        made = [
            stack.enter_context(_node(folder / name, number, name)) for number, name in enumerate(("node1", "node2"))
        ]
        yield made[0], made[1]


@contextmanager
def _node(folder: Path, number: int, name: str) -> Iterator[Node]:
    folder.mkdir()
    log, port = folder / "server.log", free_port()
    args = ["--model-path", "/models/tiny", "--tp", str(2 * RANKS), "--nnodes", "2", "--node-rank", str(number)]
    with ExitStack() as stack:
        output = stack.enter_context(log.open("ab"))
        given = {"stdout": output, "stderr": subprocess.STDOUT}
        tree = stack.enter_context(running(folder, RANKS, [*args, "--port", str(port)], **given))
        server = stack.enter_context(start_sshd(folder / "sshd", address=f"127.0.0.{number + 1}"))
        yield Node(number, name, tree, log, port, server)
