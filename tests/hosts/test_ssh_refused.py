"""A password or an answer that the host does not take: the operator hears so, at once and at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncssh
import pytest

from bringup.core.errors import Unreachable
from bringup.hosts.ask import Ask, Question, Remembering
from bringup.hosts.ssh import SshHost, SshOptions


class Gate(asyncssh.SSHServer):
    """Takes the password "right" of "by-password"; asks others for it, and "by-code" for a code as well."""

    def __init__(self) -> None:
        self._user = ""

    def begin_auth(self, username: str) -> bool:
        self._user = username
        return True

    def password_auth_supported(self) -> bool:
        return self._user == "by-password"

    def validate_password(self, username: str, password: str) -> bool:
        return password == "right"

    def kbdint_auth_supported(self) -> bool:
        return self._user != "by-password"

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> asyncssh.KbdIntChallenge:
        code = [("Code: ", True)] if self._user == "by-code" else []
        return "", "Welcome", "", [("Password: ", False), *code]

    def validate_kbdint_response(self, username: str, responses: list[str]) -> bool:
        return list(responses) == (["right", "42"] if self._user == "by-code" else ["right"])


@pytest.fixture
async def gate() -> AsyncIterator[SshOptions]:
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.create_server(Gate, "127.0.0.1", 0, server_host_keys=[key])
    line = f"[127.0.0.1]:{server.get_port()} {key.export_public_key().decode()}"
    yield SshOptions(host="127.0.0.1", port=server.get_port(), known_hosts=line.encode())
    server.close()
    await server.wait_closed()


class Typing:
    """Answers one after the other, then declines."""

    def __init__(self, *answers: str) -> None:
        self.asked: list[Question] = []
        self._answers = list(answers)

    async def __call__(self, question: Question) -> str | None:
        self.asked.append(question)
        return self._answers.pop(0) if self._answers else None


async def login(gate: SshOptions, user: str, ask: Ask | None) -> None:
    host = await SshHost.login(
        "box", ask=ask, options=SshOptions(gate.host, gate.port, user, known_hosts=gate.known_hosts)
    )
    await host.close()


async def refusal(gate: SshOptions, user: str, ask: Ask | None) -> Unreachable:
    with pytest.raises(Unreachable) as refused:
        await login(gate, user, ask)
    return refused.value


@pytest.mark.parametrize("user", ["by-password", "by-question"])
async def test_a_password_that_is_refused_is_said_to_be(gate: SshOptions, user: str) -> None:
    typing = Typing("a", "b", "c")
    error = await refusal(gate, user, typing)
    assert f"refused the login of {user}: the password was refused (3 tries)" in error.what
    assert "no answer" not in error.hint
    assert ["That was not it." in question.detail for question in typing.asked] == [False, True, True]


async def test_one_try_and_then_none(gate: SshOptions) -> None:
    error = await refusal(gate, "by-password", Typing("a"))
    assert "the password was refused (1 try)" in error.what


async def test_answers_that_are_refused(gate: SshOptions) -> None:
    typing = Typing("right", "1", "right", "2")
    error = await refusal(gate, "by-code", typing)
    assert "the answers to its questions were refused (2 tries)" in error.what
    assert [question.detail for question in typing.asked[:4]] == [
        "Welcome",
        "Welcome",
        *["That was not it. Welcome"] * 2,
    ]


async def test_what_was_never_given_is_not_said_to_be_refused(gate: SshOptions) -> None:
    error = await refusal(gate, "by-password", Typing())
    assert "password was refused" not in error.what
    assert "a password, but there was no answer" in error.hint


async def test_a_reconnect_does_not_try_the_wrong_one_again(gate: SshOptions) -> None:
    typing = Typing("wrong", "right")
    memory = Remembering(typing)
    for _ in range(2):
        memory.begin()
        await login(gate, "by-password", memory)
    assert len(typing.asked) == 2
