"""Two names of hosts lead to the same machine where ssh would go to the same sshd, whoever logs in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bringup.hosts import addresses
from bringup.hosts.addresses import Address, address_of

needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh client")
CONFIG = """
Host gpu-a
 HostName 192.0.2.1
 User ada
Host prod
 HostName 192.0.2.1
Host forwarded
 HostName 192.0.2.1
 Port 2222
Host jumped
 HostName 192.0.2.1
 ProxyJump bastion
Host tunnel
 HostName localhost
 Port 2222
Host inner-a inner-b
 HostName localhost
Host inner-a
 ProxyJump node-a
Host inner-b
 ProxyJump node-b
Host named
 HostName GPU-A.example.org.
"""


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An `ssh` that reads the configuration of the test, and a name service that knows one name."""
    (tmp_path / "config").write_text(CONFIG)
    program = tmp_path / "ssh"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/config "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    async def numbers(host: str) -> tuple[str, ...]:
        known = {"gpu-a.example.org": "192.0.2.1", "localhost": "127.0.0.1", "127.0.0.1": "127.0.0.1"}
        return (known[host],) if host in known else ()

    monkeypatch.setattr(addresses, "_numbers", numbers)
    monkeypatch.setattr(addresses.socket, "gethostname", lambda: "Here")


@needs_ssh
@pytest.mark.usefixtures("ssh")
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpu-a", "gpu-a", True),
        ("gpu-a", "root@gpu-a", True),
        ("gpu-a", "ssh:gpu-a", True),
        ("gpu-a", "prod", True),
        ("gpu-a", "ssh://root@192.0.2.1:22", True),
        ("gpu-a", "named", True),
        ("gpu-a", "GPU-A.EXAMPLE.ORG", True),
        ("gpu-a", "jumped", True),
        ("gpu-a", "forwarded", False),
        ("forwarded", "ssh://192.0.2.1:2222", True),
        ("gpu-a", "gpu-b", False),
        ("gpu-b", "root@GPU-B", True),
        ("", "localhost", True),
        ("", "127.0.0.1", True),
        ("", "me@here", True),
        ("", "", True),
        ("", "tunnel", False),
        ("", "gpu-a", False),
        ("inner-a", "inner-a", True),
        ("inner-a", "inner-b", False),
        ("inner-a", "", False),
    ],
)
async def test_two_names_of_hosts(one: str, other: str, same: bool) -> None:
    first, second = await address_of(one), await address_of(other)
    assert first.is_same(second) is second.is_same(first) is same


async def test_a_configuration_that_ssh_refuses_leaves_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ssh"
    program.write_text("#!/bin/sh\nexit 255\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert await address_of("root@GPU-A") == Address(frozenset({"gpu-a"}))
    assert (await address_of("gpu-a")).is_same(await address_of("ada@gpu-a"))


async def test_a_name_service_knows_this_machine() -> None:
    assert "127.0.0.1" in (await address_of("")).names
