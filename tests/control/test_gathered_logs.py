"""Which file is the log where one process reads the output of many programs, or a terminal's: asked of its launcher."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed
from waiting import eventually

from bringup.core.events import LogTarget

SUPERVISORD = """
import json, os, subprocess
kept = [open(name, "w") for name in ("supervisord.log", "aux-2.log", "aux.log", "any.txt")]
given = {**os.environ, "SUPERVISOR_ENABLED": "1", "SUPERVISOR_PROCESS_NAME": open("name").read()}
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
made = subprocess.Popen(json.load(open("command")), env=given, start_new_session=True, **pipes)
open("main", "w").write(str(made.pid))
made.wait()
"""
LIBRARY = """
import os, types
from pathlib import Path
main, logfile = (Path(os.environ["PLACE"], name).read_text() for name in ("main", "logfile"))
class ClientOptions:
    def realize(self, words):
        assert words[0] == "-c" and words[1].endswith("/my.conf")
    def getServerProxy(self):
        told = [{"pid": int(main), "stdout_logfile": logfile, "stderr_logfile": ""}]
        told.insert(0, {"pid": 1, "stdout_logfile": "/dev/null", "stderr_logfile": None})
        return types.SimpleNamespace(supervisor=types.SimpleNamespace(getAllProcessInfo=lambda: told))
"""
STATUS = 'import os; print("llm RUNNING pid", open(os.environ["PLACE"] + "/main").read() + ", uptime 0:01:00")'


async def below_supervisord(local: Placed, place: Place, name: str) -> tuple[LogTarget, ...]:
    (place.folder / "supervisord").write_text(SUPERVISORD)
    (place.folder / "my.conf").touch()
    (place.folder / "name").write_text(name)
    (place.folder / "command").write_text(json.dumps(place.command()))
    place.start(sys.executable, str(place.folder / "supervisord"), "-n", "-c", "my.conf")
    pid, main = await place.one(), place.folder / "main"
    await eventually(lambda: main.exists() and main.read_text() == str(pid))
    server = await place.see(local, pid, within=None)
    assert server.launcher.kind == "supervisord"
    return server.logs


def supervisorctl(place: Place) -> None:
    """A supervisorctl with its library."""
    (place.folder / "supervisor").mkdir()
    (place.folder / "supervisor" / "__init__.py").touch()
    (place.folder / "supervisor" / "options.py").write_text(LIBRARY)
    program = place.folder / "bin" / "supervisorctl"
    program.write_text(f"#!{sys.executable}\n{STATUS}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(("told", "name"), [("{}/any.txt", "any.txt"), ("/dev/stdout", "server.log")])
async def test_the_file_that_supervisord_tells(local: Placed, place: Place, told: str, name: str) -> None:
    supervisorctl(place)
    (place.folder / "logfile").write_text(told.format(place.folder))
    (target,) = await below_supervisord(local, place, "llm")
    assert (target.path, target.kind) == (str(place.folder / name), "file")
    assert "through a pipe to supervisord (PID " in target.note


@pytest.mark.parametrize(("name", "file"), [("aux-2", "aux-2.log"), ("any", "any.txt")])
async def test_the_file_of_the_programs_name_where_it_cannot_be_asked(
    local: Placed, place: Place, name: str, file: str
) -> None:
    place.program("supervisorctl", "exit 1")
    (target,) = await below_supervisord(local, place, name)
    assert (target.path, target.kind) == (str(place.folder / file), "file")


@pytest.mark.parametrize("name", ["llm", "aux"])
async def test_several_files_of_which_none_is_told_to_be_the_log(local: Placed, place: Place, name: str) -> None:
    (target,) = await below_supervisord(local, place, name)
    assert (target.path, target.kind) == ("", "pipe")
    assert "/aux.log and " in target.note
    assert target.note.endswith("which of them is this server's log cannot be told. Name it with --log.")
    assert "supervisord.log" not in target.note


@pytest.mark.long
@pytest.mark.skipif(shutil.which("supervisord") is None, reason="supervisord is not installed")
async def test_a_real_supervisord(local: Placed, place: Place) -> None:
    (place.folder / "my.conf").write_text(
        f"[unix_http_server]\nfile={place.folder}/sock\n[supervisord]\nlogfile={place.folder}/own.log\nnodaemon=true\n"
        "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
        f"[supervisorctl]\nserverurl=unix://{place.folder}/sock\n"
        f"[program:other]\ncommand=sleep 120\n[program:llm]\nstartsecs=0\ncommand={place.line()}\n"
    )
    place.start("supervisord", "-n", "-c", "my.conf")
    server = await place.see(local, await place.one(), within=None)
    out, err = server.logs
    assert Path(out.path).read_text() == "a server starts\n"
    assert (Path(err.path).read_text(), server.launcher.name) == ("", "llm")


# --- a step of Slurm: slurmstepd hands the output to srun ---


def slurm(place: Place, srun: str) -> None:
    place.environ["SLURM_JOB_ID"] = "7"
    place.program("srun", f"{srun}\nsleep 120 &\nwait")
    asked = place.start("srun")
    # It has what it writes open before it starts what it waits for.
    while not Path(f"/proc/{asked.pid}/task/{asked.pid}/children").read_text():
        assert asked.poll() is None
        time.sleep(0.01)
    told = f"StepId=7.0 UserId=0 SrunHost:Pid=$(uname -n | cut -d . -f 1):{asked.pid}"
    place.program("scontrol", f'[ "$*" = "-o show step 7.0" ] && echo "{told}"')
    step = f"exec 5>slurmd.log 3< <(exec setsid {place.line()} 2>&1)\nwait $!"
    inner = f"exec -a 'slurmstepd: [7.0]' bash -c {shlex.quote(step)} >/dev/null 2>&1"
    place.start("bash", "-c", inner, append=True)


@pytest.mark.parametrize(("srun", "name"), [("", "server.log"), ("exec 7>step.out", "step.out")])
async def test_what_srun_writes(local: Placed, place: Place, srun: str, name: str) -> None:
    slurm(place, srun)
    (target,) = (await place.see(local, await place.one(), within=None)).logs
    assert (target.path, target.kind) == (str(place.folder / name), "file")
    assert target.note == f"stdout of step 7.0 of Slurm goes to {target.path}."


async def test_the_log_of_slurmd_is_nobodys(local: Placed, place: Place) -> None:
    slurm(place, "exec >/dev/null")
    (target,) = (await place.see(local, await place.one(), within=None)).logs
    assert (target.path, target.kind) == ("", "pipe")
    assert "hands it to srun" in target.note


# --- terminals whose text is written to a file ---


@pytest.mark.long
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_a_pane_of_tmux_that_is_piped_to_a_file(local: Placed, place: Place) -> None:
    tmux = ["tmux", "-S", str(place.folder / "socket"), "-f", "/dev/null"]
    place.start(*tmux, "new-session", "-d", "-s", "llm", place.line())
    pid = await place.one()
    (target,) = (await place.see(local, pid, within=None)).logs
    assert (target.path, target.kind) == ("", "terminal")
    subprocess.run([*tmux, "pipe-pane", "-t", "llm", f"cat >>{place.folder}/pane.log"], check=True)
    await eventually((place.folder / "pane.log").exists)
    (target,) = (await place.see(local, pid, within=None)).logs
    assert (target.path, target.kind) == (f"{place.folder}/pane.log", "file")
    subprocess.run([*tmux, "kill-session", "-t", "=llm"], check=True)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("screen") is None, reason="screen is not installed")
async def test_a_window_of_screen_with_a_log(local: Placed, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = place.folder / "screens"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("SCREENDIR", str(folder))
    place.environ["SCREENDIR"] = str(folder)
    place.start("screen", "-S", "llm", "-L", "-d", "-m", "bash", "--norc", "-c", f"exec {place.line()}")
    pid = await place.one()
    await eventually((place.folder / "screenlog.0").exists)
    (target,) = (await place.see(local, pid, within=None)).logs
    assert (target.path, target.kind) == (f"{place.folder}/screenlog.0", "file")
    (socket,) = folder.iterdir()
    os.kill(int(socket.name.partition(".")[0]), 9)
