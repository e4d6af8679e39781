"""Where our own login is refused, the way that `ssh NAME` takes is tried too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sshd import Sshd
from sshd import real_sshd as real_sshd
from waiting import eventually

from bringup.cli.connect import way_to
from bringup.core.errors import LoginRefused
from bringup.hosts.ask import Question
from bringup.hosts.openssh import OpensshHost
from bringup.hosts.ssh import SshOptions


async def nobody(question: Question) -> str | None:
    return None


@pytest.fixture
def config(real_sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with a key that logs in, and a place for a connection that stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / "known_hosts").write_text(real_sshd.known_line)
    more = (f"ControlPath {tmp_path}/c", "ControlMaster auto", "IdentitiesOnly yes")
    (tmp_path / "config").write_text(real_sshd.block("box", tmp_path / "known_hosts", *more))
    return tmp_path / "config"


def without_key(config: Path) -> None:
    config.write_text(config.read_text().replace("IdentityFile", "# IdentityFile"))


async def test_a_connection_that_stands_carries_us_where_we_have_no_key(config: Path) -> None:
    master = subprocess.Popen(["ssh", "-F", config, "-N", "box"], stdin=subprocess.DEVNULL)
    try:
        await eventually((config.parent / "c").exists)
        without_key(config)
        host = await way_to("box", nobody, SshOptions(ssh_config=config))()
        assert isinstance(host, OpensshHost)
        assert (await host.run("echo in")).stdout == b"in\n"
        await host.close()
    finally:
        master.kill()
        master.wait(60)


async def test_both_refusals_are_told(config: Path) -> None:
    without_key(config)
    with pytest.raises(LoginRefused) as refused:
        await way_to("box", nobody, SshOptions(ssh_config=config))()
    assert "box refused the login" in str(refused.value)
    assert "The system's ssh cannot log in" in str(refused.value)
