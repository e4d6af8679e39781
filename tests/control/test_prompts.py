"""A shell that waits at its terminal for a command starts nothing again; one that goes through a loop does."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest
from engineserver import Place
from leftopen import unfinished
from lefttoanother import above, again, left_to
from placedhost import Placed
from waiting import alive

from bringup.hosts.control import Pace, stop, survey
from bringup.hosts.discover.candidates import Candidate


class Prompt:
    """An interactive shell in a terminal."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._ours, self._theirs = pty.openpty()
        environ = {**os.environ, **place.environ, "PS1": "", "HISTFILE": ""}
        self.shell = subprocess.Popen(
            ["bash", "--norc", "-i"], stdin=self._theirs, stdout=self._theirs, stderr=self._theirs, cwd=place.folder,
            env=environ, start_new_session=True,
        )  # fmt: skip

    def type(self, line: str) -> None:
        """Give it a command."""
        os.write(self._ours, f"{line}\n".encode())

    def close(self) -> None:
        """End it."""
        self.shell.kill()
        self.shell.wait()
        os.close(self._ours)
        os.close(self._theirs)


@pytest.fixture
def prompt(place: Place) -> Iterator[Prompt]:
    prompt = Prompt(place)
    yield prompt
    prompt.close()


def line(place: Place) -> str:
    return f"{place.line()} >>server.log 2>&1 </dev/null"


@pytest.mark.parametrize("beside", ["", "sleep 104 & "], ids=["alone", "another job"])
async def test_what_is_typed_is_launched_again(host: Placed, place: Place, prompt: Prompt, beside: str) -> None:
    """The shell lives on, and whoever sits there launched the server."""
    prompt.type(f"{beside}{line(place)}")
    server = await place.see(host, await place.one())
    assert [pid for pid, _ in server.launcher.above] == [prompt.shell.pid]
    started = await again(host, server, wait=None)
    assert await place.one() == started.pid
    assert alive(prompt.shell.pid)


@pytest.mark.long
async def test_what_runs_in_the_background_is_nothing_that_the_shell_waits_for(
    local: Placed, place: Place, prompt: Prompt
) -> None:
    prompt.type(f"{line(place)} & tail -f /dev/null")
    server = await place.see(local, await place.one())
    assert server.launcher.above == ()
    started = await again(local, server, wait=None)
    assert await place.one() == started.pid


@pytest.mark.long
async def test_a_loop_that_is_typed(local: Placed, place: Place, prompt: Prompt) -> None:
    prompt.type(f"while :; do {line(place)}; sleep 104; done")
    await left_to(local, place, await place.see(local, await place.one()), prompt.shell.pid)
    left = await unfinished(local, token="ours")
    assert left is not None
    assert f"PID {prompt.shell.pid}, which had started it, still runs" in left.sentence
    prompt.type("\x03")
    async with asyncio.timeout(60):
        while left is None or "which had started it" in left.sentence:
            left = await unfinished(local, token="ours")


@pytest.mark.long
async def test_a_loop_that_is_typed_for_the_background(local: Placed, place: Place, prompt: Prompt) -> None:
    prompt.type(f"while :; do {line(place)}; sleep 104; done &")
    server = await place.see(local, await place.one())
    loop = os.getpgid(server.pid)
    assert loop != prompt.shell.pid
    await left_to(local, place, server, loop)


@pytest.mark.long
async def test_a_stop_tells_of_a_loop_that_was_typed(local: Placed, place: Place, prompt: Prompt) -> None:
    prompt.type(f"while :; do {line(place)}; sleep 104; done")
    plan = await survey(local, await place.see(local, await place.one()))
    came = await stop(local, plan, report=lambda _: None, pace=Pace(respawn=0.2))
    assert f"PID {prompt.shell.pid} (bash --norc -i), which had started it, still runs" in came.sentence


def test_nothing_above_a_prompt_counts_whatever_options_it_has() -> None:
    editor = Candidate(20, 1, 1, "S", ("node", "server-main.js"), pgid=20, sid=20)
    prompt = Candidate(30, 20, 2, "S", ("/bin/bash", "--init-file", "/opt/shell.sh"), pgid=30, sid=30, tpgid=40)
    server = Candidate(40, 30, 3, "S", ("python3", "server"), pgid=40, sid=30, tpgid=40)
    assert above(server, prompt, editor) == (30,)
    assert above(replace(server, tpgid=30), prompt, editor) == ()
    script = replace(prompt, argv=("bash", "run.sh"))
    assert above(server, script, editor) == (30, 20)
