"""A console that launches a server again shows the new one from that moment on, and all that it says is its own."""

from __future__ import annotations

import os

import pytest
from engineserver import Place
from relaunched import LOOK, PATIENCE, relaunched, whole
from sshd import Sshd
from waiting import eventually

from bringup.core.errors import BringupError
from bringup.hosts.base import Host
from bringup.hosts.ssh import SshHost
from bringup.session.session import Session
from bringup.session.target import Target

pytestmark = pytest.mark.long
LOGS = pytest.mark.parametrize("append", [False, True], ids=["rotated", "appended"])


@LOGS
async def test_one_that_dies_before_anybody_has_looked(place: Place, real_sshd: Sshd, append: bool) -> None:
    async with relaunched(place, real_sshd, append=append) as made:
        made.behave("slow")
        at_once = await made.restart(dies=True)
        assert (at_once.state, at_once.phase, at_once.attempt) == ("starting", "launch", 2)
        failed = await made.reaches("failed", attempt=2)
        assert failed.cause is not None
        assert "Server 2 wants more" in failed.cause.line
        await eventually(lambda: made.look() is not None and made.own() == whole(place), PATIENCE)
        assert made.look().state == "failed"
        assert len(made.session.state.earlier) == 1


@LOGS
async def test_the_old_verdict_is_never_shown_for_the_new_one(place: Place, real_sshd: Sshd, append: bool) -> None:
    async with relaunched(place, real_sshd, append=append) as made:
        made.behave("slow")
        at_once = await made.restart()
        assert (at_once.state, at_once.phase, at_once.attempt) == ("starting", "launch", 2)
        assert await made.sees(LOOK + 3) == ["starting"]
        assert made.look().attempt == 2
        assert not [warning for warning in made.look().warnings if warning.kind in ("port", "log-gap")]
        await eventually(lambda: made.look() is not None and made.own() == whole(place), PATIENCE)
        assert made.session.state.server is not None
        assert (made.session.state.server.pid, made.session.state.attempt.logged) == (await made.place.one(), True)


@LOGS
@pytest.mark.parametrize("words", [("ready",), ("ready", "undated")], ids=["dated", "undated"])
async def test_one_that_is_ready_before_it_is_found(
    place: Place, real_sshd: Sshd, append: bool, words: tuple[str, ...]
) -> None:
    async with relaunched(place, real_sshd, *words[1:], append=append) as made:
        made.behave(*words)
        at_once = await made.restart()
        assert (at_once.state, at_once.phase, at_once.attempt) == ("starting", "launch", 2)
        await made.reaches("ready", attempt=2)
        assert await made.sees(1) == ["ready"]
        await eventually(lambda: made.look() is not None and made.own() == whole(place), PATIENCE)


@LOGS
async def test_one_after_the_other(place: Place, real_sshd: Sshd, append: bool) -> None:
    async with relaunched(place, real_sshd, append=append) as made:
        for attempt in (2, 3):
            made.behave("ready")
            assert (await made.restart()).attempt == attempt
            await made.reaches("ready", attempt=attempt)
        await eventually(lambda: made.look() is not None and made.own() == whole(place), PATIENCE)
        assert len(made.session.state.earlier) == 2


@LOGS
async def test_one_that_was_left_in_the_middle_and_gone_on_with(place: Place, real_sshd: Sshd, append: bool) -> None:
    async with relaunched(place, real_sshd, append=append) as made:
        made.behave("slow", "fails")
        with pytest.raises(BringupError, match="ended at once"):
            await made.restart()
        left = await made.session.unfinished()
        assert left is not None
        made.behave("ready")
        await made.session.resume(left)
        at_once = made.look()
        assert (at_once.state, at_once.phase) == ("starting", "launch")
        await made.reaches("ready", attempt=at_once.attempt)
        assert await made.sees(1) == ["ready"]
        await eventually(lambda: made.look() is not None and made.own() == whole(place), PATIENCE)


@LOGS
async def test_somebody_else_who_watches_it(place: Place, real_sshd: Sshd, append: bool) -> None:
    """What the new server says before the other console finds it is taken for its own there, too."""

    async def connect() -> Host:
        return await SshHost.login("box", options=real_sshd.options())

    async with relaunched(place, real_sshd, append=append) as made:
        other = Session(connect, Target(name="box", within=os.getpid()), made.knowledge)
        await other.open()
        try:
            await eventually(lambda: other.verdict().state == "ready", PATIENCE)
            made.behave("ready")
            await made.restart()
            new = await place.one()
            await eventually(lambda: other.state.server is not None and other.state.server.pid == new, PATIENCE)
            await eventually(lambda: (other.verdict().state, other.verdict().attempt) == ("ready", 2), PATIENCE)
        finally:
            await other.close()
