"""Logging in to a real sshd, what is said when that fails, ."""

from __future__ import annotations

import asyncio
import base64
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sshd import Sshd, free_port, write_key

from bringup.core.errors import HostKeyChanged, HostKeyUnknown, Unreachable, UsageError
from bringup.hosts.ssh import SshHost, SshOptions
from bringup.hosts.ssh.known_hosts import fingerprint
from bringup.hosts.ssh.trust import accept


async def said(options: SshOptions, target: str = "box") -> Unreachable:
    """Fail to log in and return what is said about it."""
    with pytest.raises(Unreachable) as failure:
        await SshHost.login(target, options=options)
    return failure.value


def test_importing_does_not_load_asyncssh() -> None:
    code = "import sys, bringup.hosts.ssh, bringup.hosts.ssh.trust; sys.exit('asyncssh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_an_unknown_host_is_accepted_once_and_known_from_then_on(real_sshd: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "new folder" / "known_hosts"
    config = tmp_path / "config"
    config.write_text(real_sshd.block("box", known, "HashKnownHosts yes"))
    options = SshOptions(ssh_config=config)
    error = await said(options)
    assert isinstance(error, HostKeyUnknown)
    key = real_sshd.host_key.split()[1]
    listed = subprocess.run(
        ["ssh-keygen", "-lf", "-"], input=real_sshd.host_key.encode(), capture_output=True, check=True
    )
    assert error.fingerprint in listed.stdout.decode()
    assert (error.algorithm, error.file) == ("ssh-ed25519", str(known))
    accept(error)
    assert known.read_text().startswith("|1|")
    assert key in known.read_text()
    host = await SshHost.login("box", options=options)
    assert (await host.run("echo in")).stdout == b"in\n"
    await host.close()


async def test_an_unknown_host_without_any_configuration(real_sshd: Sshd) -> None:
    assert isinstance(await said(real_sshd.options(known_hosts=b"")), HostKeyUnknown)


async def test_a_changed_key_is_refused(real_sshd: Sshd, tmp_path: Path) -> None:
    other = write_key(tmp_path / "other").export_public_key().decode()
    known = f"# a line before\n[127.0.0.1]:{real_sshd.port} {other}"
    error = await said(real_sshd.options(known_hosts=known.encode()))
    assert isinstance(error, HostKeyChanged)
    assert "line 2" in error.what


async def test_a_changed_key_of_another_type_is_refused_even_where_new_keys_are_accepted(
    real_sshd: Sshd, tmp_path: Path
) -> None:
    known = tmp_path / "known_hosts"
    ecdsa = tmp_path / "ecdsa"
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", ecdsa], check=True)
    known.write_text(f"[127.0.0.1]:{real_sshd.port} {ecdsa.with_suffix('.pub').read_text()}")
    config = tmp_path / "config"
    config.write_text(real_sshd.block("box", known, "StrictHostKeyChecking no"))
    error = await said(SshOptions(ssh_config=config))
    assert isinstance(error, HostKeyChanged)
    assert f"ssh-keygen -f {known} -R '[127.0.0.1]:{real_sshd.port}'" in error.hint


async def test_a_revoked_key_is_refused(real_sshd: Sshd) -> None:
    known = real_sshd.known_line + f"@revoked * {real_sshd.host_key}\n"
    error = await said(real_sshd.options(known_hosts=known.encode()))
    assert "revoked" in error.what


async def test_a_lax_configuration_accepts_an_unknown_host_and_records_it(real_sshd: Sshd, tmp_path: Path) -> None:
    known, config = tmp_path / "known_hosts", tmp_path / "config"
    config.write_text(real_sshd.block("box", known, "StrictHostKeyChecking accept-new"))
    host = await SshHost.login("box", options=SshOptions(ssh_config=config))
    await host.close()
    assert known.read_text() == real_sshd.known_line


async def test_a_refused_key_says_who_and_what_was_tried(real_sshd: Sshd, tmp_path: Path) -> None:
    key = tmp_path / "stranger"
    write_key(key)
    error = await said(real_sshd.options(client_keys=(key,), username="somebody"))
    assert "refused the login of somebody" in error.what
    assert "stranger" in error.what


async def test_no_key_at_all(real_sshd: Sshd) -> None:
    assert "no key was at hand" in (await said(real_sshd.options(client_keys=()))).what


async def test_a_name_that_does_not_exist(real_sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    # Where there is no network a name server may not answer for longer than a login may take.
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = await said(real_sshd.options(host="no-such-host.invalid"))
    assert "no-such-host.invalid" in error.what
    assert "cannot be resolved" in error.what


async def test_a_port_where_nobody_listens(real_sshd: Sshd) -> None:
    port = free_port()
    error = await said(real_sshd.options(port=port))
    assert f"refused the connection on port {port}" in error.what


async def test_a_host_that_does_not_answer(real_sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = await said(real_sshd.options(port=silent.getsockname()[1], connect_timeout=0.3))
    assert "did not answer within" in error.what


async def test_a_server_that_hangs_up(real_sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as rude:
        failing = asyncio.ensure_future(said(real_sshd.options(port=rude.getsockname()[1])))
        connection, _ = await asyncio.to_thread(rude.accept)
        connection.close()
        assert "closed the connection before the login was done" in (await failing).what


async def test_a_configuration_that_ssh_refuses(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host *\n  Nonsense yes\n")
    with pytest.raises(UsageError, match="line 2"):
        await SshHost.login("box", options=SshOptions(ssh_config=config))


def test_fingerprints_agree_with_openssh(real_sshd: Sshd, tmp_path: Path) -> None:
    public = tmp_path / "key.pub"
    public.write_text(real_sshd.host_key + "\n")
    listed = subprocess.run(["ssh-keygen", "-lf", public], capture_output=True, text=True, check=True).stdout
    assert listed.split()[1] == fingerprint(base64.b64decode(real_sshd.host_key.split()[1]))
