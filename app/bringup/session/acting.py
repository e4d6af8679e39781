"""The words and the plan of what is done to a server: what it touches, who does it, and what came of it."""

from __future__ import annotations

import getpass
import os
import shlex
import socket
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from bringup.core.events import Server
from bringup.core.redact import mask_argv
from bringup.engines.endings import ending_of
from bringup.hosts import control
from bringup.hosts.control import LaunchCommand, Pace, Started, Survey, Unfinished
from bringup.hosts.control.kept import KeptCommand
from bringup.hosts.control.own_command import PLACE, is_own
from bringup.hosts.control.processes import Signal
from bringup.hosts.control.relaunch import Launchable
from bringup.session.console import Kept, StopPlan
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
        server=_placed(server, found, launch),
        command=shlex.join(shown),
        members=survey.members,
        bystanders=survey.bystanders,
        log=", ".join(dict.fromkeys(target.path for target in server.logs)),
        restartable="" if own or (server.launcher.respawns and not server.launcher.bound) else found.restartable,
        swept=survey.swept,
        ways=("OWN", *SIGNALS) if server.launcher.stop else SIGNALS,
        start_command=launch.command if launch else server.launcher.start if own else "",
        log_fate="" if own else found.log,
        argv=() if own or server.launcher.respawns else shown,
        fixed=_fixed(server, launch, own=own),
        patience=ending.patient if drains.patient is None else drains.patient,
        launched_by=control.launcher_words(server.launcher),
        unasked=survey.unasked,
        waits_for_gpus=survey.waits_for_gpus,
        launch=launch,
    )
    return plan.waiting(ending.drain if drains.drain is None else drains.drain)


def _fixed(server: Server, launch: LaunchCommand | None, *, own: bool) -> str:
    """Return why a restart cannot launch an edited command, and where it is edited instead; "" where it can."""
    if launch is not None:
        return "A restart runs `launch` of the target: its command is edited in config.toml."
    launcher = server.launcher
    who = f"{launcher.words[:1].upper()}{launcher.words[1:]}" or "Its launcher"
    if own or launcher.respawns:
        return f"{who} starts it: its command is edited there."
    return ""


def _placed(server: Server, found: Launchable, launch: LaunchCommand | None) -> Server:
    """Return a server whose launcher is said to be the place of a restart only where the new server will run in it.

    What does not write to a terminal itself, or comes from the configuration, is launched outside of that. The
    sentences of such launchers (launchers.toml, configured.py) tell of the restart last, behind a semicolon.
    """
    launcher = server.launcher
    if PLACE not in launcher.start or (found.inside and launch is None):
        return server
    told, semicolon, _ = launcher.sentence.partition(";")
    sentence = f"{told}." if semicolon else ""
    if launch is None and not found.restartable and not launcher.respawns:
        outside = "a restart runs outside of it, in a session of its own."
        sentence = f"{told}; {outside}" if semicolon else outside.capitalize()
    return replace(server, launcher=replace(launcher, sentence=sentence))


def make_kept(node: str, left: Unfinished, command: KeptCommand) -> Kept:
    """Return what there is to edit of a restart in the middle; secrets are those of what would be launched now."""
    pid, start = left.server
    server, ran = Server(pid=pid, start=start, engine="", argv=command.kept), mask_argv(command.ran)
    return Kept(StopPlan(node, server, shlex.join(ran), (), argv=ran), mask_argv(command.kept))


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
    parts += [text for text in (*started.noted, started.became, started.unchecked, started.mortal) if text]
    return "; ".join(parts) + "."


def who() -> str:
    """Return who acts, for others who want to act too."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError):
        # A user without a name, as in a container; Python 3.11 and 3.12 raise KeyError then.
        return f"user {os.getuid()}@{socket.gethostname()}"
