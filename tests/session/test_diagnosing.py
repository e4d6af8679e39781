"""What a diagnosis holds besides the host's answers: the server, and every node; also where a host cannot be asked."""

from __future__ import annotations

from typing import cast

from bringup.core.errors import ConnectionLost
from bringup.core.events import LogTarget, Server, ServerFound
from bringup.hosts.base import Completed, Host
from bringup.session.console import Findings, Section
from bringup.session.diagnosing import examine, told_here
from bringup.session.fleet import Fleet
from bringup.session.picture import Picture
from bringup.session.session import Session

SERVER = Server(
    pid=70,
    start=7,
    engine="sglang",
    argv=("python", "-m", "sglang.launch_server", "--api-key", "very secret"),
    user="ann",
    port=30000,
    logs=(LogTarget("/var/log/it.log", "file"),),
)


class Silent:
    """A host that answers nothing."""

    name = "box"

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        return Completed(1, b"", b"no such shell")


def watched() -> Picture:
    picture = Picture("box")
    picture.apply([ServerFound(at=1.0, server=SERVER)])
    picture.add_lines([b"one", b"two"])
    return picture


async def test_the_server_comes_first_with_its_secrets_masked() -> None:
    found = await examine(cast(Host, Silent()), watched())
    assert found.sections[0].title == "the server"
    text = found.sections[0].text
    for words in ("sglang, PID 70, user ann, port 30000", "--api-key", "log: /var/log/it.log (file)"):
        assert words in text
    assert "very secret" not in text
    assert found.sections[1] == Section("nvidia-smi", "No answer (status 1): no such shell")
    assert found.lines == (b"one", b"two")


def test_without_a_connection_what_is_known_here_is_told() -> None:
    found = told_here(ConnectionLost("There is no connection to box now.", "Wait."), watched())
    assert [each.title for each in found.sections] == ["the server", "the host could not be asked"]
    assert "There is no connection to box now." in found.sections[1].text
    assert found.lines == (b"one", b"two")


class Node:
    def __init__(self, text: str) -> None:
        self._text = text

    async def diagnose(self) -> Findings:
        return Findings((Section("nvidia-smi", self._text),), (self._text.encode(),))

    def take_lines(self) -> list[bytes]:
        return []


async def test_every_node_is_asked_and_the_shown_one_comes_first() -> None:
    fleet = Fleet([("a", cast(Session, Node("of a"))), ("b", cast(Session, Node("of b")))])
    found = await fleet.diagnose()
    assert [(each.title, each.text) for each in found.sections] == [
        ("a: nvidia-smi", "of a"),
        ("b: nvidia-smi", "of b"),
        ("b: the end of its log", "of b"),
    ]
    assert found.lines == (b"of a",)


async def test_where_there_is_no_server_what_was_looked_for_is_told() -> None:
    found = told_here(ConnectionLost("Gone."), Picture("box"))
    assert found.sections[0].text == "No server was found."
