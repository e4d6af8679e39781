"""What is told of a launcher: its commands and whose they are, what a restart cannot do, why a command is not used."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed

from bringup.core.events import Launcher
from bringup.hosts.base import Completed
from bringup.hosts.discover.described import POLICIES, describe, read_answer
from bringup.hosts.discover.launched import ask_launchers
from bringup.hosts.discover.launchers import Above, Around, Found, load_kinds
from bringup.hosts.local import LocalHost

KINDS = load_kinds()
SERVICE = "0::/system.slice/sglang.service"
USER = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/llm.service"
PODMAN = f"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{'a' * 64}.scope/container"
DOCKER = f"0::/system.slice/docker-{'b' * 64}.scope"
STEP = "0::/system.slice/slurmstepd.scope/job_7/step_{}/user/task_0"


def found(cgroup: str, *above: Above, environ: str = "") -> Found:
    first = KINDS.recognise(Around(9, cgroup, above, frozenset({environ})))
    assert first is not None
    return first


def told(what: Found, said: str = "", **answer: str) -> Launcher:
    launcher = describe(KINDS, what, answer, said)
    assert launcher is not None
    return launcher


@pytest.mark.parametrize("policy", ["on-failure", "on-abnormal", "on-success"])
def test_a_policy_that_asks_for_the_exit_status_may_start_it_again(policy: str) -> None:
    unit = told(found(SERVICE), MainPID="9", Restart=policy)
    assert unit.respawns is None
    assert unit.detail == f"Its restart policy is {policy}: after a plain kill it may be started again."
    assert "is started again" in told(found(SERVICE), MainPID="9", Restart="always").detail
    assert told(found(SERVICE), MainPID="9", Restart="no").detail == ""
    assert POLICIES["unless-stopped"] is True


def test_a_unit_that_was_made_for_one_start_is_stopped_and_not_started() -> None:
    unit = told(found(SERVICE), MainPID="9", Restart="no", Transient="yes")
    assert (unit.stop, unit.start) == ("systemctl stop sglang.service", "")
    assert unit.bound.endswith("In place it is restarted by: systemctl restart sglang.service")
    lasting = told(found(SERVICE), MainPID="9", Restart="no", Transient="no")
    assert (lasting.start, lasting.bound) == ("systemctl start sglang.service", "")


def test_a_container_that_is_removed_when_it_stops_is_not_started() -> None:
    container = told(found(DOCKER), main="9", name="llm", removed="true")
    assert (container.stop, container.start) == ("docker stop -t {drain} llm", "")
    assert "(--rm). In place it is restarted by: docker restart llm" in container.bound
    assert told(found(DOCKER), main="9", name="llm", removed="false").start == "docker start llm"


@pytest.mark.parametrize(("step", "bound"), [("0", True), ("batch", True), ("interactive", True), ("extern", False)])
def test_nothing_is_launched_beside_a_job(step: str, bound: bool) -> None:
    launcher = told(found(STEP.format(step), environ="SLURM_JOB_ID"))
    assert bool(launcher.bound) is bound
    assert launcher.respawns is None
    if bound:
        assert launcher.bound.startswith(f"it runs in step 7.{step} of Slurm")
        assert "(sbatch)" in launcher.bound


def test_who_is_not_root_is_told_before_a_system_unit_is_stopped() -> None:
    unit = told(found(SERVICE), MainPID="9", Restart="no", login="ann")
    assert unit.detail.startswith("ann is not root: without a rule of polkit")
    assert "sudo -n in the configuration" in unit.detail
    assert unit.stop
    assert told(found(SERVICE), MainPID="9").detail == ""


def test_why_a_tool_gave_no_answer_is_told() -> None:
    container = told(found(DOCKER), "permission denied while trying to connect to the docker daemon socket")
    assert container.stop == ""
    assert "is its own (permission denied while trying to connect to the docker daemon socket), so" in container.detail


def test_a_tool_that_may_not_be_asked_leaves_open_what_it_does_after_a_kill() -> None:
    for launcher in (told(found(DOCKER), "permission denied"), told(found(PODMAN)), told(found(SERVICE))):
        assert launcher.respawns is None
        assert launcher.sentence == (
            "The processes are signalled; whether a plain kill is answered by a restart is not known."
        )
    assert told(found(DOCKER), main="9", name="llm").respawns is False
    assert told(found(DOCKER), main="9", name="llm").sentence.startswith("docker stop sends SIGTERM")


def test_names_with_the_escapes_of_systemd_are_used_and_others_are_named() -> None:
    escaped = told(found(r"0::/system.slice/llm-a\x2db.service"), MainPID="9")
    assert escaped.stop == r"systemctl stop 'llm-a\x2db.service'"
    odd = told(found(DOCKER), main="9", name="x;y")
    assert odd.detail == "It is called 'x;y', which is put into no command."


def test_the_monitor_of_a_container_may_be_the_main_process_of_its_unit() -> None:
    above = (Above(5, "/usr/bin/conmon --api-version 1 -c 77", "conmon"), Above(1, "systemd", "systemd"))
    unit = found(f"0::/system.slice/llm.service/libpod-payload-{'a' * 64}", *above)
    assert told(unit, MainPID="5").stop == "systemctl stop llm.service"


def test_tools_are_those_of_whoever_owns_the_manager() -> None:
    unit = found(USER)
    assert unit.uid == "1000"
    assert told(unit, MainPID="9").stop == "systemctl --user stop llm.service"
    assert told(unit, MainPID="9", tool="root").start == "systemctl --user -M 1000@.host start llm.service"
    bare = told(unit, MainPID="9", tool="bare", Transient="yes")
    assert bare.stop == "XDG_RUNTIME_DIR=/run/user/1000 systemctl --user stop llm.service"
    assert bare.bound.endswith(": XDG_RUNTIME_DIR=/run/user/1000 systemctl --user restart llm.service")
    container = told(found(PODMAN), main="9", name="llm", tool="root", owner="ann")
    assert container.stop == "runuser -u ann -- env XDG_RUNTIME_DIR=/run/user/1000 podman stop -t {drain} llm"


# --- what the host is asked ---

SYSTEMCTL = 'printf "%s\\n" "MainPID=9" "Restart=no"; echo "$XDG_RUNTIME_DIR|$*" >>"$PLACE/asked"\n'
PODMAN_TOOL = 'printf "%s\\n" "main=9" "name=llm"; echo "$XDG_RUNTIME_DIR|$*" | head -n 1 >>"$PLACE/asked"\n'
ID = 'case $1 in -u) echo "$AS" ;; -nu) echo ann ;; esac\n'


async def answered(place: Place, what: Found, uid: str, **more: str) -> tuple[dict[str, str], str, list[str]]:
    place.program("id", ID)
    place.program("systemctl", SYSTEMCTL)
    place.program("podman", PODMAN_TOOL)
    place.program("runuser", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    host = Placed(LocalHost("box"), {**place.environ, "AS": uid, **more})
    done = await host.run(what.question)
    asked = place.folder / "asked"
    return (
        read_answer(done.stdout.decode()),
        done.stderr.decode(),
        asked.read_text().splitlines() if asked.exists() else [],
    )


async def test_a_users_manager_is_asked_by_the_user_by_root_and_by_nobody_else(place: Place) -> None:
    unit = found(USER)
    answer, _, asked = await answered(place, unit, "1000")
    assert (answer["tool"], asked[-1].partition(" -p")[0]) == ("bare", "/run/user/1000|--user show")
    answer, _, asked = await answered(place, unit, "1000", XDG_RUNTIME_DIR="/run/mine")
    assert ("tool" in answer, asked[-1].partition(" -p")[0]) == (False, "/run/mine|--user show")
    answer, _, asked = await answered(place, unit, "0")
    assert (answer["tool"], asked[-1].partition(" -p")[0]) == ("root", "|--user -M 1000@.host show")
    before = len(asked)
    answer, said, asked = await answered(place, unit, "1001")
    assert (answer, len(asked)) == ({}, before)
    assert "it belongs to ann: log in as that user or as root" in said


async def test_root_asks_the_podman_of_a_containers_owner(place: Place) -> None:
    answer, _, asked = await answered(place, found(PODMAN), "0")
    assert (answer["tool"], answer["owner"], answer["name"]) == ("root", "ann", "llm")
    assert asked[-1].startswith("/run/user/1000|inspect")
    answer, _, asked = await answered(place, found(f"0::/machine.slice/libpod-{'a' * 64}.scope"), "0")
    assert ("tool" in answer, asked[-1].startswith("|inspect")) == (False, True)


async def test_a_system_unit_is_asked_with_the_login_that_is_not_root(place: Place) -> None:
    assert "login" not in (await answered(place, found(SERVICE), "0"))[0]
    assert (await answered(place, found(SERVICE), "1000"))[0]["login"] == "ann"


@pytest.mark.skipif(not Path("/etc/hostname").exists(), reason="this machine has no /etc/hostname")
async def test_a_pod_in_the_network_of_its_node_is_not_called_like_that(place: Place) -> None:
    pod = Around(os.getpid(), "0::/kubepods/burstable/pod1b4e28ba-2fa1-11d2-883f-0016d3cca427/" + "a" * 64)
    what = KINDS.recognise(pod)
    assert what is not None
    name = Path("/etc/hostname").read_text().strip()
    place.program("uname", f"echo {name}\n")
    assert "name" not in (await answered(place, what, "0"))[0]
    place.program("uname", f"echo not-{socket.gethostname()}\n")
    assert (await answered(place, what, "0"))[0]["name"] == name


class Answering:
    """A host that answers with what belongs to the first word that the question has."""

    name = "box"

    def __init__(self, **answers: str) -> None:
        self._answers = answers

    async def run(self, script: str, **_: object) -> Completed:
        text = next((text for word, text in self._answers.items() if word in script), "")
        return Completed(0 if text else 1, text.encode(), b"")


async def launcher_of(around: Around, **answers: str) -> Launcher | None:
    launchers, _ = await ask_launchers(Answering(**answers), KINDS, [around])  # type: ignore[arg-type]
    return launchers.get(around.pid)


async def test_a_unit_that_runs_a_container_in_the_foreground_is_what_launches_it() -> None:
    around = Around(9, DOCKER, (Above(5, "containerd-shim", "containerd-shim"),))
    container = "main=9\nname=llm\npolicy=no\nremoved=true\nunit=llm-docker.service\n"
    unit = await launcher_of(around, inspect=container, systemctl="MainPID=77\nRestart=always\nTransient=no\n")
    assert unit is not None
    assert (unit.kind, unit.stop, unit.bound) == ("systemd", "systemctl stop llm-docker.service", "")
    assert (unit.start, unit.respawns) == ("systemctl start llm-docker.service", True)
    assert unit.detail.startswith("It runs the docker container llm. Its restart policy is always")
    alone = await launcher_of(around, inspect=container, systemctl="MainPID=0\nRestart=no\n")
    assert alone is not None
    assert alone.kind == "docker"


async def test_what_the_host_contradicts_is_not_it_and_the_next_one_may_be() -> None:
    above = (Above(5, "tmux new-session -d -s llm", "tmux"),)
    around = Around(9, "0::/system.slice/terminals.service", above, frozenset({"TMUX"}))
    pane = await launcher_of(around, systemctl="MainPID=5\nRestart=always\n", tmux="socket=/tmp/s\nname=llm:0.0\n")
    assert pane is not None
    assert (pane.kind, pane.name) == ("tmux", "llm:0.0")


def test_what_was_typed_into_a_shell_of_a_step_is_not_ended_with_that() -> None:
    stepd = Above(3, "slurmstepd: [7.0]", "slurmstepd")
    for title, used in (("bash --norc", False), ("-bash", False), ("bash run.sh", True), ("sh -c exec it", True)):
        around = Around(9, "", (Above(5, title, title.split()[0].lstrip("-")), stepd), frozenset({"SLURM_JOB_ID"}))
        step = KINDS.recognise(around)
        assert step is not None
        assert bool(told(step).stop) is used
        assert ("typed into a shell" in told(step).detail) is not used


def test_an_environment_that_is_closed_to_the_login_rules_nothing_out() -> None:
    stepd = (Above(3, "slurmstepd: [7.0]", "slurmstepd"),)
    assert KINDS.recognise(Around(9, "", stepd, frozenset())) is None
    step = KINDS.recognise(Around(9, "", stepd, None))
    assert step is not None
    assert step.name == "7.0"
