"""The network itself goes away: the ssh server is in a network namespace whose link is cut, so that no FIN comes."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from connectionfaults import DEAD
from faultwatch import TEXT, Run, moments, plain_connect, play, settle, watched
from island import Island, island, listening
from sshd import Sshd

from bringup.hosts.base import Host
from bringup.session.knowledge import Knowledge

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0 or shutil.which("ip") is None, reason="needs root on Linux, and ip"
)
NOTICED_WITHIN = 10.0
Tell = Callable[[str, list[Run]], None]


async def test_a_link_that_is_cut(known: Knowledge, reference: Run, tell: Tell) -> None:
    runs = []
    for number, moment in enumerate(moments("link cut")):
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(island(number % 60))
            theirs: list[Sshd] = []

            async def connect(server: Sshd, place: Island = place, theirs: list[Sshd] = theirs) -> Host:
                if not theirs:
                    theirs.append(stack.enter_context(listening(place, server)))
                line = f"[{place.address}]:{server.port} {server.host_key}\n"
                return await plain_connect(server, host=place.address, known_hosts=line.encode())

            async def cut(run: Run, place: Island = place) -> None:
                place.link("down")
                run.later(DEAD, lambda: place.link("up"))

            with tempfile.TemporaryDirectory() as folder:
                async with watched(Path(folder), known, connect=connect) as run:
                    await play(run, cut, moment)
                    await settle(run)
        assert (run.got, run.moves) == (TEXT, [])
        assert run.outcome() == reference.outcome()
        assert run.noticed is not None
        assert run.noticed < NOTICED_WITHIN
        runs.append(run)
    tell("link cut, no FIN", runs)
