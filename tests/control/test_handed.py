"""What a configured command has left to others is known by its words, and asked after."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed

from bringup.hosts.control import (
    LaunchCommand,
    LaunchFailed,
    Pace,
    Started,
    claim,
    launch,
    launched_words,
    restart,
    survey,
)
from bringup.hosts.control.handed import ask_after, recognise
from bringup.session.acting import launched

KINDS = tomllib.loads(resources.files("bringup.hosts.discover").joinpath("launchers.toml").read_text("utf-8"))["handed"]
SAMPLES = [(kind, line, name) for kind in KINDS for line, name in kind["samples"].items()]
CONTAINER = "4f3c1a0b9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a"


@pytest.mark.parametrize(("kind", "line", "name"), SAMPLES, ids=[line for _, line, _ in SAMPLES])
def test_samples(kind: dict[str, str], line: str, name: str) -> None:
    for said in (line, f"pulling / {line} / done"):
        found = recognise(said)
        assert found is not None
        assert found.lives == kind["lives"].replace("{name}", name)


def test_other_words_tell_nothing() -> None:
    for said in ("", "4711", f"sha256:{CONTAINER}", "a server starts", "Container llm  Starting", "pod/llm unchanged"):
        assert recognise(said) is None
    long = recognise(CONTAINER)
    assert long is not None
    assert long.words == "the container 4f3c1a0b9d8e"


async def at_once(_: float) -> None:
    """Take no time."""


def handed(place: Place, text: str) -> LaunchCommand:
    return LaunchCommand(text, str(place.folder), place.environ, str(place.log))


async def test_a_job_that_waits_is_told_with_its_reason(local: Placed, place: Place) -> None:
    place.program("scontrol", 'echo "JobId=4711 JobState=PENDING Reason=Resources"\n')
    started, ended = await ask_after(local, Started(0, 0, handed="Submitted batch job 4711"), at_once)
    assert not ended
    told = "job 4711 of Slurm does not run yet (PENDING, reason Resources)"
    assert launched_words(started) == (
        "The command has ended with exit status 0, with the words: Submitted batch job 4711."
        f" What it started is looked for: {told}."
    )
    assert told in launched(started), "a restart by a configured command tells it, too"


async def test_what_nobody_knows_is_as_it_was(local: Placed, place: Place) -> None:
    started = Started(0, 0, handed="Submitted batch job 4711")
    place.program("scontrol", "exit 1\n")
    assert await ask_after(local, started, at_once) == (started, False)
    other = Started(0, 0, handed="begun")
    before = len(local.scripts)
    assert await ask_after(local, other, at_once) == (other, False)
    assert await ask_after(local, Started(7, 9), at_once) == (Started(7, 9), False)
    assert len(local.scripts) == before


async def test_what_is_back_at_the_second_look_has_not_ended(local: Placed, place: Place) -> None:
    place.program("docker", '[ -f "$PLACE/seen" ] && echo runs running || echo ended exited; touch "$PLACE/seen"\n')
    started, ended = await ask_after(local, Started(0, 0, handed=CONTAINER), at_once)
    assert (started.became, ended) == ("the container 4f3c1a0b9d8e runs (running)", False)


@pytest.mark.long
async def test_a_container_that_has_ended_by_then_is_a_launch_that_failed(host: Placed, place: Place) -> None:
    place.program(
        "docker",
        f'case $1 in run) echo {CONTAINER} ;; inspect) echo "ended exited, exit status 1: no such image" ;; esac\n',
    )
    wanted = (
        r"^What was launched on box does not run any more\. The command ended with exit status 0 \(4f3c.*2a\): the"
        r" container 4f3c1a0b9d8e has ended \(exited, exit status 1: no such image\)\. See .*server\.log"
    )
    with pytest.raises(LaunchFailed, match=wanted):
        await launch(host, "kimi", handed(place, "docker run -d llm"), watch=60)
    assert (place.kept(), place.secrets()) == ([], [])


@pytest.mark.long
async def test_a_container_that_has_ended_by_then_is_a_restart_that_failed(host: Placed, place: Place) -> None:
    place.program(
        "docker",
        f'case $1 in run) echo {CONTAINER} ;; inspect) echo "ended exited, exit status 1: no such image" ;; esac\n',
    )
    place.start(*place.command())
    server = await place.see(host, await place.one())
    claimed = await claim(host, server, "restart", token="ours")
    plan, command = await survey(host, server), handed(place, "docker run -d llm")
    pace = Pace(drain=20.0, respawn=0.0)
    with pytest.raises(LaunchFailed, match=r"does not run any more.*no such image\). See .*server\.log"):
        await restart(host, plan, claimed, report=lambda _: None, command=command, pace=pace, regardless=True, watch=60)
    assert await unfinished(host, token="ours") is None, "the command is in the configuration"
    assert place.secrets() == []
