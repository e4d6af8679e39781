"""A start on two nodes that `node1` and `node2` of a command line lead to, through two real sshd."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from headless import Way
from twonodes import Node, two_nodes


@dataclass
class Start:
    """Two nodes that `node1` and `node2` of the configuration lead to."""

    way: Way
    head: Node
    worker: Node


@pytest.fixture
def start(way: Way, tmp_path: Path) -> Iterator[Start]:
    with two_nodes(tmp_path) as (head, worker):
        known = way.folder / "known_nodes"
        known.write_text(head.sshd.known_line + worker.sshd.known_line)
        config = way.folder / "ssh_config"
        config.write_text("".join(node.sshd.block(f"box{node.number}", known) for node in (head, worker)))
        targets = [f'[targets.{node.name}]\nhost = "box{node.number}"\nport = {node.port}\n' for node in (head, worker)]
        way.config.write_text("".join(targets))
        yield Start(way, head, worker)


def both(start: Start) -> None:
    for node in (start.head, start.worker):
        node.launch()
        node.load()
