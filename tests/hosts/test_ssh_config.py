"""How a host is reached, from the operator's own ssh configuration."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from bringup.core.errors import UsageError
from bringup.hosts.ssh.config import SshOptions, make_hop, parse_dump, plain_target, route

needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh client")
PROGRAMS = [pytest.param("ssh", marks=needs_ssh), pytest.param("", id="without-client")]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("gpu-a", "gpu-a"),
        ("root@gpu-a", "root@gpu-a"),
        ("ssh:gpu-a", "gpu-a"),
        ("ssh://root@gpu-a:2222", "ssh://root@gpu-a:2222"),
        ("fe80::1", "fe80::1"),
    ],
)
def test_what_is_taken_as_a_target(target: str, expected: str) -> None:
    assert plain_target(target) == expected


@pytest.mark.parametrize("target", ["", " ", "-oProxyCommand=x", "ssh:-v", "a b", "a\nb", "\x1b[2J", "gpu-a:22"])
async def test_what_is_refused_as_a_target(target: str) -> None:
    with pytest.raises(UsageError):
        await route(target, SshOptions(host="127.0.0.1"))


def test_a_port_behind_a_colon_is_shown_the_right_way() -> None:
    with pytest.raises(UsageError, match="ssh://root@gpu-a:2222"):
        plain_target("root@gpu-a:2222")


async def test_explicit_options_read_nothing() -> None:
    options = SshOptions(host="10.0.0.1", port=2222, username="me", known_hosts=b"x", ssh_program="/nowhere/ssh")
    (hop,) = await route("box", options)
    assert (hop.name, hop.host, hop.port, hop.user, hop.known_hosts) == ("box", "10.0.0.1", 2222, "me", b"x")
    assert (hop.identity_files, hop.agent, hop.user_known_hosts) == ((), "", ())


@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_configuration_file(config: Path, tmp_path: Path, program: str) -> None:
    key = tmp_path / "box.key"
    key.touch()
    config.write_text(f"""
Host box
    HostName 10.1.2.3
    Port 2200
    User me
    HostKeyAlias the-cluster
    IdentityFile {tmp_path}/%n.key
    IdentityFile {tmp_path}/not-there
    IdentitiesOnly yes
    IdentityAgent {tmp_path}/agent
    UserKnownHostsFile {tmp_path}/one {tmp_path}/two
    GlobalKnownHostsFile none
    ProxyCommand nc -X 5 %h %p
    ServerAliveInterval 30
    ServerAliveCountMax 2
    PasswordAuthentication no
""")
    (hop,) = await route("box", SshOptions(ssh_config=config, ssh_program=program))
    assert (hop.name, hop.host, hop.port, hop.user, hop.host_key_alias) == (
        "box",
        "10.1.2.3",
        2200,
        "me",
        "the-cluster",
    )
    assert (hop.identity_files, hop.identities_only, hop.agent) == ((str(key),), True, f"{tmp_path}/agent")
    assert (hop.user_known_hosts, hop.global_known_hosts) == ((f"{tmp_path}/one", f"{tmp_path}/two"), ())
    assert hop.proxy_command == "nc -X 5 10.1.2.3 2200"
    assert (hop.keepalive_interval, hop.keepalive_count) == (30, 3)
    assert hop.methods == {"publickey", "keyboard-interactive"}


@needs_ssh
async def test_what_asyncssh_alone_would_stumble_over(config: Path, tmp_path: Path) -> None:
    config.write_text(f"""
Host box
    Port 2200 # a trailing comment
    ServerAliveInterval 1m
    ConnectTimeout none
    StrictHostKeyChecking accept-new
    HashKnownHosts yes
    BatchMode yes
    UserKnownHostsFile none
    CertificateFile {tmp_path}/not-there
""")
    (hop,) = await route("root@box", SshOptions(ssh_config=config))
    assert (hop.user, hop.port, hop.keepalive_interval, hop.connect_timeout) == ("root", 2200, 60, 10)
    assert (hop.strict, hop.hash_known_hosts, hop.batch, hop.user_known_hosts) == ("accept-new", True, True, ())


@pytest.mark.parametrize("program", PROGRAMS)
async def test_defaults(config: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/somewhere/agent")
    config.touch()
    (hop,) = await route("ssh://10.9.8.7:2222", SshOptions(ssh_config=config, ssh_program=program))
    assert (hop.host, hop.port, hop.strict, hop.agent) == ("10.9.8.7", 2222, "ask", "/somewhere/agent")
    assert (hop.keepalive_interval, hop.keepalive_count, hop.connect_timeout) == (5, 3, 10)
    assert hop.user_known_hosts[0].endswith("/.ssh/known_hosts")
    assert hop.jumps == ()


@pytest.mark.parametrize("program", PROGRAMS)
async def test_no_agent(config: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/somewhere/agent")
    config.write_text("IdentityAgent none\n")
    (hop,) = await route("box", SshOptions(ssh_config=config, ssh_program=program))
    assert hop.agent == ""


@pytest.mark.parametrize("program", PROGRAMS)
async def test_jump_hosts_are_read_each_by_its_own_name(config: Path, program: str) -> None:
    config.write_text("""
Host box
    HostName 10.0.0.9
    ProxyJump first,you@second:2222
Host first
    HostName 10.0.0.1
    ProxyJump gate
Host gate
    HostName 10.0.0.2
Host second
    HostName 10.0.0.3
    ProxyJump unused
""")
    hops = await route("box", SshOptions(ssh_config=config, ssh_program=program))
    assert [(hop.host, hop.port) for hop in hops] == [
        ("10.0.0.2", 22),
        ("10.0.0.1", 22),
        ("10.0.0.3", 2222),
        ("10.0.0.9", 22),
    ]
    assert hops[2].user == "you"


@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_circle_of_jump_hosts(config: Path, program: str) -> None:
    config.write_text("Host a\n ProxyJump b\nHost b\n ProxyJump a\n")
    with pytest.raises(UsageError, match="jump hosts"):
        await route("a", SshOptions(ssh_config=config, ssh_program=program))


@needs_ssh
async def test_an_error_names_the_file_and_line(config: Path) -> None:
    config.write_text("Host box\n  Prot 22\n")
    with pytest.raises(UsageError, match=r"config: line 2: Bad configuration option: prot"):
        await route("box", SshOptions(ssh_config=config))


async def test_an_error_without_a_client_names_the_file_and_line(config: Path) -> None:
    config.write_text("Host box\n  Port 22 # trailing\n")
    with pytest.raises(
        UsageError, match=r"config line 2: .*without an ssh client|without an ssh client.*config line 2"
    ):
        await route("box", SshOptions(ssh_config=config, ssh_program=""))


async def test_a_client_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ssh"
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
    program.chmod(0o755)
    monkeypatch.setattr("bringup.hosts.ssh.config.READ_TIMEOUT", 0.2)
    with pytest.raises(UsageError, match="Match exec"):
        await route("box", SshOptions(ssh_program=str(program)))


def test_what_ssh_prints() -> None:
    values = parse_dump("host box\nidentityfile ~/a\nidentityfile ~/b\nhostname 10.0.0.1\nempty\n")
    assert values["identityfile"] == ["~/a", "~/b"]
    assert values["empty"] == [""]


def test_known_hosts_files_with_spaces_in_their_names() -> None:
    hop = make_hop("box", {"userknownhostsfile": ["/home/me/my hosts /etc/other"]})
    assert hop.user_known_hosts == ("/home/me/my hosts", "/etc/other")


def test_tokens_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "/place")
    values = {
        "hostname": ["10.0.0.1"],
        "user": ["me"],
        "port": ["2222"],
        "identityagent": ["${PLACE}/%r@%h:%p-%i-%%-%y"],
    }
    assert make_hop("box", values).agent == f"/place/me@10.0.0.1:2222-{os.getuid()}-%-%y"
    assert make_hop("box", {"identityagent": ["$PLACE"]}).agent == "/place"
