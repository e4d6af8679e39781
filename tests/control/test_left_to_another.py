"""What had started a server and lives on may start it again, at any time: nothing is launched beside it unasked."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from engineserver import Place
from leftopen import unfinished
from lefttoanother import above, again, left_to
from placedhost import Placed
from waiting import alive, eventually

from bringup.core.errors import BringupError
from bringup.hosts.control import LeftToAnother, Pace, resume, stop, survey
from bringup.hosts.discover.candidates import Candidate

SUPERVISOR = "import subprocess, time\nwhile True:\n    subprocess.call({line!r}, shell=True)\n    time.sleep(104)\n"
LATER = "{line}\nsleep 104\nexec bash run.sh\n"
"""A script that begins anew without a loop that could be seen in it."""


async def test_a_script_that_begins_anew_later(host: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(LATER.format(line=place.line()))
    script = place.start("bash", "run.sh")
    server = await place.see(host, await place.one())
    assert server.launcher.respawns is None
    undecided = await left_to(host, place, server, script.pid)
    assert undecided.what == (
        f"The server on box was stopped; PID {script.pid} (bash run.sh), which had started it, still runs: it may start"
        " it again. Nothing was launched from here, so that there are never two servers: no server runs."
    )
    left = await unfinished(host, token="ours")
    assert left is not None
    assert left.can == ("launch", "discard")
    assert "after the stop: what had started the server may start it again; the old server has ended" in left.sentence
    started = await resume(host, left, report=lambda _: None, watch=0)
    assert await place.one() == started.pid
    assert (place.kept(), place.secrets()) == ([], [])


async def test_what_it_started_meanwhile_is_never_launched_a_second_time(local: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(f"{place.line()}\ncat <go\n{place.line()}\n")
    os.mkfifo(place.folder / "go")
    script = place.start("bash", "run.sh")
    await left_to(local, place, await place.see(local, await place.one()), script.pid)
    left = await unfinished(local, token="ours")
    assert left is not None
    (place.folder / "go").write_text("")
    second = await place.one()
    with pytest.raises(BringupError, match=rf"PID {second}"):
        await resume(local, left, report=lambda _: None, watch=0)
    assert place.running() == [second]


async def test_it_is_launched_all_the_same_where_that_is_asked_for(local: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(LATER.format(line=place.line()))
    script = place.start("bash", "run.sh")
    server = await place.see(local, await place.one())
    started = await again(local, server, regardless=True, wait=None)
    assert await place.one() == started.pid
    assert alive(script.pid)


async def test_a_known_loop_is_not_raced_even_then(local: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\nsleep 104\ndone\n")
    place.start("bash", "run.sh")
    with pytest.raises(LeftToAnother, match="has not started it again yet"):
        await again(local, await place.see(local, await place.one()), regardless=True)
    assert place.running() == []


def step_of(place: Place) -> str:
    """Return how far the one action is that is written down."""
    return "".join((folder / "step").read_text().strip() for folder in place.kept() if (folder / "step").exists())


@pytest.mark.parametrize("script", [LATER, "while :; do\n{line}\nsleep 104\ndone\n"], ids=["unknown", "loop"])
async def test_a_cut_while_it_is_waited_for_changes_nothing_of_that(local: Placed, place: Place, script: str) -> None:
    (place.folder / "run.sh").write_text(script.format(line=place.line()))
    above = place.start("bash", "run.sh")
    server = await place.see(local, await place.one())
    work = asyncio.create_task(again(local, server, wait=600.0))
    await eventually(lambda: place.running() == [] and step_of(place) == "returning", 60.0)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    left = await unfinished(local, token="ours")
    assert left is not None
    assert "ago while it was waited whether what had started it starts it again, or ends;" in left.sentence
    assert ([pid for pid, _ in left.starters], left.respawns) == ([above.pid], script != LATER)
    with pytest.raises(LeftToAnother, match=rf"PID {above.pid} \(bash run.sh\)"):
        await resume(local, left, report=lambda _: None, watch=0)
    assert place.running() == []
    left = await unfinished(local, token="theirs")
    assert left is not None
    assert (left.step, left.busy) == ("undecided", False)
    if left.respawns:
        with pytest.raises(LeftToAnother):
            await resume(local, left, report=lambda _: None, watch=0)
        assert place.running() == []
    else:
        started = await resume(local, left, report=lambda _: None, watch=0)
        assert await place.one() == started.pid


async def test_a_supervising_program(host: Placed, place: Place) -> None:
    (place.folder / "supervise.py").write_text(SUPERVISOR.format(line=f"exec {place.line()}"))
    program = place.start(sys.executable, "supervise.py")
    await left_to(host, place, await place.see(host, await place.one()), program.pid)


async def test_a_loop_around_a_script_that_only_runs_the_server(local: Placed, place: Place) -> None:
    """The script ends with the server; what stands above that one is what counts."""
    (place.folder / "inner.sh").write_text(f"{place.line()}\n:\n")
    (place.folder / "outer.sh").write_text("while :; do\nbash inner.sh\nsleep 104\ndone\n")
    outer = place.start("bash", "outer.sh")
    await left_to(local, place, await place.see(local, await place.one()), outer.pid)


async def test_all_that_stands_above_is_named_the_nearest_first(local: Placed, place: Place) -> None:
    (place.folder / "inner.sh").write_text(f"echo $$ >inner\n{place.line()}\nsleep 104\n")
    (place.folder / "outer.sh").write_text("while :; do\nbash inner.sh\nsleep 104\ndone\n")
    outer = place.start("bash", "outer.sh")
    server = await place.see(local, await place.one())
    inner = int((place.folder / "inner").read_text())
    undecided = await left_to(local, place, server, inner, outer.pid)
    said = f"PID {inner} (bash inner.sh), which had started it, and what stands above (PID {outer.pid}) still run: they"
    assert said in undecided.what


async def test_a_shell_that_is_fed_its_script(local: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(f"{place.line()}\nsleep 104\n")
    shell = place.start("bash", "-c", "exec bash <run.sh")
    await left_to(local, place, await place.see(local, await place.one()), shell.pid)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_a_loop_in_a_pane(local: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\nsleep 104\ndone\n")
    tmux = ("tmux", "-S", str(place.folder / "socket"), "-f", "/dev/null")
    place.start(*tmux, "new-session", "-d", "-s", "llm", "-c", str(place.folder), "bash", "run.sh")
    server = await place.see(local, await place.one(), within=None)
    assert (server.launcher.kind, server.launcher.respawns) == ("tmux", True)
    assert "has a loop and can start it again" in server.launcher.detail
    with pytest.raises(LeftToAnother, match="has not started it again yet"):
        await again(local, server)
    assert place.running() == []
    subprocess.run([*tmux, "kill-session", "-t", "llm"], check=True)


async def test_a_stop_says_who_may_start_it_again(local: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(LATER.format(line=place.line()))
    script = place.start("bash", "run.sh")
    plan = await survey(local, await place.see(local, await place.one()))
    came = await stop(local, plan, report=lambda _: None, pace=Pace(respawn=0.2))
    assert came.complete
    assert f"PID {script.pid} (bash run.sh), which had started it, still runs" in came.sentence


# --- what does not start it again ---


@pytest.mark.parametrize("last", ["", "\necho over\n"], ids=["the last command", "almost the last one"])
async def test_a_script_that_ends_with_its_server(host: Placed, place: Place, last: str) -> None:
    (place.folder / "run.sh").write_text(f"cd .\n{place.line()}{last}")
    place.start("bash", "run.sh")
    started = await again(host, await place.see(host, await place.one()), wait=None)
    assert await place.one() == started.pid


def test_pid_1_counts_where_it_started_the_server_and_not_where_it_adopted_it() -> None:
    init = Candidate(1, 0, 1, "S", ("python3", "/app/supervise.py"), pgid=1, sid=1)
    child = Candidate(50, 1, 9, "S", ("python3", "server"), pgid=1, sid=1)
    assert above(child, init) == (1,)
    assert above(replace(child, pgid=50, sid=50), init) == ()
    assert above(child, replace(init, argv=("/sbin/tini", "--"))) == ()


def test_a_command_that_is_told_to_a_shell_is_above_as_long_as_it_runs() -> None:
    shell = Candidate(30, 1, 2, "S", ("sh", "-c", "server; sleep 9; server"), pgid=30, sid=30)
    server = Candidate(40, 30, 3, "S", ("python3", "server"), pgid=30, sid=30)
    assert above(server, shell) == (30,)


@pytest.mark.parametrize("top", ["/usr/sbin/cron", "anacron", "slurmstepd: [4.0]", "sshd: root@notty", "sleep"])
def test_what_begins_a_session_starts_nothing_again(top: str) -> None:
    first = Candidate(20, 1, 1, "S", (*top.split(), "-f"), pgid=20, sid=20)
    shell = Candidate(30, 20, 2, "S", ("/bin/sh", "-c", "server >log"), pgid=30, sid=30)
    server = Candidate(40, 30, 3, "S", ("python3", "server"), pgid=30, sid=30)
    assert above(server, shell, first) == (30,)


def test_a_program_that_keeps_up_what_it_starts_is_above_although_a_session_begins_with_it() -> None:
    keeper = Candidate(20, 1, 1, "S", ("/usr/bin/python3", "supervisord"), pgid=20, sid=20)
    server = Candidate(40, 20, 3, "S", ("python3", "server"), pgid=40, sid=40)
    assert above(server, keeper) == (20,)
    assert above(server, replace(keeper, argv=("supervisord", "-n"))) == (20,)


@pytest.mark.parametrize(
    "wrapper", ["timeout 9h", "flock -n lock", "uv run", "/usr/bin/python3 /opt/conda/bin/conda run", "su - llm -c"]
)
def test_what_ends_with_its_server_starts_nothing_again(wrapper: str) -> None:
    loop = Candidate(20, 1, 1, "S", ("bash", "run.sh"), pgid=20, sid=20)
    outer = Candidate(30, 20, 2, "S", (*wrapper.split(), "server"), pgid=20, sid=20)
    server = Candidate(40, 30, 3, "S", ("python3", "server"), pgid=20, sid=20)
    assert above(server, outer, loop) == (20,)


@pytest.mark.parametrize(("words", "told"), [("timeout 3600", True), ("nice -n 5", False)])
async def test_what_binds_a_server_and_is_not_repeated_is_told(
    local: Placed, place: Place, words: str, told: bool
) -> None:
    shell = place.start("bash", "-c", f"{words} {place.line()}; exit")
    server = await place.see(local, await place.one())
    assert (f"It runs under {words}" in server.launcher.detail) is told
    assert ("a restart does not repeat that" in server.launcher.detail) is told
    shell.kill()
