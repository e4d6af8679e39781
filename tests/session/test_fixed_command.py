"""Why a restart cannot launch an edited command, and where it is edited instead."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.events import Launcher, Server
from bringup.hosts.control import LaunchCommand, Survey
from bringup.hosts.control.relaunch import Launchable
from bringup.session.acting import make_plan
from bringup.session.console import StopPlan
from bringup.session.target import Drains

SERVER = Server(pid=1, start=1, engine="sglang", argv=("python",))
UNIT = replace(SERVER, launcher=Launcher(kind="systemd", words="the unit llm.service", respawns=True))


def plan(server: Server, launch: LaunchCommand | None = None) -> StopPlan:
    return make_plan("box", Survey(server, (), ()), Launchable(), launch, Drains())


def test_it_names_the_place_of_the_command() -> None:
    assert plan(SERVER, LaunchCommand("/opt/serve.sh")).fixed == (
        "A restart runs `launch` of the target: its command is edited in config.toml."
    )
    assert plan(UNIT).fixed == "The unit llm.service starts it: its command is edited there."


def test_where_it_can_be_edited_nothing_is_said() -> None:
    assert plan(SERVER).argv
    assert plan(SERVER).fixed == ""
