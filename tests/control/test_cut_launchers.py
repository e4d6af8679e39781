"""However a server was launched, a restart of it can be cut anywhere: never two, never none without saying so."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cutting import KINDS, Kind, again, see, settled
from engineserver import Place
from placedhost import CutAt, Placed
from sshd import Sshd
from sshd import real_sshd as real_sshd
from tearing import Torn

from bringup.core.errors import ConnectionLost
from bringup.hosts.base import Host
from bringup.hosts.control import LeftToAnother
from bringup.hosts.local import LocalHost
from bringup.hosts.ssh import SshHost

STRIDE = int(os.environ.get("BRINGUP_TEAR_STRIDE", "18"))
"""Programs from one cut inside of a script to the next; each kind begins at another one. 1 goes through all of them."""
BETWEEN = min(STRIDE, 3)
"""Commands from one cut to the next, for all kinds but the plain one."""
no_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
each_kind = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=no_tmux if name == "pane" else ()) for name in sorted(KINDS)]
)


class Places:
    """A place of its own for each restart that is cut, and beside it a process that looks just like the server."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch
        self._made: list[Place] = []
        self._lookalike: subprocess.Popen[bytes] | None = None
        (folder / "elsewhere" / "sglang").mkdir(parents=True)
        (folder / "elsewhere" / "sglang" / "launch_server.py").write_text("import time\ntime.sleep(600)\n")

    def new(self) -> Place:
        self.end()
        made = Place(self._folder / str(len(self._made)))
        self._monkeypatch.setenv("BRINGUP_PLACES", str(made.folder / "run"))
        self._made.append(made)
        elsewhere = self._folder / "elsewhere"
        environ = {**os.environ, "PYTHONPATH": str(elsewhere)}
        self._lookalike = subprocess.Popen(made.command(), cwd=elsewhere, env=environ, start_new_session=True)
        return made

    def end(self) -> None:
        if self._made:
            self._made[-1].end()
        if self._lookalike is not None:
            assert self._lookalike.poll() is None, "a bystander was signalled"
            self._lookalike.kill()
            self._lookalike.wait()
            self._lookalike = None


def nothing_of_its_log_is_lost(place: Place) -> None:
    """Every server that was ever started has its line, in the log or in one that was put aside."""
    started = len(list((place.folder / "pids").iterdir()))
    lines = [file.read_text().count("a server starts") for file in place.folder.glob("server.log*")]
    assert sum(lines) >= started


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    made = Places(tmp_path / "places", monkeypatch)
    yield made
    made.end()


async def cut_anywhere(kind: Kind, place: Place, host: Host) -> bool:
    """Restart until the connection is cut; return whether it was not."""
    server = await see(kind, place, Placed(LocalHost("box"), place.environ))
    try:
        await again(kind, place, host, server)
    except ConnectionLost:
        return False
    except LeftToAnother:
        assert kind.returns
    return True


@each_kind
async def test_after_every_command(places: Places, name: str) -> None:
    said, at, whole = list[str](), 0, False
    every = 1 if name == "plain" else BETWEEN
    while not whole:
        place = places.new()
        cut = CutAt(LocalHost("box"), place.environ, at, after=True)
        whole = await cut_anywhere(KINDS[name], place, cut)
        said.append(await settled(Placed(LocalHost("box"), place.environ), place))
        if name != "pane":
            nothing_of_its_log_is_lost(place)
        at += every
    heard = " ".join(said)
    assert "before anything was done; the old server still runs" in heard
    assert every > 1 or "while it was asked to end" in heard
    assert at > 8


@each_kind
async def test_in_the_middle_of_the_scripts(places: Places, name: str) -> None:
    said, whole, at = list[str](), False, 1 + sorted(KINDS).index(name) % STRIDE
    while not whole:
        place = places.new()
        torn = Torn(LocalHost("box"), place, at)
        whole = await cut_anywhere(KINDS[name], place, torn)
        said.append(await settled(Placed(LocalHost("box"), place.environ), place))
        if name != "pane":
            nothing_of_its_log_is_lost(place)
        at += STRIDE
    assert "before anything was done; the old server still runs" in " ".join(said)
    assert at > 30


@pytest.mark.parametrize("name", ["plain", "container", "edited"])
async def test_in_the_middle_of_the_scripts_of_a_real_connection(places: Places, real_sshd: Sshd, name: str) -> None:
    """What serves the connection on the host is killed, and the guard ends what ran there."""
    whole, at = False, 1 + sorted(KINDS).index(name)
    while not whole:
        place = places.new()
        host = await SshHost.login("box", options=real_sshd.options())
        whole = await cut_anywhere(KINDS[name], place, Torn(host, place, at, real_sshd.cut))
        await host.close()
        second = await SshHost.login("box", options=real_sshd.options())
        await settled(Placed(second, place.environ), place)
        await second.close()
        at += STRIDE
    assert at > 30
