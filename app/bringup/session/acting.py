"""The words and the plan of what is done to a server: what it touches, who does it, and what came of it."""

from __future__ import annotations

import getpass
import shlex
import socket
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from bringup.core.redact import mask_argv
from bringup.engines.endings import ending_of
from bringup.hosts import control
from bringup.hosts.control import LaunchCommand, Pace, Started, Survey, Unfinished
from bringup.hosts.control.own_command import is_own
from bringup.hosts.control.processes import Signal
from bringup.hosts.control.relaunch import Launchable
from bringup.session.console import StopPlan
from bringup.session.deeds import About, Kind
from bringup.session.target import Drains

SIGNALS = ("TERM", "GENTLE", "INT", "KILL")
"""Ways to stop a server without its launcher's own command; "GENTLE" is SIGTERM, after which nothing is killed."""
KINDS: Mapping[str, Kind] = {"restart": "restart", "resume": "restart", "launch": "launch", "clear": "clear"}
"""What an action of the log is told as; all others as a stop."""


def make_plan(node: str, survey: Survey, found: Launchable, launch: LaunchCommand | None, drains: Drains) -> StopPlan:
    """Return what a stop or restart would touch; `launch` is the configured command of a restart."""
    ending = ending_of(survey.server.engine)
    server = survey.server
    own = is_own(server.launcher.start) or launch is not None
    shown = mask_argv(server.argv)
    plan = StopPlan(
        node=node,
        server=server,
        command=shlex.join(shown),
        members=survey.members,
        bystanders=survey.bystanders,
        log=", ".join(dict.fromkeys(target.path for target in server.logs)),
        restartable="" if own or server.launcher.respawns else found.restartable,
        swept=survey.swept,
        ways=("OWN", *SIGNALS) if server.launcher.stop else SIGNALS,
        start_command=launch.command if launch else server.launcher.start if own else "",
        log_fate="" if own else found.log,
        argv=() if own or server.launcher.respawns else shown,
        patience=ending.patient if drains.patient is None else drains.patient,
        launched_by=control.launcher_words(server.launcher),
        unasked=survey.unasked,
    )
    return plan.waiting(ending.drain if drains.drain is None else drains.drain)


def way_of(plan: StopPlan, way: str) -> tuple[Signal, Pace]:
    """Return the signal and the times of one of the plan's ways; "" is the first of them."""
    way = way or plan.ways[0]
    pace = Pace(drain=plan.drain, hurry=plan.hurry)
    if way == "GENTLE":
        return "TERM", replace(pace, drain=plan.patience, kills=False)
    return cast(Signal, way), pace


def survey_of(plan: StopPlan) -> Survey:
    """Return what was looked at for a plan."""
    return Survey(plan.server, plan.members, plan.bystanders, swept=plan.swept)


def kind_of(left: Unfinished) -> Kind:
    """Return what an action that was left in the middle is told as."""
    return "restart" if left.action == "restart" else "stop"


def about(plan: StopPlan, action: str, way: str = "", command: str = "") -> About:
    """Return what is written down of an action on a planned server."""
    return doing(action, command or plan.command, tuple(member.pid for member in plan.members), way)


def doing(action: str, what: str = "", pids: tuple[int, ...] = (), way: str = "") -> About:
    """Return what is written down of an action of whoever is logged in here."""
    return About(who(), action, what, pids, way)


def launched(started: Started) -> str:
    """Return in a sentence what was launched, and what is not as it was."""
    parts = [f"Launched again as PID {started.pid}" if started.pid else "Started again by its launcher"]
    parts += [f"the old log is {path}" for path in started.aside]
    parts += [f"it could not be given the {what}" for what in started.unlike]
    parts += [started.unchecked] if started.unchecked else []
    return "; ".join(parts) + "."


def who() -> str:
    """Return who acts, for others who want to act too."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except OSError:
        return socket.gethostname()
