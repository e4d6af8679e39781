"""One login: what the host shows, what it may ask, and what we answer."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence

import asyncssh

from bringup.core.errors import BringupError
from bringup.hosts.ask import WRONG, Ask, Question
from bringup.hosts.ssh.config import Hop
from bringup.hosts.ssh.errors import Attempts, printable
from bringup.hosts.ssh.keys import KeyRing
from bringup.hosts.ssh.known_hosts import Entry, judge
from bringup.hosts.ssh.trust import check

LOGIN_TIMEOUT = 60.0
"""Seconds for the login once the host key is known: PAM and hardware keys take their time; sshd allows 120 s."""


class Patience:
    """Bounds an attempt to connect, but never the time that an operator takes to answer."""

    def __init__(self, seconds: float) -> None:
        self.timer = asyncio.timeout(seconds)
        self._seconds = seconds
        self._asking = False

    def extend(self, seconds: float) -> None:
        """Give the next step `seconds` from now."""
        self._seconds = seconds
        self._restart()

    def around(self, ask: Ask) -> Ask:
        """Return `ask` with the clock stopped while it waits."""

        async def asked(question: Question) -> str | None:
            self._asking = True
            self._set(None)
            try:
                return await ask(question)
            finally:
                self._asking = False
                self._restart()

        return asked

    def _restart(self) -> None:
        if not self._asking:
            self._set(asyncio.get_running_loop().time() + self._seconds)

    def _set(self, when: float | None) -> None:
        try:
            self.timer.reschedule(when)
        except RuntimeError:
            # The attempt is already over; there is nothing left to bound.
            return


class Login(asyncssh.SSHClient):
    """Answers asyncssh's callbacks for one connection, and knows afterwards why it ended."""

    def __init__(self, hop: Hop, entries: tuple[Entry, ...], ask: Ask | None, patience: Patience) -> None:
        self.attempts = Attempts()
        self.failure: BringupError | None = None
        """Our own reason to refuse, better than the one that asyncssh raises."""
        self.ended = asyncio.Event()
        self.why = ""
        self._hop = hop
        self._entries = entries
        self._ask = None if ask is None or hop.batch else patience.around(ask)
        self._patience = patience
        self._ring = KeyRing(hop, self._ask, self.attempts)
        self._keys_given = False
        self._secrets_asked = 0
        self._given: set[tuple[str, str]] = set()
        """Kinds and texts of questions that were answered in this login: one that comes again was answered wrongly."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Keep why the connection ended, and wake whoever waits for that."""
        self.why = "" if exc is None else str(exc)
        self._ring.close()
        self.ended.set()

    def auth_completed(self) -> None:
        """The login is done: the agent is not needed any more."""
        self._ring.close()

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Decide on a host key by the record alone; asyncssh asks for every key that it was not given as trusted."""
        try:
            self.failure = check(self._hop, self._entries, key.get_algorithm(), key.public_data)
        except BringupError as exc:
            self.failure = exc
        if self.failure is None:
            self._patience.extend(LOGIN_TIMEOUT)
        return self.failure is None

    async def public_key_auth_requested(self) -> Sequence[asyncssh.SSHKeyPair] | None:
        """Give all keys at once, once; asyncssh tries them in order."""
        if self._keys_given:
            return None
        self._keys_given = True
        return await self._ring.load() or None

    async def password_auth_requested(self) -> str | None:
        """Ask for the password, as often as the configuration allows."""
        answer = await self._secret("password", f"Password of {self._hop.user} on {self._hop.name}", "a password")
        if answer is not None:
            self.attempts.answered.append("password")
        return answer

    async def kbdint_auth_requested(self) -> str | None:
        """Say whether the host may ask its own questions."""
        self.attempts.offers.add("answers to its questions")
        return "" if self._ask is not None and self._secrets_asked < self._hop.prompts else None

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> Sequence[str] | None:
        """Pass the host's questions (password, one-time code) on to the operator."""
        answers = []
        kinds = set()
        for prompt, echo in prompts:
            kind = "password" if not echo and "assword" in prompt else "code"
            text = f"{self._hop.name} asks: {printable(prompt)}"
            answer = await self._secret(kind, text, "answers to its questions", printable(f"{name} {instructions}"))
            if answer is None:
                return None
            answers.append(answer)
            kinds.add(kind)
        if kinds:
            self.attempts.answered.append("password" if kinds == {"password"} else "answers")
        return answers

    async def _secret(self, kind: str, text: str, offer: str, detail: str = "") -> str | None:
        self.attempts.offers.add(offer)
        if self._ask is None or (kind == "password" and self._secrets_asked >= self._hop.prompts):
            return None
        self._secrets_asked += 1
        if (kind, text) in self._given:
            detail = f"{WRONG} {detail}".strip()
        answer = await self._ask(Question(kind, text, detail))
        if answer is None:
            self._secrets_asked = self._hop.prompts
        else:
            self._given.add((kind, text))
        return answer


def authorities(entries: tuple[Entry, ...]) -> tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey]]:
    """Return the certificate authorities and the revoked keys among the entries of a host."""
    marked: dict[str, list[asyncssh.SSHKey]] = {"cert-authority": [], "revoked": []}
    for entry in entries:
        key = _key(entry) if entry.marker else None
        if key is not None:
            marked[entry.marker].append(key)
    return marked["cert-authority"], marked["revoked"]


def known_algorithms(entries: tuple[Entry, ...]) -> list[str]:
    """Return the signature algorithms of the keys on record, so that the host is asked for one of those first."""
    names: list[str] = []
    for entry in entries:
        key = _key(entry) if not entry.marker and judge(entries, entry.blob)[0] == "known" else None
        if key is not None:
            names += [name.decode() for name in key.sig_algorithms]
    return list(dict.fromkeys(names))


def _key(entry: Entry) -> asyncssh.SSHKey | None:
    try:
        return asyncssh.import_public_key(f"{entry.algorithm} {base64.b64encode(entry.blob).decode()}")
    except asyncssh.KeyImportError:
        # A type that asyncssh does not know: the host cannot show it to us either.
        return None
