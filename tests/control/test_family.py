"""Whose a process is: by its group, by its cgroup, and never by a number that is somebody else's by now."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bringup.core.events import Process, Server
from bringup.hosts.control.family import own_session
from bringup.hosts.control.processes import Row, read_identity
from bringup.hosts.shipped import with_arguments

SERVER = Server(pid=70, start=1000, engine="sglang", argv=("python",))
LATER = {80: Row(80, 1, 70, 70, 2000, "S")}


def recorded(pgid: int, sid: int) -> Process:
    return Process(pid=70, ppid=1, start=1000, title="python", pgid=pgid, sid=sid)


def test_a_launcher_in_a_scripts_group_leaves_no_group_of_its_own() -> None:
    assert own_session(LATER, SERVER, [recorded(60, 60)]) == set(), "another server has got the number since"
    assert own_session(LATER, SERVER, [recorded(70, 60)]) == {80}
    assert own_session(LATER, SERVER, [recorded(60, 70)]) == {80}
    assert own_session(LATER, SERVER, [recorded(0, 0)]) == {80}, "nobody knows which was its"
    assert own_session(LATER, SERVER, []) == {80}


def test_what_began_before_the_launcher_is_not_its() -> None:
    rows = {70: Row(70, 1, 70, 70, 1000, "S"), 60: Row(60, 1, 70, 70, 900, "S"), **LATER}
    assert own_session(rows, SERVER, []) == {80}
    assert own_session({**rows, 70: Row(70, 1, 70, 70, 3000, "S")}, SERVER, []) == set()


USER = "0::/user.slice/user-1000.slice/user@1000.service"


@pytest.mark.parametrize(
    ("mine", "others", "inside"),
    [
        (f"{USER}/app.slice/sglang.service", [f"{USER}/app.slice/other.service", f"{USER}/init.scope"], []),
        (f"{USER}/app.slice/sglang.service", [f"{USER}/app.slice/sglang.service/sub"], [0]),
        (f"{USER}/user.slice/libpod-1.scope/container", [f"{USER}/app.slice/other.service"], []),
        ("0::/system.slice/sglang.service/sub", ["0::/system.slice/sglang.service", "0::/system.slice/x.service"], [0]),
        (
            "0::/system.slice/docker-1.scope",
            ["0::/system.slice/docker-1.scope/x", "0::/system.slice/docker-12.scope"],
            [0],
        ),
        ("0::/", ["0::/"], None),
        ("12:cpu:/x\n1:name=systemd:/system.slice/a.service", ["1:name=systemd:/system.slice/a.service"], [0]),
    ],
)
def test_what_a_unit_or_container_holds(tmp_path: Path, mine: str, others: list[str], inside: list[int] | None) -> None:
    for pid, text in enumerate([mine, *others], 100):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cgroup").write_text(f"{text}\n")
    asked = with_arguments("control/same_cgroup.sh", "100").replace("/proc/", f"{tmp_path}/")
    done = subprocess.run(["sh", "-c", asked], capture_output=True, text=True, check=False)
    found = sorted(int(word) for word in done.stdout.split())
    assert found == ([] if inside is None else [100, *(101 + each for each in inside)])


@pytest.mark.parametrize(
    ("text", "identity"),
    [("41:7", (41, 7)), ("", None), ("41", None), ("41:", None), (":7", None), ("-1:7", None), ("²:7", None)],
)
def test_a_process_is_told_as_its_number_and_start(text: str, identity: tuple[int, int] | None) -> None:
    assert read_identity(text) == identity
