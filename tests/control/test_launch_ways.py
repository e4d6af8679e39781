"""A configured target is launched: where it writes, what it may leave to others, and what is refused beforehand."""

from __future__ import annotations

import asyncio
import getpass
import os
import shlex
import shutil
import signal
import stat
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed
from shellhost import Shell
from waiting import alive, eventually

from bringup.core.errors import BringupError, UsageError
from bringup.hosts.control import LaunchCommand, LaunchFailed, Started, launch, launched_words
from bringup.hosts.control.configured import file_name

NODE = os.uname().nodename


def command(place: Place, text: str = "", **more: str | Mapping[str, str]) -> LaunchCommand:
    given = {"cwd": str(place.folder), "env": place.environ, **more}
    return LaunchCommand(text or f"exec {place.line()}", **given)  # type: ignore[arg-type]


def stateful(host: Placed, place: Place) -> Placed:
    return Placed(host, {"XDG_STATE_HOME": str(place.folder / "state")})


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


async def test_without_a_log_it_has_one_of_its_own(host: Placed, place: Place) -> None:
    host = stateful(host, place)
    log = place.folder / "state" / "bringup" / f"kimi.{NODE}.log"
    started = await launch(host, "kimi", command(place), watch=1)
    assert await place.one() == started.pid
    assert started.log == str(log)
    assert str(log) in launched_words(started)
    # That is how a console finds it: the server is seen to write there.
    server = await place.see(host, started.pid, within=None)
    assert [target.path for target in server.logs] == [str(log)]
    modes = (stat.S_IMODE(path.stat().st_mode) for path in (log, log.parent))
    assert tuple(modes) == (0o600, 0o700)
    end(started.pid)
    await eventually(lambda: not place.running())
    # The lines of an earlier launch must not count for this one; they stay.
    second = await launch(host, "kimi", command(place, "echo anew; exec sleep 600"), watch=1)
    await eventually(lambda: log.read_text() == "anew\n")
    (aside,) = second.aside
    assert Path(aside).read_text() == "a server starts\n"
    assert f"Its log: {log} (that of the launch before: {aside})" in launched_words(second)


async def test_without_a_log_the_words_of_a_failure_are_said(host: Placed, place: Place) -> None:
    host = stateful(host, place)
    with pytest.raises(LaunchFailed, match=r"exit status 127: .*nosuch: not found") as failed:
        await launch(host, "kimi", LaunchCommand("nosuch --now"), watch=60)
    assert failed.value.hint.startswith(
        f"See {place.folder}/state/bringup/kimi.{NODE}.log. The command runs in a plain"
    )
    (place.folder / "die").touch()
    with pytest.raises(LaunchFailed, match=r"exit status 1: .*raise --mem-fraction-static\. See"):
        await launch(host, "kimi", command(place), watch=60)
    assert (place.kept(), place.secrets()) == ([], [])


async def test_the_own_logs_of_earlier_launches_do_not_pile_up(local: Placed, place: Place) -> None:
    local = stateful(local, place)
    folder = place.folder / "state" / "bringup"
    folder.mkdir(parents=True)
    name = f"kimi.{NODE}.log"
    for number, each in enumerate([name, *(f"{name}.2026010{day}-000000" for day in range(1, 8))]):
        (folder / each).write_text(each)
        os.utime(folder / each, (time.time() - number,) * 2)
    others = {f"kimi.{NODE}.log.notes", f"kimi2.{NODE}.log.20260101-000000"}
    for each in others:
        (folder / each).touch()
    started = await launch(local, "kimi", command(place), watch=1)
    (aside,) = started.aside
    assert Path(aside).read_text() == name
    left = {path.name for path in folder.iterdir()} - {name, Path(aside).name}
    assert left == others | {f"{name}.2026010{day}-000000" for day in range(1, 5)}


async def test_where_the_state_folder_cannot_be_made(local: Placed, place: Place) -> None:
    started = await launch(Placed(local, {"XDG_STATE_HOME": "/proc/no/folder"}), "a model/7", command(place), watch=1)
    assert await place.one() == started.pid
    assert Path(started.log).parent == place.folder / "run" / f"bringup-{os.getuid()}"
    assert Path(started.log).read_text() == "a server starts\n"


@pytest.mark.parametrize("how", ["{} &", "nohup {} >its.log 2>&1 & echo begun; exit 0"])
async def test_a_command_that_leaves_a_server_behind(local: Placed, place: Place, how: str) -> None:
    started = await launch(local, "kimi", command(place, how.format(place.line()), log="own.log"), watch=60)
    assert await place.one() == started.pid
    assert started.handed is not None
    assert ("begun" in how) == ("begun" in started.handed)
    assert f"goes on as PID {started.pid}" in launched_words(started)
    with pytest.raises(BringupError, match=rf"PID {started.pid} still runs, which was launched as kimi before"):
        await launch(local, "kimi", command(place))
    assert await place.one() == started.pid


async def test_a_command_that_leaves_it_to_others(local: Placed, place: Place) -> None:
    started = await launch(local, "kimi", command(place, "echo 3f2a; echo 4711"), watch=60)
    assert (started.pid, started.handed) == (0, "3f2a / 4711")
    assert "with the words: 3f2a / 4711. What it started is looked for." in launched_words(started)
    assert (place.kept(), place.secrets()) == ([], [])


async def test_what_a_failed_command_leaves_is_named(local: Placed, place: Place) -> None:
    text = f"{place.line()} & sleep 1; echo no room >&2; exit 3"
    with pytest.raises(LaunchFailed, match=r"exit status 3: .*no room\. PID (\d+) of it still runs\.") as failed:
        await launch(local, "kimi", command(place, text), watch=60)
    pid = await place.one()
    assert f"PID {pid} of it" in failed.value.what


async def test_the_same_is_not_launched_twice(local: Placed, place: Place) -> None:
    first = await launch(local, "kimi", command(place), watch=0)
    with pytest.raises(BringupError, match=rf"PID {first.pid} still runs"):
        await launch(local, "kimi", command(place), watch=0)
    # Another one is another one.
    other = await launch(local, "draft", command(place), watch=0)
    await eventually(lambda: set(place.running()) == {first.pid, other.pid})
    end(first.pid)
    await eventually(lambda: not alive(first.pid))
    second = await launch(local, "kimi", command(place), watch=0)
    assert await place.one(but=[other.pid]) == second.pid


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"cwd": "/nowhere"}, r"the folder /nowhere in which it runs does not exist.* `cwd`"),
        ({"cwd": "~/ll\\nm/server"}, r"the folder .+/ll\\nm/server in which it runs does not exist"),
        ({"log": "logs/server.log"}, r"the folder of its log .*/place/logs/server\.log does not exist\..* `log`"),
        ({"log": "sglang"}, r"its log .*/place/sglang is a folder"),
        ({"log": "a pipe"}, r"its log .*/a pipe is not a plain file"),
        ({"log": "/proc/new.log"}, r"its log /proc/new\.log is closed to this login, or on a disk"),
        ({"env": {"A=B": "c"}}, r"The variable 'A=B' of the target's `env` cannot be"),
        ({"env": {"A-B": "c"}}, r"The variable 'A-B' of"),
        ({"env": {"": "c"}}, r"The variable '' of the target's `env` cannot be"),
        ({"env": {"A": "c\0d"}}, r"The variable 'A' of the target's `env` cannot be"),
    ],
)
async def test_what_cannot_be_launched_as_it_is_configured(
    local: Placed, place: Place, more: Mapping[str, str], words: str
) -> None:
    os.mkfifo(place.folder / "a pipe")
    for _ in range(2):  # The second time nothing is in the way of the first one.
        with pytest.raises(BringupError, match=words) as refused:
            await launch(local, "kimi", command(place, "touch begun", **more))
    assert isinstance(refused.value, UsageError) == ("env" in more)
    assert (place.kept(), (place.folder / "begun").exists()) == ([], False)


async def test_a_home_is_meant_by_a_tilde(local: Placed, place: Place) -> None:
    (place.folder / "it's here").mkdir()
    local = Placed(local, {"HOME": str(place.folder)})
    started = await launch(local, "kimi", command(place, cwd="~/it's here", log="~/out.log"), watch=1)
    assert await place.one() == started.pid
    assert Path(f"/proc/{started.pid}/cwd").readlink() == place.folder / "it's here"
    assert (place.folder / "out.log").read_text() == "a server starts\n"


async def test_a_path_that_hides_every_program(local: Placed, place: Place) -> None:
    env = {**place.environ, "PATH": "/opt/conda/bin:$PATH"}
    text = f"exec {shlex.quote('python-of-nobody')} -m x"
    with pytest.raises(LaunchFailed, match=r"exit status 127: .*python-of-nobody"):
        await launch(local, "kimi", command(place, text, env=env), watch=60)


async def test_words_that_went_to_nowhere_are_not_missed(local: Placed, place: Place) -> None:
    with pytest.raises(LaunchFailed, match="it wrote to /dev/null, so its words are lost") as failed:
        await launch(local, "kimi", command(place, "exit 3", log="/dev/null"), watch=60)
    assert failed.value.hint == ""


@pytest.mark.parametrize("name", ["dash", "bash", "busybox"])
async def test_every_shell_can_launch(place: Place, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shell = Shell(name, place.folder / "bin")
    for _ in range(2):
        with pytest.raises(LaunchFailed, match=r"exit status 127: .*nosuch: not found|.*nosuch: command not found"):
            await launch(shell, "kimi", LaunchCommand("nosuch --now"), watch=60)
    assert len(list((tmp_path / "state" / "bringup").iterdir())) == 2
    with pytest.raises(BringupError, match="the folder /nowhere in which it runs does not exist"):
        await launch(shell, "kimi", LaunchCommand("true", cwd="/nowhere"))
    leaves = command(place, "sleep 60 & sleep 60 & echo begun", log="own.log")
    started = await launch(shell, "kimi", leaves, watch=60)
    assert (started.handed, alive(started.pid)) == ("begun", True)
    with pytest.raises(BringupError, match=rf"PID {started.pid} still runs"):
        await launch(shell, "kimi", command(place), watch=0)


LOGIND = """
case $6 in
    KillUserProcesses) echo "b {kills}" ;;
    KillExcludeUsers) echo 'as 1 "{spared}"' ;;
    KillOnlyUsers) echo "as 0" ;;
esac
"""


@pytest.mark.parametrize(
    ("kills", "spared", "text", "mortal"),
    [
        ("true", "nobody", "", True),
        ("true", "nobody", "sleep 60 & true", True),
        ("true", "nobody", "true", False),
        ("true", getpass.getuser(), "", False),
        ("false", "nobody", "", False),
    ],
)
async def test_a_server_that_would_not_outlive_the_login(
    local: Placed, place: Place, kills: str, spared: str, text: str, *, mortal: bool
) -> None:
    place.program("busctl", LOGIND.format(kills=kills, spared=spared))
    # This test itself may run in a session or in none.
    real = shutil.which("grep")
    place.program("grep", f'case $* in *session-*) exit 0 ;; esac\nexec {real} "$@"\n')
    # A text is the one of a command that ends.
    started = await launch(local, "kimi", command(place, text), watch=60 if text else 2)
    assert bool(started.mortal) == mortal
    assert ("it ends with the last session of this login" in launched_words(started)) == mortal


def test_what_came_of_a_launch_is_told() -> None:
    assert launched_words(Started(7, 9)) == "Launched as PID 7."
    assert launched_words(Started(7, 9, log="/a\n.log")) == "Launched as PID 7. Its log: /a .log"
    assert (
        launched_words(Started(0, 0, handed=""))
        == "The command has ended with exit status 0. What it started is looked for."
    )


def test_the_name_of_a_target_becomes_that_of_a_file() -> None:
    assert file_name("kimi-k2.5_a") == "kimi-k2.5_a"
    odd = ["a/b", "a_b", "a b", "../a_b", "..", "", "x" * 300, "x" * 301]
    names = [file_name(name) for name in odd]
    assert len(set(names)) == len(odd)
    assert all("/" not in name and not name.startswith((".", "-")) and len(name) < 120 for name in names)


async def test_the_script_that_launches_it_does_not_supervise_it(host: Placed, place: Place) -> None:
    launching = asyncio.create_task(launch(host, "kimi", command(place), watch=60))
    server = await place.see(host, await place.one(), within=None)
    assert not launching.done(), "the script still stands above it"
    assert (server.parent, server.launcher.parent, server.launcher.above) == ("", None, ())
    end(server.pid)
    with pytest.raises(LaunchFailed):
        await launching
