from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed
from sshd import Sshd
from sshd import real_sshd as real_sshd

from bringup.hosts.local import LocalHost
from bringup.hosts.ssh import SshHost


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the keys, the agent, the terminals or the home of whoever runs it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("SSH_AUTH_SOCK", "TMUX", "TMUX_PANE", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A folder for servers, and for what actions keep; whatever was started from it is ended."""
    made = Place(tmp_path / "place")
    monkeypatch.setenv("BRINGUP_PLACES", str(made.folder / "run"))
    yield made
    made.end()


@pytest.fixture
def memory(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in memory, as /dev/shm is, for the secrets; the rest stays in the test's own folder."""
    if not os.path.ismount("/dev/shm"):
        pytest.skip("there is no /dev/shm here")
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    monkeypatch.setenv("BRINGUP_PLACES", f"{place.folder / 'run'}:{folder}")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=["sftp", "local"])
async def host(request: pytest.FixtureRequest, place: Place) -> AsyncIterator[Placed]:
    """A host, over SSH and on this machine, that keeps what it keeps in the test's own folder."""
    if request.param == "local":
        made = Placed(LocalHost("box"), place.environ)
    else:
        server: Sshd = request.getfixturevalue("real_sshd")
        made = Placed(await SshHost.login("box", options=server.options()), place.environ)
    yield made
    await made.close()


@pytest.fixture
async def local(place: Place) -> AsyncIterator[Placed]:
    made = Placed(LocalHost("box"), place.environ)
    yield made
    await made.close()
