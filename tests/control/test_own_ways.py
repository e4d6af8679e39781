"""Stops and restarts by the commands of a launcher, or of the configuration, where those fail or do not do all."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
from dataclasses import replace

import pytest
from engineserver import SHIM, Place
from leftopen import unfinished
from placedhost import Placed
from waiting import alive, eventually

from bringup.core.errors import BringupError, ChannelRefused
from bringup.core.events import Server
from bringup.hosts.control import LeftToAnother, Pace, Started, claim, release, restart, stop, survey, with_stop_command

SCANCEL = 'echo "$*" >>"$PLACE/scancel.calls"\n[ ! -f "$PLACE/refuses" ] || { echo "Invalid job id" >&2; exit 1; }\n'
SUPERVISORCTL = """
echo "$*" >>"$PLACE/supervisorctl.calls"
[ "$1" = -c ] && [ -f "$2" ] || { echo "unix:///var/run/supervisor.sock no such file" >&2; exit 4; }
case $3 in
    status) printf 'llm:llm_0                        RUNNING   pid %s, uptime 0:01:00\\n' "$(cat "$PLACE/main")" ;;
    stop) kill -TERM "$(cat "$PLACE/main")" ;;
esac
"""


async def again(host: Placed, server: Server, respawn: float | None = None, watch: int = 0) -> Started:
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    pace = Pace(drain=60.0, respawn=respawn, sleep=quickly)
    return await restart(host, plan, claimed, report=lambda _: None, pace=pace, watch=watch)


async def quickly(seconds: float) -> None:
    await asyncio.sleep(seconds / 5)


def under(place: Place, title: str, *words: str) -> int:
    """Start a server in a session of its own below a process with this title; return the PID of that one."""
    inner = f"exec -a {shlex.quote(title)} bash -c {shlex.quote(SHIM)} above {place.line(*words)}"
    return place.start("bash", "-c", inner).pid


# --- a configured stop command beside a script that starts the server again ---


def loop(place: Place, pause: str) -> tuple[subprocess.Popen[bytes], str]:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\nsleep {pause}\ndone\n")
    (place.folder / "end.sh").write_text(
        'for each in "$PLACE"/pids/*; do kill -TERM "${each##*/}"; done 2>/dev/null; :\n'
    )
    return place.start("bash", "run.sh"), f"sh {place.folder}/end.sh"


async def test_a_configured_stop_does_not_keep_a_loop_from_starting_it_again(local: Placed, place: Place) -> None:
    _, command = loop(place, "0.7")
    server = with_stop_command(await place.see(local, await place.one()), command)
    came = await stop(
        local, await survey(local, server), signal="OWN", report=lambda _: None, pace=Pace(respawn=60.0, sleep=quickly)
    )
    assert came.again is not None
    assert not came.complete
    assert await place.one() == came.again.pid


async def test_a_restart_with_a_configured_stop_leaves_the_start_to_the_loop(local: Placed, place: Place) -> None:
    script, command = loop(place, "0.7")
    server = with_stop_command(await place.see(local, await place.one()), command)
    started = await again(local, server, respawn=60.0)
    assert await place.one() == started.pid
    assert (await survey(local, await place.see(local, started.pid))).members[0].ppid == script.pid
    assert (place.kept(), place.secrets()) == ([], [])


async def test_it_is_not_raced_either_where_the_loop_takes_its_time(local: Placed, place: Place) -> None:
    script, command = loop(place, "104")
    server = with_stop_command(await place.see(local, await place.one()), command)
    with pytest.raises(LeftToAnother, match="has not started it again yet"):
        await again(local, server, respawn=0.2)
    assert place.running() == []
    assert alive(script.pid)


# --- a step of Slurm ---


async def slurm_step(host: Placed, place: Place, *words: str) -> Server:
    place.program("scancel", SCANCEL)
    place.environ["SLURM_JOB_ID"] = "7"
    under(place, "slurmstepd: [7.0]", *words)
    return await place.see(host, await place.one(), within=None)


async def test_a_restart_of_a_step_is_refused_before_anything_is_done(host: Placed, place: Place) -> None:
    server = await slurm_step(host, place)
    assert (server.launcher.kind, server.launcher.stop, server.launcher.start) == ("slurm", "scancel 7.0", "")
    with pytest.raises(BringupError, match=r"cannot be restarted: it runs in step 7\.0 of Slurm.*\(sbatch\)"):
        await again(host, server)
    assert place.running() == [server.pid]
    assert not (place.folder / "scancel.calls").exists()
    assert (place.kept(), place.secrets()) == ([], [])


async def test_a_command_that_is_refused_leaves_nothing_under_way(host: Placed, place: Place) -> None:
    place.start(*place.command())
    server = with_stop_command(await place.see(host, await place.one()), "echo no right to do that >&2; exit 4")
    with pytest.raises(ChannelRefused, match=r"failed on box with exit status 4: no right to do that"):
        await again(host, server)
    assert place.running() == [server.pid]
    assert await unfinished(host, token="theirs") is None
    assert place.secrets() == []
    await release(host, await claim(host, server, "stop", token="theirs"))


# --- supervisord with a file of its own ---


async def test_supervisorctl_is_told_the_file_that_supervisord_reads(host: Placed, place: Place) -> None:
    place.program("supervisorctl", SUPERVISORCTL)
    place.environ["SUPERVISOR_ENABLED"] = "1"
    (place.folder / "my.conf").touch()
    shim = place.folder / "supervisord"
    shim.write_text(f"set -- {place.line()}\n{SHIM}\n")
    place.start("bash", str(shim), "-n", "-c", "my.conf")
    server = await place.see(host, await place.one(), within=None)
    assert server.launcher.kind == "supervisord"
    assert server.launcher.stop == f"supervisorctl -c {place.folder}/my.conf stop llm:llm_0"
    came = await stop(host, await survey(host, server), signal="OWN", report=lambda _: None)
    assert (came.complete, came.killed, place.running()) == (True, (), [])


# --- screen ---


@pytest.mark.long
@pytest.mark.skipif(shutil.which("screen") is None, reason="screen is not installed")
async def test_a_session_of_screen_that_ends_with_its_server(
    local: Placed, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = place.folder / "screens"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("SCREENDIR", str(folder))
    place.environ["SCREENDIR"] = str(folder)
    place.start("screen", "-S", "llm", "-d", "-m", "bash", "--norc", "-c", f"exec {place.line()}")
    server = await place.see(local, await place.one(), within=None)
    assert (server.launcher.kind, server.launcher.above) == ("screen", ())
    first = await again(local, server, watch=1)
    second = await place.see(local, await place.one(), within=None)
    assert second.pid == first.pid
    assert (second.launcher.kind, second.launcher.respawns, second.launcher.above) == ("screen", False, ())
    assert second.launcher.name != server.launcher.name, "the environment still has the old session's name"
    third = await again(local, second, watch=1)
    assert await place.one() == third.pid
    last = await place.see(local, third.pid, within=None)
    assert last.launcher.name == second.launcher.name
    await eventually(lambda: len(list(folder.iterdir())) == 1)
    (socket,) = folder.iterdir()
    os.kill(int(socket.name.partition(".")[0]), 9)


async def test_a_command_that_did_nothing_is_no_proof_that_the_server_stays_down(local: Placed, place: Place) -> None:
    """Its unit or container starts the server again, for it was told nothing."""
    script, _ = loop(place, "0.7")
    found = await place.see(local, await place.one())
    unit = replace(found.launcher, kind="systemd", stop="true", start="systemctl start llm", parent=None)
    plan = await survey(local, replace(found, launcher=unit))
    came = await stop(local, plan, signal="OWN", report=lambda _: None, pace=Pace(drain=0.1, sleep=quickly))
    assert came.again is not None
    assert "was started again" in came.sentence
    assert alive(script.pid)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_a_pane_that_a_restart_made_is_restarted_again(local: Placed, place: Place) -> None:
    """The environment of the new server still names the pane of the old one, which is gone."""
    tmux = ["tmux", "-S", str(place.folder / "socket"), "-f", "/dev/null"]
    place.start(*tmux, "new-session", "-d", "-s", "other", "sleep", "60")
    await eventually(lambda: subprocess.run([*tmux, "has-session"], capture_output=True).returncode == 0)
    place.start(*tmux, "new-session", "-d", "-s", "my llm", place.line())
    await again(local, await place.see(local, await place.one(), within=None), watch=1)
    second = await place.see(local, await place.one(), within=None)
    assert (second.launcher.name, second.launcher.above) == ("my llm:0.0", ())
    assert "may start it again" not in second.launcher.detail, "what a restart runs in a pane becomes a prompt"
    third = await again(local, second, watch=1)
    assert await place.one() == third.pid
    for session in ("other", "my llm"):
        subprocess.run([*tmux, "kill-session", "-t", f"={session}"], check=True)
