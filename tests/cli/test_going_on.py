"""What `bringup restart` makes of an action that was left in the middle: one server, or a sentence why not."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from ui.acts import cut

from bringup.cli import left_over
from bringup.cli.left_over import forget, go_on
from bringup.core.errors import BringupError, UsageError
from bringup.core.events import Server
from bringup.core.state import State
from bringup.hosts.control import Unfinished
from bringup.report.commands import THIS_MACHINE
from bringup.session.session import Session

OLD = Server(pid=100, start=1, engine="sglang", argv=("python",), port=30000)


class Asked:
    """A session on a host where something was left in the middle."""

    def __init__(self, *lefts: Unfinished, server: Server | None = None) -> None:
        self.lefts = list(lefts)
        self.state = State(node="gpu-a", server=server)
        self.did: list[str] = []

    async def unfinished(self) -> Unfinished | None:
        return self.lefts.pop(0) if len(self.lefts) > 1 else self.lefts[0] if self.lefts else None

    async def resume(self, left: Unfinished) -> None:
        self.did.append("resume")

    async def discard(self, left: Unfinished) -> None:
        self.did.append("discard")

    def hear(self, heard: object) -> None:
        """Nothing is told."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "_EVERY", 0.01)
    monkeypatch.setattr(left_over, "_ENDS", 0.05)


async def going_on(session: Asked, *, yes: bool = True, read_only: bool = False) -> bool:
    return await go_on(cast(Session, session), "box", yes=yes, read_only=read_only)


async def test_with_nothing_left_it_begins_as_always() -> None:
    assert not await going_on(Asked())


async def test_what_was_kept_is_launched() -> None:
    session = Asked(cut())
    assert await going_on(session)
    assert session.did == ["resume"]


async def test_a_server_that_ends_by_itself_is_waited_for() -> None:
    session = Asked(cut(step="stopping", alive=((100, 1),)), cut(step="stopping"), server=OLD)
    assert await going_on(session)
    assert session.did == ["resume"]


async def test_one_that_does_not_end_is_restarted_anew() -> None:
    session = Asked(cut(step="stopping", alive=((100, 1),)), server=OLD)
    assert not await going_on(session)
    assert session.did == []


async def test_a_new_server_that_runs_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    session = Asked(cut(step="launching", new=(200, 9), new_alive=True))
    assert await going_on(session)
    assert session.did == ["discard"]
    assert "is done: the new server runs as PID 200." in capsys.readouterr().out


async def test_one_that_is_under_way_is_not_touched() -> None:
    session = Asked(cut(busy=True, age=12))
    with pytest.raises(BringupError, match=r"is under way by ada@laptop.*Nothing was done.*cut off in 18 s\."):
        await going_on(session)
    assert session.did == []


async def test_a_launch_under_way_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    launched = cut(step="launched", new=(200, 9), new_alive=True)
    session = Asked(cut(step="launching", busy=True), launched)
    assert await going_on(session)
    assert session.did == ["discard"]
    assert "the new server runs as PID 200." in capsys.readouterr().out


async def test_a_part_of_the_old_server_stands_against_it() -> None:
    session = Asked(cut(alive=((101, 2),)))
    with pytest.raises(BringupError) as refused:
        await going_on(session)
    assert (session.did, refused.value.what) == ([], "Nothing was done.")
    assert refused.value.hint == (
        "In `bringup watch box`, o ends what lives on; then `bringup restart box --port 30000` launches it again."
        " `bringup restart box --port 30000 --discard` forgets what was left in the middle."
    )


async def test_where_nothing_was_kept_a_stop_ends_the_part() -> None:
    with pytest.raises(BringupError) as refused:
        await going_on(Asked(cut(alive=((101, 2),), kept=False)))
    assert refused.value.hint.startswith("`bringup stop box --port 30000` ends what lives on. `bringup restart box ")


async def test_what_is_done_is_not_called_given_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(left_over, "confirmed", lambda question: not asked.append(question))
    for left in (cut(step="launched", new=(200, 9), new_alive=True), cut()):
        session = Asked(left)
        await forget(cast(Session, session), "box", yes=False, read_only=False)
        assert session.did == ["discard"]
    assert asked == [
        "Have it told no more? No process is touched.",
        "Discard what was kept of it? No process is touched.",
    ]
    assert capsys.readouterr().out.splitlines() == [
        "The restart of the sglang server on port 30000 (PID 100) that was cut off is done: the new server runs as"
        " PID 200.",
        "The restart is given up; what was kept of it is removed.",
    ]


async def test_read_only_goes_on_with_nothing() -> None:
    session = Asked(cut())
    with pytest.raises(BringupError, match="Leave --read-only out"):
        await going_on(session, read_only=True)
    assert session.did == []


async def test_no_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_over, "confirmed", lambda question: False)
    session = Asked(cut())
    with pytest.raises(BringupError, match="Nothing was done"):
        await going_on(session, yes=False)
    with pytest.raises(BringupError, match="Nothing was done"):
        await forget(cast(Session, session), "box", yes=False, read_only=False)
    assert session.did == []


OTHER = replace(OLD, pid=77, start=5, port=30001)


async def test_where_another_server_runs_it_is_asked_which_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    session = Asked(cut(), server=OTHER)
    with pytest.raises(UsageError) as error:
        await going_on(session)
    assert session.did == []
    assert "A restart of the sglang server on port 30000" in capsys.readouterr().err
    assert error.value.what == (
        "That is not the server that runs now (PID 77 on port 30001): which of them is meant? Nothing was done."
    )
    assert error.value.hint == (
        "`bringup restart box --pid 77` restarts the one that runs, `bringup restart box --pid 100` goes on with the"
        " other, `bringup restart box --port 30000 --discard` forgets that."
    )


async def test_what_another_console_does_to_another_server_is_left_to_it() -> None:
    session = Asked(cut(busy=True), server=OTHER)
    with pytest.raises(UsageError) as error:
        await going_on(session)
    assert (session.did, error.value.hint) == ([], "`bringup restart box --pid 77` restarts the one that runs.")


async def test_what_was_done_long_ago_is_no_answer_to_another_restart() -> None:
    new = replace(OLD, pid=200, start=9)
    session = Asked(cut(step="launching", new=(200, 9), new_alive=True, age=7200), server=new)
    assert not await going_on(session)
    assert session.did == ["discard"]


async def test_a_launch_that_was_cut_off_and_came_is_restarted() -> None:
    new = replace(OLD, pid=200, start=9)
    session = Asked(cut(action="launch", step="launched", new=(200, 9), new_alive=True), server=new)
    assert not await going_on(session)
    assert session.did == ["discard"]


async def test_a_launch_that_was_cut_off_has_nothing_to_do_with_another_server() -> None:
    session = Asked(cut(action="launch", step="launching"), server=OTHER)
    assert not await going_on(session)
    assert session.did == []


async def test_on_this_machine_no_host_is_named() -> None:
    with pytest.raises(BringupError) as error:
        await go_on(cast(Session, Asked(cut(alive=((101, 2),)))), THIS_MACHINE, yes=True, read_only=False)
    assert error.value.hint.startswith("In `bringup watch`, o ends what lives on; then `bringup restart --port 30000`")
