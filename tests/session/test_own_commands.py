"""The commands of a target are used on its own server, and not on another that the operator has chosen."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fakehost import Tree, running
from simulated import needs_linux
from waiting import eventually

from bringup.config.shapes import Target as Configured
from bringup.core.events import Launcher, LogTarget, Server
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import LaunchCommand, Started
from bringup.hosts.local import LocalHost
from bringup.session.knowledge import Knowledge
from bringup.session.planning import OwnCommands
from bringup.session.session import Session
from bringup.session.target import Target

KIMI = Server(pid=100, start=1, engine="sglang", argv=(), port=30000, logs=(LogTarget("/kimi.log", "file", ""),))
OTHER = Server(pid=200, start=2, engine="sglang", argv=(), port=30001, logs=(LogTarget("/other.log", "file", ""),))
UNIT = Launcher(kind="systemd", name="kimi.service")
COMMANDS: dict[str, Any] = {"stop_command": "systemctl stop kimi", "launch": LaunchCommand("systemctl start kimi")}


def why_not(server: Server, own: Configured, *, by_hand: bool = True, **more: Any) -> str:
    return OwnCommands(Target("kimi", own=own, by_hand=by_hand, **(more or COMMANDS))).why_not(server)


@pytest.mark.parametrize(
    ("own", "names"),
    [
        (Configured(port=30000), "port 30000"),
        (Configured(pid=100), "PID 100"),
        (Configured(log="/kimi.log"), "log /kimi.log"),
        (Configured(unit="kimi"), "unit kimi"),
        (Configured(pid=7, port=30000), "PID 7, port 30000"),
    ],
)
def test_what_the_target_names_proves_its_server_and_no_other(own: Configured, names: str) -> None:
    kimi = replace(KIMI, launcher=UNIT)
    assert why_not(kimi, own) == ""
    assert why_not(OTHER, own) == (
        f"The target's own stop and launch commands are not used: this is not known to be its server ({names})."
    )
    assert why_not(OTHER, own, by_hand=False) == ""


def test_a_port_that_nobody_knows_proves_nothing() -> None:
    assert why_not(replace(KIMI, port=None), Configured(port=30000))
    assert why_not(replace(KIMI, node_rank=1), Configured(port=30000))


def test_the_port_of_its_launch_command_proves_it_where_it_names_none() -> None:
    assert why_not(KIMI, Configured(launch="serve --port 30000")) == ""
    assert why_not(OTHER, Configured(launch="serve --port 30000"))
    assert why_not(OTHER, Configured(port=30000, launch="serve --port 30001"))
    assert why_not(replace(KIMI, port=None), Configured(launch="serve"))


def test_a_target_that_names_nothing_proves_nothing() -> None:
    assert why_not(KIMI, Configured(), stop_command="kill-kimi") == (
        "The target's own stop command is not used: the target names no port, PID or log by which this would be known"
        " as its server."
    )
    assert "own launch command is not used" in why_not(KIMI, Configured(), launch=LaunchCommand("serve"))
    assert why_not(KIMI, Configured(), stop_command="") == "", "there is no command that would be missed"


def test_a_pick_holds_for_all_that_follows_it_and_is_undone_by_another() -> None:
    commands = OwnCommands(Target("kimi", own=Configured(), **COMMANDS))
    commands.pick(KIMI, KIMI)
    assert commands.why_not(KIMI) == ""
    commands.pick(OTHER, KIMI)
    assert commands.why_not(OTHER)
    assert commands.why_not(replace(OTHER, pid=201, start=9)), "it was restarted"
    assert commands.why_not(KIMI) == "", "it is still the one that is watched"
    commands.pick(replace(OTHER, pid=300), OTHER)
    assert commands.why_not(replace(OTHER, pid=300))
    commands.pick(KIMI, OTHER)
    assert commands.why_not(KIMI) == ""
    assert commands.why_not(replace(KIMI, pid=101, start=9)) == "", "it was restarted"


@dataclass
class Watched:
    """A console on the newest of two servers, of a target that names neither."""

    session: Session
    kimi: Tree
    other: Tree

    async def choose(self, tree: Tree) -> None:
        """As `o` does."""
        servers = (self.session.state.server, *self.session.state.others)
        self.session.choose(next(each for each in servers if each is not None and each.pid == tree.pid))
        await eventually(lambda: self.session.state.server is not None and self.session.state.server.pid == tree.pid)


@asynccontextmanager
async def watching(folder: Path, knowledge: Knowledge) -> AsyncIterator[Watched]:
    async def connect() -> Host:
        return LocalHost("box")

    for name in ("other", "kimi"):
        (folder / name).mkdir()
    with (
        running(folder / "other", args=("--model-path", "/models/other", "--port", "30131")) as other,
        running(folder / "kimi", args=("--model-path", "/models/kimi", "--port", "30130")) as kimi,
    ):
        session = Session(connect, Target("kimi", within=os.getpid(), **COMMANDS), knowledge)
        await session.open()
        try:
            await eventually(lambda: session.state.server is not None and bool(session.state.others))
            yield Watched(session, kimi, other)
        finally:
            await session.close()


@needs_linux
async def test_the_console_stops_another_server_without_them(
    tmp_path: Path, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    launches: list[LaunchCommand | None] = []

    async def restart(*_: object, command: LaunchCommand | None, **__: object) -> Started:
        launches.append(command)
        return Started(0, 0)

    monkeypatch.setattr(control, "restart", restart)
    async with watching(tmp_path, knowledge) as watched:
        session = watched.session
        own = await session.plan()
        assert own.server.pid == watched.kimi.pid
        assert (own.stop_command, own.start_command) == ("systemctl stop kimi", "systemctl start kimi")
        assert own.unused == ""
        await watched.choose(watched.other)
        plan = await session.plan()
        assert plan.server.pid == watched.other.pid
        assert "OWN" not in plan.ways
        assert (plan.stop_command, plan.start_command, plan.server.launcher.stop) == ("", "", "")
        assert plan.unused.startswith("The target's own stop and launch commands are not used: ")
        assert plan.argv, "its own command line can be edited"
        await watched.choose(watched.kimi)
        again = await session.plan()
        assert (again.stop_command, again.start_command, again.unused) == (own.stop_command, own.start_command, "")
        # What was shown is done, whatever is watched by then.
        await session.restart(plan)
        await session.restart(again)
        assert launches == [None, COMMANDS["launch"]]
