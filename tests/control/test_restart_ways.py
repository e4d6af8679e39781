"""A restart launches a server by whatever launched it the first time; there are never two."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from engineserver import Place, make_docker
from fakeserver import start_time
from leftopen import unfinished
from placedhost import Placed
from waiting import alive, eventually

from bringup.core.errors import BringupError, ConnectionLost, UsageError
from bringup.core.events import Server
from bringup.hosts.control import (
    LaunchCommand,
    LaunchFailed,
    Pace,
    Started,
    Step,
    claim,
    discard,
    launch,
    restart,
    resume,
    survey,
)


async def again(host: Placed, server: Server, watch: int = 1, **more: object) -> tuple[Started, list[str]]:
    """Restart it; whoever expects that it ends watches it for longer than a slow machine takes to start it."""
    said: list[Step] = []
    claimed = await claim(host, server, "restart", token="ours")
    started = await restart(
        host,
        await survey(host, server),
        claimed,
        report=said.append,
        watch=watch,
        **more,  # type: ignore[arg-type]
    )
    return started, [step.name for step in said]


async def test_plain(host: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(host, await place.one())
    started, steps = await again(host, server)
    assert (await place.one(), started.start) == (started.pid, start_time(started.pid))
    assert Path(f"/proc/{started.pid}/cmdline").read_bytes().split(b"\0")[:-1] == [os.fsencode(w) for w in server.argv]
    assert os.getsid(started.pid) == started.pid
    assert list(dict.fromkeys(steps)) == ["claimed", "stopping", "launching"]
    assert place.kept() == []
    assert place.log.read_text() == "a server starts\n"
    assert [Path(path).read_text() for path in started.aside] == ["a server starts\n"]
    await host.close()
    assert alive(started.pid)


async def test_a_script_above_that_goes_on_and_ends(host: Placed, place: Place) -> None:
    """It is waited for: only then it is known that it does not start the server again."""
    (place.folder / "run.sh").write_text(f"{place.line()}\nsleep 0.3\ntouch over\n")
    place.start("bash", "run.sh")
    started, _ = await again(host, await place.see(host, await place.one()))
    assert await place.one() == started.pid
    assert (place.folder / "over").exists()


async def test_a_supervisor_starts_it_again_and_nobody_else(host: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\nsleep 0.3\ndone\n")
    supervisor = place.start("bash", "run.sh")
    server = await place.see(host, await place.one())
    started, _ = await again(host, server)
    assert await place.one() == started.pid
    assert Path(f"/proc/{started.pid}/stat").read_text().rpartition(")")[2].split()[1] == str(supervisor.pid)
    assert place.kept() == []


async def test_a_supervisor_that_does_not_is_never_raced(local: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\nsleep 104\ndone\n")
    loop = place.start("bash", "run.sh")
    server = await place.see(local, await place.one())
    with pytest.raises(BringupError, match=r"has not started it again yet on box.*no server runs"):
        await again(local, server, pace=Pace(respawn=0.2))
    assert place.running() == []
    left = await unfinished(local, token="ours")
    assert left is not None
    assert left.can == ("launch", "discard")
    with pytest.raises(BringupError, match=rf"PID {loop.pid} .*may start it again"):
        await resume(local, left, report=lambda _: None, watch=0)
    assert place.running() == []
    loop.kill()
    loop.wait(60)
    left = await unfinished(local, token="ours")
    assert left is not None
    started = await resume(local, left, report=lambda _: None, watch=0)
    assert await place.one() == started.pid


async def test_a_container(host: Placed, place: Place) -> None:
    calls = make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    server = await place.see(host, await place.one(), within=None)
    started, steps = await again(host, server)
    assert await place.one() == started.pid
    assert started.pid != server.pid
    assert [line.split()[0] for line in calls.read_text().splitlines()] == ["inspect", "stop", "start"]
    assert steps[-1] == "starting"
    assert (place.kept(), place.secrets()) == ([], [])


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.parametrize("shell", [True, False], ids=["typed into a shell", "the pane's own command"])
async def test_a_pane(host: Placed, place: Place, shell: bool) -> None:
    tmux = ["tmux", "-S", str(place.folder / "socket"), "-f", "/dev/null"]
    place.start(*tmux, "new-session", "-d", "-s", "llm", *(["bash", "--norc"] if shell else [place.line()]))
    if shell:
        await eventually(lambda: subprocess.run([*tmux, "has-session"], capture_output=True).returncode == 0)
        subprocess.run([*tmux, "send-keys", "-t", "llm", place.line(), "Enter"], check=True)
    server = await place.see(host, await place.one(), within=None)
    started, _ = await again(host, server)
    assert await place.one() == started.pid
    panes = subprocess.run([*tmux, "list-panes", "-a", "-F", "#{pane_tty}"], capture_output=True, text=True, check=True)
    assert str(Path(f"/proc/{started.pid}/fd/1").readlink()) in panes.stdout.splitlines()
    second = await place.see(host, started.pid, within=None)
    assert second.launcher.kind == "tmux"
    (place.folder / "die").touch()
    with pytest.raises(LaunchFailed, match=r"ended at once with exit status 1: .*no memory for the KV cache"):
        await again(host, second, watch=60)
    assert place.running() == []


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_after_a_cut_what_wrote_through_a_pipe_in_a_pane_writes_itself(local: Placed, place: Place) -> None:
    tmux = ["tmux", "-S", str(place.folder / "socket"), "-f", "/dev/null"]
    log = place.folder / "through.log"
    place.start(*tmux, "new-session", "-d", "-s", "llm", f"{place.line()} 2>&1 | tee {log}; sleep 100")
    server = await place.see(local, await place.one(), within=None)
    assert [target.path for target in server.logs] == [str(log)]

    def cut(step: Step) -> None:
        if step.name == "launching":
            raise ConnectionLost("The connection was cut by the test.")

    claimed = await claim(local, server, "restart", token="ours")
    plan = await survey(local, server)
    with pytest.raises(ConnectionLost):
        await restart(local, plan, claimed, report=cut, regardless=True)
    left = await unfinished(local, token="ours")
    assert left is not None
    started = await resume(local, replace(left, starters=()), report=lambda _: None, watch=1)
    assert await place.one() == started.pid
    assert Path(f"/proc/{started.pid}/fd/1").readlink() == log
    await eventually(lambda: log.read_text().count("a server starts") == 2)


async def test_another_command(host: Placed, place: Place) -> None:
    place.start(*place.command("--api-key", "very-secret"))
    server = await place.see(host, await place.one())
    scripts = len(host.scripts)
    started, _ = await again(host, server, argv=[*server.argv, "--mem-fraction-static", "0.8"])
    assert await place.one() == started.pid
    words = Path(f"/proc/{started.pid}/cmdline").read_text().split("\0")[:-1]
    assert words == [*server.argv, "--mem-fraction-static", "0.8"]
    assert not any("very-secret" in script for script in host.scripts[scripts:])


@pytest.mark.parametrize("program", ["pythonn", "./no/python", "/etc"])
async def test_a_program_that_is_not_there_is_noticed_before_the_stop(
    local: Placed, place: Place, program: str
) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    with pytest.raises(BringupError, match=rf"box has no program '{program}' where the server would look for it"):
        await again(local, server, argv=[program, *server.argv[1:]])
    assert place.running() == [server.pid]
    assert place.kept() == []
    (place.folder / "other").symlink_to(sys.executable)
    started, _ = await again(local, server, argv=["./other", *server.argv[1:]])
    assert await place.one() == started.pid


async def test_a_command_of_a_container_is_not_edited_here(local: Placed, place: Place) -> None:
    make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    server = await place.see(local, await place.one(), within=None)
    with pytest.raises(UsageError, match="belongs to the docker container llm"):
        await again(local, server, argv=["python3"])
    assert place.running() == [server.pid]
    assert place.kept() == []


async def test_a_start_that_fails_says_why_and_can_be_tried_again(host: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(host, await place.one())
    (place.folder / "die").touch()
    with pytest.raises(LaunchFailed, match=r"exit status 1: .*no memory for the KV cache / raise --mem-fraction"):
        await again(host, server, watch=60)
    left = await unfinished(host, token="ours")
    assert left is not None
    assert left.sentence.startswith("A restart of the sglang server on port 30000")
    assert "no server runs; what it was launched with is kept on the host" in left.sentence
    (place.folder / "die").unlink()
    started = await resume(host, left, report=lambda _: None, watch=1)
    assert await place.one() == started.pid
    assert (place.kept(), place.secrets()) == ([], [])


async def test_after_a_start_that_failed_another_command_can_be_launched(local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    (place.folder / "die").touch()
    with pytest.raises(LaunchFailed):
        await again(local, server, watch=60)
    left = await unfinished(local, token="ours")
    assert left is not None
    (place.folder / "die").unlink()
    started = await resume(local, left, report=lambda _: None, argv=(*server.argv, "--seed", "7 8"), watch=1)
    assert await place.one() == started.pid
    assert Path(f"/proc/{started.pid}/cmdline").read_bytes().endswith(b"--seed\x007 8\0")
    assert (place.kept(), place.secrets()) == ([], [])


async def test_a_host_that_is_not_free(local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    with socket.create_server(("127.0.0.1", 0)) as other:
        moments = iter(range(0, 100_000, 3))
        claimed = await claim(local, replace(server, port=other.getsockname()[1]), "restart", token="ours")
        plan = await survey(local, replace(server, port=other.getsockname()[1]))
        pace = Pace(drain=1000.0, clock=lambda: float(next(moments)))
        with pytest.raises(BringupError, match=r"is still listened on by a process of .*Nothing was launched"):
            await restart(local, plan, claimed, report=lambda _: None, pace=pace)
    assert place.running() == []
    left = await unfinished(local, token="ours")
    assert left is not None
    await discard(local, left)
    assert place.secrets() == []
    with pytest.raises(BringupError, match=r"not kept there any more|another console has taken over"):
        await resume(local, left, report=lambda _: None)


async def test_what_cannot_be_launched_again_is_not_stopped(host: Placed, place: Place) -> None:
    reader, writer = socket.socketpair()
    with reader, writer:
        made = subprocess.Popen(
            place.command(),
            cwd=place.folder,
            env={**os.environ, **place.environ},
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            start_new_session=True,
        )
        server = await place.see(host, await place.one())
        with pytest.raises(BringupError, match=r"cannot be restarted: its output goes to a socket.*Nothing was done"):
            await again(host, server)
        assert place.running() == [made.pid]
        assert (place.kept(), place.secrets()) == ([], [])
        made.kill()
        made.wait()


async def test_a_configured_command_is_launched_and_used_for_a_restart(host: Placed, place: Place) -> None:
    command = LaunchCommand(f"exec {place.line()} --tp $TP", str(place.folder), {**place.environ, "TP": "2"}, "own.log")
    place.log = place.folder / "own.log"
    first = await launch(host, "kimi", command, watch=1)
    assert await place.one() == first.pid
    words = Path(f"/proc/{first.pid}/cmdline").read_text().split("\0")
    assert words[-3:-1] == ["--tp", "2"]
    assert (place.kept(), place.secrets()) == ([], [])
    server = await place.see(host, first.pid, within=None)
    started, _ = await again(host, server, command=command)
    assert await place.one() == started.pid
    assert place.log.read_text() == "a server starts\n" * 2


async def test_a_configured_command_that_fails(local: Placed, place: Place) -> None:
    with pytest.raises(LaunchFailed, match=r"exit status 127: .*no-such-program"):
        await launch(local, "kimi", LaunchCommand("no-such-program", log=str(place.log)), watch=60)
    assert (place.kept(), place.secrets()) == ([], [])
    with pytest.raises(BringupError, match=r"on box: the folder /nowhere in which it runs does not exist"):
        await launch(local, "kimi", LaunchCommand("true", cwd="/nowhere"))
