"""The connection breaks in the middle of a start: what is known in the end is what was to be known, to the byte."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from connectionfaults import CONNECTIONS, host_key_changed, login_revoked, way_in
from faultwatch import KEEPALIVE, PATIENCE, SFTP, TEXT, Run, at_each_moment, plain_connect, play, settle, watched
from sshd import Sshd
from waiting import eventually

from bringup.core.errors import BringupError, HostKeyChanged, LoginRefused
from bringup.hosts.base import Host
from bringup.session.knowledge import Knowledge

NOTICED_WITHIN = 10.0
"""Seconds: a keepalive of 0.4 s that one question may fail, on a machine that is busy."""
Tell = Callable[[str, list[Run]], None]


@pytest.mark.parametrize("name", CONNECTIONS)
async def test_nothing_is_lost_with_the_connection(name: str, known: Knowledge, reference: Run, tell: Tell) -> None:
    async def one(moment: float) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            async with watched(Path(folder), known, connect=way_in(name)) as run:
                await play(run, CONNECTIONS[name], moment)
                await settle(run)
                return run

    runs = await at_each_moment(name, one)
    for run in runs:
        assert (run.got, run.moves) == (TEXT, [])
        assert run.outcome() == reference.outcome()
        assert run.lines == reference.lines
        if name != "network stalled briefly":
            assert run.noticed is not None
            assert run.noticed < NOTICED_WITHIN
            assert run.told[:2] == ["up", "lost"]
    tell(name, runs)


@pytest.mark.parametrize("sessions", [1, 2])
async def test_few_sessions_are_given_to_the_log_first(
    sessions: int, known: Knowledge, reference: Run, tell: Tell, tmp_path: Path
) -> None:
    async with watched(tmp_path, known, SFTP, f"MaxSessions {sessions}") as run:
        await play(run, CONNECTIONS["connection killed"], 0.5)
        await settle(run)
        assert run.got == TEXT
        assert run.outcome() == reference.outcome()
        if sessions == 1:
            await eventually(lambda: any("MaxSessions" in why for _, why in run.session.state.closed), PATIENCE)
        assert "log" not in dict(run.session.state.closed)
    tell(f"killed, MaxSessions {sessions}", [run])


@pytest.mark.parametrize(
    ("fault", "error"), [(login_revoked, LoginRefused), (host_key_changed, HostKeyChanged)], ids=["login", "host key"]
)
async def test_what_only_the_operator_can_mend_is_not_tried_again(
    fault: Callable[[Run], Awaitable[None]], error: type[BringupError], known: Knowledge, tmp_path: Path
) -> None:
    tries = 0

    async def connect(server: Sshd) -> Host:
        nonlocal tries
        tries += 1
        return await plain_connect(server, **KEEPALIVE)

    async def counted(run: Run) -> None:
        nonlocal tries
        # A busy machine loses a connection now and then that nobody has cut, and makes another one.
        await eventually(lambda: run.session.state.link.status == "up", PATIENCE)
        tries = 0
        await fault(run)

    async with watched(tmp_path, known, connect=connect) as run:
        await play(run, counted, 0.5)
        await eventually(lambda: run.session.state.link.status == "refused", PATIENCE)
        before = run.session.state.attempt
        with pytest.raises(error):
            await run.session.wait()
        assert tries == 1
        assert str(tmp_path) not in run.session.state.link.why or error is LoginRefused
        assert run.session.state.attempt is before
        assert run.session.state.attempt.launched
