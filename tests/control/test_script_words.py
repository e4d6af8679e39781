"""What is told of a server that a script started: a restart either repeats the launch, or leaves the start to that."""

from __future__ import annotations

from bringup.core.events import Launcher, Server
from bringup.hosts.control import with_stop_command
from bringup.hosts.discover.candidates import Candidate
from bringup.hosts.discover.launched import PLAIN, Place, supervised, with_starters
from bringup.hosts.discover.launchers import load_kinds

SCRIPT = Candidate(pid=90, ppid=1, start=4, state="S", argv=("bash", "/opt/serve.sh"))


def told(*flags: str) -> Launcher:
    place = Place()
    place.flags |= set(flags)
    return supervised(SCRIPT, place, load_kinds())


def test_what_starts_it_again_is_not_said_to_be_repeated() -> None:
    loop = told("loops")
    assert loop.respawns
    assert "repeats" not in loop.sentence
    assert loop.sentence.startswith("The processes are signalled. The script above it (PID 90) has a loop")
    assert with_stop_command(Server(9, 1, "sglang", (), launcher=loop), "docker stop llm").launcher.sentence == (
        "The script above it (PID 90) has a loop and can start it again after a stop: a restart leaves the start to it."
    )


def test_what_may_start_it_again_is_asked_about_before_it_is_repeated() -> None:
    script = told()
    assert script.sentence.startswith(f"{PLAIN} The script above it (PID 90) may start it again")


def test_beside_a_place_of_its_own_only_the_script_is_told_of() -> None:
    pane = Launcher("tmux", words="the tmux pane llm:0.1", sentence="A restart runs in a new window.")
    for flags in ((), ("loops",)):
        beside = with_starters(pane, (SCRIPT,), told(*flags))
        assert beside.detail.startswith("The script above it (PID 90)")
