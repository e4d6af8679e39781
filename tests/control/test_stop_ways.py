"""A stop goes the way of the launcher, tells how long it waits, and touches what is proven to be the server's only."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cutting import servers
from engineserver import ENGINES, Place, make_docker
from placedhost import Placed
from waiting import alive, eventually, pid_in

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process, Server
from bringup.hosts.control import Busy, Pace, Step, Stopped, claim, release, stop, survey, with_stop_command
from bringup.hosts.control.processes import Signal

WORKERS = {"scheduler", "detokenizer", "controller"}


def is_worker(title: str) -> bool:
    return any((engine.titles.classify(title) or ("",))[0] in WORKERS for engine in ENGINES)


async def end(
    host: Placed, server: Server, way: Signal, drain: float = 60.0, respawn: float | None = None
) -> tuple[Stopped, list[Step]]:
    said: list[Step] = []
    plan = await survey(host, server, (), is_worker)
    pace = Pace(drain=drain, respawn=respawn)
    came = await stop(host, plan, signal=way, report=said.append, pace=pace, is_engine=is_worker)
    return came, said


async def test_a_container_by_its_own_command(host: Placed, place: Place) -> None:
    calls = make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    server = await place.see(host, await place.one(), within=None)
    came, said = await end(host, server, "OWN")
    assert came.complete
    assert (came.killed, place.running()) == ((), [])
    assert calls.read_text().splitlines()[-1] == "stop -t 60 llm"
    assert said[0] == Step("Running on the host: docker stop -t 60 llm", 60.0, "stopping")


async def test_a_command_that_fails_is_quoted_and_nothing_is_signalled(host: Placed, place: Place) -> None:
    make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    server = await place.see(host, await place.one(), within=None)
    (place.folder / "docker.refuses").touch()
    with pytest.raises(
        ChannelRefused, match=r"docker stop -t 60 llm failed on box with exit status 1: permission denied"
    ):
        await end(host, server, "OWN")
    assert place.running() == [server.pid]


async def test_no_own_command_runs_for_another_process(local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    marker = place.folder / "ran"
    other = with_stop_command(replace(server, start=server.start - 1), f"touch {marker}")
    came, _ = await end(local, other, "OWN")
    assert came.ended == ()
    assert not marker.exists()
    assert place.running() == [server.pid]


async def test_a_configured_command(local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = with_stop_command(await place.see(local, await place.one()), f"kill -INT {place.running()[0]}")
    assert "comes from the configuration" in server.launcher.detail
    came, _ = await end(local, server, "OWN")
    assert (came.complete, came.killed, place.running()) == (True, (), [])


async def test_a_supervisor_that_starts_it_again_is_told(host: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\ndone\n")
    supervisor = place.start("bash", "run.sh")
    server = await place.see(host, await place.one())
    came, _ = await end(host, server, "TERM", respawn=60.0)
    assert not came.complete
    assert came.again is not None
    assert came.again.pid == await place.one()
    assert came.again.pid != server.pid
    again = f"was started again as PID {came.again.pid} by what stands above it"
    assert f"{again}: end PID {supervisor.pid} (bash run.sh) first, then stop the server again" in came.sentence
    assert alive(supervisor.pid), "what stands above is not touched"


async def test_the_countdown(local: Placed, place: Place) -> None:
    place.start(*place.command("--deaf", "--child"))
    await eventually(lambda: len(place.running()) == 2)
    (above,) = servers(place)
    server = await place.see(local, above)
    moments = iter(range(1000))
    said: list[Step] = []
    plan = await survey(local, server)
    pace = Pace(drain=12.0, sleep=lambda _: asyncio.sleep(0), clock=lambda: float(next(moments)))
    came = await stop(local, plan, report=said.append, pace=pace)
    assert (came.complete, len(came.killed), place.running()) == (True, 2, [])
    left = [step.left for step in said if "SIGKILL in" in step.text and step.left is not None]
    assert len(left) > 3
    assert left == sorted(left, reverse=True)
    assert said[-1] == Step("SIGKILL goes to 2 processes.", None, "killing")


async def test_a_pipeline_keeps_its_other_ends(host: Placed, place: Place) -> None:
    """bash run.sh with a benchmark and a tee in the same group."""
    copy = place.folder / "copy.log"
    (place.folder / "run.sh").write_text(
        f"{place.line('--deaf')} | tee {copy} &\nsleep 101 &\necho $! >bench\n{place.line('--port', '2')} &\nwait\n"
    )
    shell = place.start("bash", "run.sh")
    await eventually(lambda: len(place.running()) == 2)
    await pid_in(place.folder / "bench")
    # What reads from the one is itself for a moment still the shell.
    await eventually(lambda: copy.exists() and copy.read_text() == "a server starts\n")
    pids = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in place.running()}
    target, other = sorted(pids, key=lambda pid: b"--port" in pids[pid])
    plan = await survey(host, await place.see(host, target), (), is_worker)
    bench = await pid_in(place.folder / "bench")
    assert [each.pid for each in plan.members] == [target]
    assert {shell.pid, bench, other} <= {each.pid for each in plan.bystanders}
    assert "tee" in {each.comm for each in plan.bystanders}
    await stop(host, plan, signal="KILL", report=lambda _: None, pace=Pace(respawn=0.0), is_engine=is_worker)
    assert place.running() == [other], "it looks just like the one that was stopped"
    assert alive(shell.pid)
    assert alive(bench)


async def test_a_launcher_that_is_killed_before_its_children(host: Placed, place: Place) -> None:
    place.start(*place.command("--child"))
    await eventually(lambda: len(place.running()) == 2)
    (above,) = servers(place)
    server = await place.see(host, above)
    plan = await survey(host, server, (), is_worker)
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "sglang::scheduler_TP0"])
    try:
        os.kill(server.pid, signal.SIGKILL)
        await eventually(lambda: server.pid not in place.running())
        came = await stop(host, plan, report=lambda _: None, pace=Pace(), is_engine=is_worker)
        assert (came.complete, place.running()) == (True, [])
        assert came.killed == (), "it was asked first, as the dialog says"
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


async def test_a_reused_pid_is_never_signalled(host: Placed, place: Place) -> None:
    place.start(*place.command())
    pid = await place.one()
    server = await place.see(host, pid)
    earlier = Process(pid=pid, ppid=1, start=server.start - 7, title="sglang::scheduler_TP0", pgid=pid, sid=pid)
    plan = replace(await survey(host, replace(server, start=server.start - 7)), members=(earlier,))
    for way in ("TERM", "KILL"):
        await stop(host, plan, signal=way, report=lambda _: None, pace=Pace(drain=0.0, respawn=0.0))  # type: ignore[arg-type]
    assert place.running() == [pid]


async def test_a_second_action_is_refused_while_the_first_one_runs(host: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(host, await place.one())
    first = await claim(host, server, "stop", who="ann@laptop")
    with pytest.raises(Busy, match=rf"A stop of PID {server.pid} on box is under way by ann@laptop"):
        await claim(host, server, "restart", who="bob@desk")
    await release(host, first)
    second = await claim(host, server, "restart")
    await release(host, second)
    assert place.kept() == []


async def test_two_at_once(local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    came = await asyncio.gather(*(claim(local, server, "stop") for _ in range(6)), return_exceptions=True)
    assert len([each for each in came if isinstance(each, Busy)]) == 5


async def test_a_stop_that_was_taken_over_ends(local: Placed, place: Place) -> None:
    place.start(*place.command("--deaf"))
    server = await place.see(local, await place.one())
    plan = await survey(local, server)
    first = await claim(local, server, "stop")
    await claim(local, server, "stop", lease=0)
    with pytest.raises(Busy, match="Another console has taken over"):
        await stop(local, plan, signal="KILL", report=lambda _: None, claimed=first)
    assert place.running() == [server.pid]
