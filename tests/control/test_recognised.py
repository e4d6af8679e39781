"""How a server was launched is recognised, and its own commands are offered only where they are its own."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from engineserver import HERE, Place, make_docker
from placedhost import Placed

from bringup.core.events import Launcher
from bringup.hosts.discover.described import describe, read_answer
from bringup.hosts.discover.launchers import Above, Around, Found, load_kinds

KINDS = load_kinds()


@pytest.mark.parametrize(
    ("kind", "sample"),
    [(kind, sample) for kind in KINDS.kinds for sample in kind.samples],
    ids=lambda each: str(each)[:40],
)
def test_samples(kind: object, sample: dict[str, object]) -> None:
    title = str(sample.get("ancestor", ""))
    above = (Above(7, title, title.split()[0].rpartition("/")[2].rstrip(":") if title else ""),)
    around = Around(9, str(sample.get("cgroup", "")), above, frozenset(sample.get("environ", ())))  # type: ignore[call-overload]
    found = KINDS.recognise(around)
    if sample["name"] == "" and "cgroup" in sample:
        assert found is None
        return
    assert found is not None
    assert (found.kind, found.name, found.uid) == (kind, sample["name"], sample.get("uid", found.uid))


def test_every_kind_has_samples() -> None:
    assert [kind.kind for kind in KINDS.kinds if not kind.samples] == []


def recognised(cgroup: str, *above: Above) -> Found:
    found = KINDS.recognise(Around(9, cgroup, above))
    assert found is not None
    return found


def described(found: Found, **answer: str) -> Launcher:
    launcher = describe(KINDS, found, answer)
    assert launcher is not None
    return launcher


def test_a_unit_is_the_servers_only_if_its_main_process_is() -> None:
    found = recognised("0::/system.slice/sglang.service", Above(5, "bash /opt/run.sh", "bash"), Above(3, "x", "sshd"))
    mine = described(found, MainPID="9", Restart="always")
    assert mine.stop == "systemctl stop sglang.service"
    assert mine.respawns is True
    assert described(found, MainPID="5").stop
    for main in ("3", "77"):
        assert describe(KINDS, found, {"MainPID": main}) is None
    silent = described(found)
    assert (silent.stop, silent.start) == ("", "")
    assert "systemd did not say which process is its own" in silent.detail


def test_a_unit_that_runs_more_than_the_server_is_not_stopped_for_it() -> None:
    found = recognised("0::/system.slice/manager.service", Above(5, "bash x", "bash"), Above(4, "manager", "manager"))
    assert describe(KINDS, found, {"MainPID": "4"}) is None


@pytest.mark.parametrize("unit", ["ssh.service", "sshd.service", "cron.service", "docker.service", "user@1000.service"])
def test_units_below_which_servers_only_happen_to_run(unit: str) -> None:
    assert KINDS.recognise(Around(9, f"0::/system.slice/{unit}")) is None


def test_a_batch_script_is_not_cancelled_for_its_server() -> None:
    around = Around(9, "0::/x/job_7/step_batch/user/task_0", (), frozenset({"SLURM_JOB_ID"}))
    found = KINDS.recognise(around)
    assert found is not None
    assert described(found).stop == ""
    step = KINDS.recognise(Around(9, "0::/x/job_7/step_3/user/task_0", (), frozenset({"SLURM_JOB_ID"})))
    assert step is not None
    assert described(step).stop == "scancel 7.3"


def test_a_name_that_is_no_name_is_put_into_no_command() -> None:
    found = recognised(f"0::/system.slice/docker-{'a' * 64}.scope")
    shown = described(found, main="9", name="x; rm -rf $HOME")
    assert (shown.stop, shown.start) == ("", "")
    dashed = described(found, main="9", name="--all")
    assert dashed.stop == ""


def test_answers_are_read_with_limits() -> None:
    assert read_answer("a=1\na=2\nnonsense\n=x\nb c=3\nlong=" + "y" * 999) == {"a": "1", "long": "y" * 200}


@pytest.mark.parametrize(
    ("wrapper", "kind"), [((), "session"), (("nohup",), "nohup"), (("sh", "-c", '"$@"; :', "sh"), "process")]
)
async def test_processes_without_a_launcher_of_their_own(
    local: Placed, place: Place, wrapper: tuple[str, ...], kind: str
) -> None:
    place.start(*wrapper, *place.command())
    launcher = (await place.see(local, await place.one())).launcher
    assert (launcher.kind, launcher.respawns, launcher.stop, launcher.start) == (kind, False, "", "")


async def test_a_program_above_may_act(local: Placed, place: Place) -> None:
    place.start(*place.command())
    launcher = (await place.see(local, await place.one(), within=None)).launcher
    assert (launcher.kind, launcher.respawns, launcher.parent) == ("script", None, HERE)
    assert f"The program above it (PID {HERE}) may start it again" in launcher.sentence


async def test_scripts_above_a_server(local: Placed, place: Place) -> None:
    script = place.folder / "run.sh"
    for text, kind, respawns in (
        (f"{place.line()}\necho over\n", "script", None),
        (f"while :; do\n{place.line()}\nsleep 1\ndone\n", "supervisor", True),
    ):
        known = place.running()
        script.write_text(text)
        started = place.start("bash", "run.sh")
        server = await place.see(local, await place.one(known))
        assert (server.launcher.kind, server.launcher.respawns, server.launcher.parent) == (kind, respawns, started.pid)
        assert server.launcher.words == "the script bash run.sh"
        assert f"PID {started.pid}" in server.launcher.sentence


async def test_a_container(host: Placed, place: Place) -> None:
    calls = make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    server = await place.see(host, await place.one(), within=None)
    launcher = server.launcher
    assert (launcher.kind, launcher.name, launcher.respawns) == ("docker", "llm", True)
    assert (launcher.stop, launcher.start) == ("docker stop -t {drain} llm", "docker start llm")
    assert launcher.words == "the docker container llm"
    assert "service sglang of the compose project stack" in launcher.detail
    assert calls.read_text().startswith("inspect")


async def test_a_daemon_that_does_not_answer(local: Placed, place: Place) -> None:
    make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    pid = await place.one()
    (place.folder / "docker.refuses").touch()
    launcher = (await place.see(local, pid, within=None)).launcher
    assert (launcher.kind, launcher.stop, launcher.respawns) == ("docker", "", None)
    assert launcher.name == "4f3c1a0b9d8e"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_a_pane(host: Placed, place: Place) -> None:
    socket = place.folder / "tmux socket"
    place.start("tmux", "-S", str(socket), "-f", "/dev/null", "new-session", "-d", "-s", "llm", place.line())
    server = await place.see(host, await place.one(), within=None)
    assert (server.launcher.kind, server.launcher.name) == ("tmux", "llm:0.0")
    assert server.launcher.start.startswith(f"tmux -S '{socket}' new-window -d -t =llm: {{command}}")
    subprocess.run(["tmux", "-S", str(socket), "kill-session", "-t", "llm"], check=True)


async def test_no_value_of_the_environment_is_told(local: Placed, place: Place) -> None:
    place.environ |= {"SLURM_JOB_ID": "job-of-mine\nSTY=a secret line", "HF_TOKEN": "hf_verysecret"}
    place.start(*place.command())
    pid = await place.one()
    told: list[bytes] = []
    plain = local.run

    async def heard(script: str, **more: object) -> object:
        done = await plain(script, **more)  # type: ignore[arg-type]
        told.append(done.stdout + done.stderr)
        return done

    local.run = heard  # type: ignore[assignment,method-assign]
    await place.see(local, pid)
    words = b"".join(told)
    hidden = [b"hf_verysecret", b"a secret line", b"job-of-mine"]
    assert [each for each in hidden if each in words or each.hex(" ").encode() in words] == []
    assert b"SLURM_JOB_ID".hex(" ").encode() in words.replace(b"\n", b"")
