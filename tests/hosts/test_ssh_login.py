"""Keys, agents, passphrases, passwords and one-time codes: who is asked, when, and what is said when nobody can be."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest
from sshd import Sshd, write_key

from bringup.core.errors import Unreachable
from bringup.hosts.ask import Question, Remembering
from bringup.hosts.ssh import SshHost, SshOptions


class Operator:
    """Answers questions by their kind, one answer after the other, and remembers what was asked."""

    def __init__(self, **answers: str | None) -> None:
        self.asked: list[Question] = []
        self._answers = {kind: answer.split("|") if answer is not None else [] for kind, answer in answers.items()}

    async def __call__(self, question: Question) -> str | None:
        self.asked.append(question)
        await asyncio.sleep(0)
        left = self._answers.get(question.kind, [])
        return left.pop(0) if left else None

    @property
    def kinds(self) -> list[str]:
        return [question.kind for question in self.asked]


@pytest.fixture
def locked_key(real_sshd: Sshd, tmp_path: Path) -> Path:
    """The key that the server accepts, under a passphrase."""
    path = tmp_path / "locked"
    key = asyncssh.read_private_key(real_sshd.client_key)
    # Few rounds: the default ones take half a second.
    key.write_private_key(path, passphrase="sesame", rounds=1, ignore_few_rounds=True)
    path.chmod(0o600)
    return path


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Path]:
    """A key agent of our own, empty."""
    path = tmp_path / "agent"
    started = subprocess.run(["ssh-agent", "-s", "-a", path], capture_output=True, text=True, check=True).stdout
    yield path
    os.kill(int(started.split("SSH_AGENT_PID=")[1].split(";")[0]), signal.SIGTERM)


def add_to(agent: Path, key: Path) -> None:
    environment = {**os.environ, "SSH_AUTH_SOCK": str(agent)}
    subprocess.run(["ssh-add", "-q", key], env=environment, check=True, capture_output=True)


def config_for(server: Sshd, folder: Path, *lines: str) -> SshOptions:
    """Options by a configuration file, with exactly these lines for the keys."""
    (folder / "known_hosts").write_text(server.known_line)
    block = server.block("box", folder / "known_hosts")
    kept = [line for line in block.splitlines() if "Identity" not in line]
    (folder / "config").write_text("\n".join([*kept, *lines]) + "\n")
    return SshOptions(ssh_config=folder / "config")


async def works(options: SshOptions, operator: Operator | Remembering | None = None) -> None:
    host = await SshHost.login("box", ask=operator, options=options)
    assert (await host.run("echo in")).stdout == b"in\n"
    await host.close()


async def test_a_passphrase_is_asked_again_while_it_is_wrong(real_sshd: Sshd, locked_key: Path) -> None:
    operator = Operator(passphrase="open|sesame")
    await works(real_sshd.options(client_keys=(locked_key,)), operator)
    assert [(q.kind, str(locked_key) in q.text, bool(q.detail)) for q in operator.asked] == [
        ("passphrase", True, False),
        ("passphrase", True, True),
    ]


async def test_no_passphrase_is_asked_for_a_key_that_the_host_refuses(real_sshd: Sshd, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    write_key(stranger, passphrase="x")
    operator = Operator(passphrase="x")
    with pytest.raises(Unreachable, match="refused the login"):
        await SshHost.login("box", ask=operator, options=real_sshd.options(client_keys=(stranger,)))
    assert operator.asked == []


async def test_a_locked_key_and_nobody_to_ask(real_sshd: Sshd, locked_key: Path) -> None:
    with pytest.raises(Unreachable, match=rf"{locked_key} needs its passphrase.*ssh-add"):
        await works(real_sshd.options(client_keys=(locked_key,)))


async def test_a_passphrase_that_is_declined(real_sshd: Sshd, locked_key: Path) -> None:
    with pytest.raises(Unreachable, match="stayed locked"):
        await works(real_sshd.options(client_keys=(locked_key,)), Operator())


async def test_an_old_pem_key_without_its_public_half(real_sshd: Sshd, tmp_path: Path) -> None:
    key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    path = tmp_path / "old.pem"
    key.write_private_key(path, "pkcs8-pem", passphrase="sesame")
    operator = Operator(passphrase="sesame")
    with pytest.raises(Unreachable, match="refused the login"):
        await works(real_sshd.options(client_keys=(path,)), operator)
    assert operator.kinds == ["passphrase"]


async def test_the_agent_spares_the_passphrase(real_sshd: Sshd, locked_key: Path, agent: Path, tmp_path: Path) -> None:
    add_to(agent, real_sshd.client_key)
    operator = Operator()
    await works(config_for(real_sshd, tmp_path, f"IdentityAgent {agent}", f"IdentityFile {locked_key}"), operator)
    assert operator.asked == []


async def test_only_the_named_keys_of_the_agent_are_offered(real_sshd: Sshd, agent: Path, tmp_path: Path) -> None:
    for number in range(8):
        stranger = tmp_path / f"stranger{number}"
        write_key(stranger)
        add_to(agent, stranger)
    add_to(agent, real_sshd.client_key)
    options = config_for(real_sshd, tmp_path, f"IdentityAgent {agent}", "IdentityFile none")
    with pytest.raises(Unreachable, match="IdentitiesOnly"):
        await works(options)
    public = tmp_path / "mine.pub"
    asyncssh.read_private_key(real_sshd.client_key).write_public_key(public)
    await works(
        config_for(real_sshd, tmp_path, f"IdentityAgent {agent}", f"IdentityFile {public}", "IdentitiesOnly yes")
    )
    await works(config_for(real_sshd, tmp_path, f"IdentityAgent {agent}", f"IdentityFile {public}"))


async def test_a_dead_agent_is_named(real_sshd: Sshd, tmp_path: Path) -> None:
    options = config_for(real_sshd, tmp_path, f"IdentityAgent {tmp_path}/dead", "IdentityFile none")
    with pytest.raises(Unreachable, match=rf"the key agent at {tmp_path}/dead does not answer"):
        await works(options)


async def test_a_certificate(real_sshd: Sshd, tmp_path: Path) -> None:
    authority, user = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    name = real_sshd.options().username
    certificate = authority.generate_user_certificate(user, "me", principals=[name])
    user.write_private_key(tmp_path / "user")
    (tmp_path / "user").chmod(0o600)
    certificate.write_certificate(tmp_path / "given-cert.pub")
    allowed = real_sshd.folder / "authorized_keys"
    before = allowed.read_text()
    allowed.write_text(f"{before}cert-authority {authority.export_public_key().decode()}")
    options = config_for(
        real_sshd,
        tmp_path,
        f"IdentityFile {tmp_path}/user",
        f"CertificateFile {tmp_path}/given-cert.pub",
        "IdentityAgent none",
    )
    await works(options)
    allowed.write_text(before)


class SecretServer(asyncssh.SSHServer):
    """Takes the password "right", or that and then the code "42"."""

    def __init__(self, *, code: bool) -> None:
        self._code = code

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return not self._code

    def validate_password(self, username: str, password: str) -> bool:
        return password == "right"

    def kbdint_auth_supported(self) -> bool:
        return self._code

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> asyncssh.KbdIntChallenge:
        return "", "\x1b]52;c;x\x07Token of the day", "", [("Password: ", False), ("Verification code: ", True)]

    def validate_kbdint_response(self, username: str, responses: list[str]) -> bool:
        return list(responses) == ["right", "42"]


async def serve(code: bool) -> tuple[asyncssh.SSHAcceptor, SshOptions]:
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.create_server(
        lambda: SecretServer(code=code),
        "127.0.0.1",
        0,
        server_host_keys=[key],
        process_factory=lambda process: process.exit(0),
    )
    line = f"[127.0.0.1]:{server.get_port()} {key.export_public_key().decode()}"
    return server, SshOptions(host="127.0.0.1", port=server.get_port(), username="me", known_hosts=line.encode())


@pytest.fixture
async def by_password() -> AsyncIterator[SshOptions]:
    server, options = await serve(code=False)
    yield options
    server.close()
    await server.wait_closed()


@pytest.fixture
async def by_code() -> AsyncIterator[SshOptions]:
    server, options = await serve(code=True)
    yield options
    server.close()
    await server.wait_closed()


async def login(options: SshOptions, operator: Operator | Remembering | None) -> None:
    host = await SshHost.login("box", ask=operator, options=options)
    await host.close()


async def test_a_password_is_asked_again_while_it_is_wrong(by_password: SshOptions) -> None:
    operator = Operator(password="wrong|right")
    await login(by_password, operator)
    assert operator.kinds == ["password", "password"]
    assert operator.asked[0].text == "Password of me on box"


async def test_a_password_is_asked_three_times_at_most(by_password: SshOptions) -> None:
    operator = Operator(password="a|b|c|d|e")
    with pytest.raises(Unreachable, match="refused the login of me"):
        await login(by_password, operator)
    assert len(operator.asked) == 3


async def test_a_password_that_is_declined(by_password: SshOptions) -> None:
    operator = Operator()
    with pytest.raises(Unreachable):
        await login(by_password, operator)
    assert len(operator.asked) == 1


async def test_a_password_and_nobody_to_ask(by_password: SshOptions) -> None:
    with pytest.raises(Unreachable) as failure:
        await login(by_password, None)
    assert "a password" in failure.value.hint


async def test_the_operator_may_take_longer_than_the_host(by_password: SshOptions) -> None:
    class Slow(Operator):
        async def __call__(self, question: Question) -> str | None:
            await asyncio.sleep(2 * timeout)
            return await super().__call__(question)

    for timeout in (0.3, 3.0, 30.0):
        operator = Slow(password="right")
        try:
            await login(replace(by_password, connect_timeout=timeout), operator)
        except Unreachable:
            assert timeout < 30.0, "a machine on which the host itself takes longer than the first one is given more"
        else:
            break


async def test_a_code_is_asked_for_with_the_hosts_own_words_made_harmless(by_code: SshOptions) -> None:
    operator = Operator(password="right", code="42")
    await login(by_code, operator)
    assert [(q.kind, q.text) for q in operator.asked] == [
        ("password", "box asks: Password:"),
        ("code", "box asks: Verification code:"),
    ]
    assert operator.asked[0].detail == "?]52;c;x?Token of the day"


async def test_a_reconnect_asks_nothing_again_but_a_code(by_password: SshOptions, by_code: SshOptions) -> None:
    operator = Operator(password="wrong|right|right", code="42|42")
    memory = Remembering(operator)
    for _ in range(3):
        memory.begin()
        await login(by_password, memory)
    assert operator.kinds == ["password", "password"]
    for _ in range(2):
        memory.begin()
        await login(by_code, memory)
    assert operator.kinds == ["password", "password", "password", "code", "code"]
