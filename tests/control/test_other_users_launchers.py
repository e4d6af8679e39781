"""What another user's process says of itself makes this login run nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed

from bringup.core.events import Launcher
from bringup.hosts.discover.launched import ask_launchers
from bringup.hosts.discover.launchers import Above, Around, load_kinds

KINDS = load_kinds()
NOBODY = 65534
ASKED = [
    ("tmux", "tmux new-session -d -s llm", "TMUX", "tmux"),
    ("screen", "SCREEN -S llm", "STY", "screen"),
    ("supervisord", "/usr/bin/supervisord -n", "SUPERVISOR_ENABLED", "supervisorctl"),
]
"""Kind, command line of the process above, variable of the server, and the program that asks."""
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can start another user's process")


@pytest.fixture
def socket(place: Place) -> Path:
    path = place.folder / "socket"
    path.touch()
    return path


async def asked(host: Placed, place: Place, socket: Path, kind: str, title: str, variable: str, user: int) -> Launcher:
    for program in ("tmux", "screen", "supervisorctl"):
        place.program(program, f'echo {program} >>"$PLACE/calls"')
    started = subprocess.Popen(["sleep", "600"], user=user, cwd="/", env={variable: f"{socket},1,0"})
    try:
        above = (Above(started.pid, title, title.split()[0].rpartition("/")[2]),)
        around = Around(started.pid, "", above, frozenset({variable}))
        launchers, _ = await ask_launchers(host, KINDS, [around])
    finally:
        started.kill()
        started.wait(60)
    assert launchers[started.pid].kind == kind
    return launchers[started.pid]


@needs_root
@pytest.mark.parametrize(("kind", "title", "variable", "program"), ASKED)
async def test_nothing_is_asked(
    local: Placed, place: Place, socket: Path, kind: str, title: str, variable: str, program: str
) -> None:
    launcher = await asked(local, place, socket, kind, title, variable, NOBODY)
    assert not (place.folder / "calls").exists()
    assert (launcher.stop, launcher.start) == ("", "")
    # The same of our own, which shows that it would have been asked.
    await asked(local, place, socket, kind, title, variable, 0)
    assert set((place.folder / "calls").read_text().split()) == {program}


@needs_root
async def test_nor_a_server_of_a_terminal_whose_socket_is_anothers(local: Placed, place: Place, socket: Path) -> None:
    os.chown(socket, NOBODY, NOBODY)
    await asked(local, place, socket, *ASKED[0][:3], 0)
    assert not (place.folder / "calls").exists()


@needs_root
@pytest.mark.parametrize("kind", ["runit", "s6"])
async def test_a_service_of_another_user_has_no_commands(local: Placed, place: Place, kind: str) -> None:
    title = {"runit": "runsv llm", "s6": "s6-supervise llm"}[kind]
    for user, commands in ((NOBODY, False), (0, True)):
        started = subprocess.Popen(["sleep", "600"], user=user, cwd="/")
        try:
            above = (Above(started.pid, title, title.split()[0]),)
            launchers, _ = await ask_launchers(local, KINDS, [Around(started.pid, "", above)])
        finally:
            started.kill()
            started.wait(60)
        launcher = launchers[started.pid]
        assert (launcher.kind, bool(launcher.stop), bool(launcher.start)) == (kind, commands, commands)
        assert ("it belongs to another user" in launcher.detail) is not commands


@needs_root
async def test_its_log_is_found_all_the_same(local: Placed, place: Place) -> None:
    path = Path("/tmp", f"bringup-test-{os.getpid()}-llm.log")
    given = {"SUPERVISOR_ENABLED": "1", "SUPERVISOR_PROCESS_NAME": f"bringup-test-{os.getpid()}-llm"}
    try:
        with path.open("wb") as log:
            started = subprocess.Popen(["sleep", "600"], user=NOBODY, cwd="/", env=given, stdout=log, stderr=log)
        above = (Above(started.pid, "/usr/bin/supervisord -n", "supervisord"),)
        around = Around(started.pid, "", above, frozenset({"SUPERVISOR_ENABLED"}))
        _, told = await ask_launchers(local, KINDS, [around])
    finally:
        started.kill()
        started.wait(60)
        path.unlink()
    assert told[started.pid][1].path == str(path)
