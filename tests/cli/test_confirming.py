"""Before something is done: the question, what is no server, and what is left of one that is being stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import cast

import pytest
from terminal import Terminal
from ui.acts import cut

from bringup.cli import run
from bringup.cli.acting import refuse_left
from bringup.cli.left_over import go_on
from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.core.state import State
from bringup.hosts.control import Unfinished
from bringup.session.session import Session

ASKS = """
import asyncio, sys
from bringup.cli.telling import confirmed

async def main():
    print("answer", confirmed("Stop it?"))

try:
    asyncio.run(main())
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_at_a_question_ends_at_once_and_says_what_was_done() -> None:
    with Terminal([sys.executable, "-c", ASKS]) as terminal:
        terminal.wait_for(b"Stop it? (yes/no) ")
        terminal.send(b"\x03")
        assert terminal.end() == 130
        assert terminal.seen.endswith(b"\r\nNothing was done.\r\n")


BREAKS = """
from bringup.cli.telling import _flowing

print(_flowing("bringup: The stop was broken off. The last step was: 1 process still runs; SIGKILL in 28 s."))
"""


def test_a_long_sentence_is_broken_between_words() -> None:
    with Terminal([sys.executable, "-c", BREAKS], columns=40) as terminal:
        assert terminal.end() == 0
    assert [line.decode() for line in terminal.seen.split(b"\r\n")] == [
        "",
        "bringup: The stop was broken off. The",
        "         last step was: 1 process still",
        "         runs; SIGKILL in 28 s.",
        "",
    ]


def test_what_is_neither_yes_nor_no_is_asked_again() -> None:
    with Terminal([sys.executable, "-c", ASKS]) as terminal:
        terminal.wait_for(b"Stop it? (yes/no) ")
        terminal.send(b"y\n")
        terminal.wait_for(b"The whole word: yes or no? ")
        terminal.send(b"yes\n")
        assert terminal.end() == 0
        assert b"answer True" in terminal.seen


@pytest.fixture
def process() -> Iterator[int]:
    """A process that is no server."""
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        yield sleeper.pid
        assert sleeper.poll() is None, "it was touched"
        sleeper.kill()


def test_a_process_that_is_no_server_is_not_stopped_unasked(process: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stop", "--pid", str(process), "--yes"]) == 2
    assert f"PID {process} on this machine is not recognised as a server." in capsys.readouterr().err


def test_what_we_run_below_ourselves_is_not_stopped(process: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stop", "--pid", str(os.getpid()), "--read-only"]) == 1
    said = capsys.readouterr().err
    assert f"PID {os.getpid()} is none: the shell that looks would end together with it." in said


@pytest.mark.parametrize("deed", ["stop", "restart"])
def test_without_a_server_it_is_said_what_there_is_none_for(deed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([deed, "--port", "31998", "--yes"]) == 1
    assert f"There is no server to {deed}." in capsys.readouterr().err


class Looked:
    """A session that watches what is left of a server."""

    def __init__(self, pid: int, *claims: Unfinished) -> None:
        self.state = State(node="gpu-a", server=Server(pid=pid, start=1, engine="sglang", argv=("python",)))
        self.claims = claims

    async def standing(self) -> tuple[tuple[Server, ...], tuple[Unfinished, ...]]:
        return (), self.claims

    async def unfinished(self) -> Unfinished | None:
        return next(iter(self.claims), None)


async def test_what_is_left_of_a_server_that_is_being_stopped_is_no_server() -> None:
    under_way = cut(action="stop", step="stopping", busy=True, alive=((101, 1),))
    with pytest.raises(BringupError, match="is under way") as refused:
        await refuse_left(cast(Session, Looked(101, under_way)))
    assert refused.value.hint == "PID 101 is what is left of it. Nothing was done."
    for others in ((), (cut(action="stop", alive=((101, 1),)),), (cut(busy=True, alive=((102, 1),)),)):
        await refuse_left(cast(Session, Looked(101, *others)))


async def test_an_action_under_way_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    left = cut(step="stopping", busy=True, alive=((100, 1),))
    with pytest.raises(BringupError) as refused:
        await go_on(cast(Session, Looked(100, left)), "box", yes=True, read_only=False)
    assert refused.value.what == left.sentence
    assert capsys.readouterr().err == ""
