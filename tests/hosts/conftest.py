from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sshd import Sshd
from sshd import bare_sshd as bare_sshd
from sshd import real_sshd as real_sshd

from bringup.hosts.base import Host
from bringup.hosts.local import LocalHost
from bringup.hosts.openssh import OpensshHost
from bringup.hosts.ssh import SshHost


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the keys, the agent or the home of whoever runs it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


@pytest.fixture
async def machine() -> AsyncIterator[LocalHost]:
    """This machine."""
    host = LocalHost("box")
    yield host
    await host.close()


def system_options(server: Sshd, folder: Path) -> tuple[str, ...]:
    """Make the system's ssh read a configuration of the test's own, in which the server is called "box"."""
    known, config = folder / "known_hosts", folder / "ssh_config"
    known.write_text(server.known_line)
    config.write_text(server.block("box", known))
    return ("-F", str(config))


@pytest.fixture(params=["sftp", "shell", "system", "local"])
async def host(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Host]:
    """The same contract over SSH with SFTP, with a shell that prints and nothing else, the system's ssh, and here."""
    made: Host
    if request.param == "local":
        made = LocalHost()
    elif request.param == "system":
        made = await OpensshHost.login("box", options=system_options(request.getfixturevalue("real_sshd"), tmp_path))
    else:
        server: Sshd = request.getfixturevalue("real_sshd" if request.param == "sftp" else "bare_sshd")
        made = await SshHost.login("box", options=server.options())
    yield made
    await made.close()


@pytest.fixture
async def ssh_host(real_sshd: Sshd) -> AsyncIterator[SshHost]:
    host = await SshHost.login("box", options=real_sshd.options())
    yield host
    await host.close()
