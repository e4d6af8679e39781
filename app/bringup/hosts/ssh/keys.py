"""The keys that a login offers: of the agent first, then of the IdentityFiles that the agent does not have."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import asyncssh

from bringup.core.words import count
from bringup.hosts.ask import WRONG, Ask, Question
from bringup.hosts.ssh.config import Hop
from bringup.hosts.ssh.errors import Attempts

AGENT_TIMEOUT = 5.0


class LockedKey(asyncssh.SSHKeyPair):
    """A key file under a passphrase: the host sees its public half, the operator is asked only when it accepts that."""

    def __init__(
        self, public: asyncssh.SSHKey, path: str, data: bytes, ask: Ask | None, attempts: Attempts, tries: int
    ):
        names = public.sig_algorithms
        super().__init__(public.algorithm, public.algorithm, names, names, public.public_data, path.encode())
        self._path, self._data, self._ask, self._attempts, self._tries = path, data, ask, attempts, tries

    async def sign_async(self, data: bytes) -> bytes:
        """Unlock the key and sign; raises KeyEncryptionError when it stays locked, which ends the try of this key."""
        key = await unlock(self._path, self._data, self._ask, self._attempts, self._tries)
        if key is None:
            raise asyncssh.KeyEncryptionError("the key stays locked")
        return key.sign(data, self.sig_algorithm)


async def unlock(path: str, data: bytes, ask: Ask | None, attempts: Attempts, tries: int) -> asyncssh.SSHKey | None:
    """Ask for the passphrase of a key file, again while it is wrong; None when there is no right answer."""
    if ask is None:
        attempts.notes.append(f"{path} needs its passphrase and nobody can be asked (ssh-add {path} helps)")
        return None
    detail = ""
    for _ in range(tries):
        passphrase = await ask(Question("passphrase", f"Passphrase of {path}", detail))
        if passphrase is None:
            attempts.notes.append(f"{path} stayed locked")
            return None
        try:
            # bcrypt takes half a second by design.
            return await asyncio.to_thread(asyncssh.import_private_key, data, passphrase)
        except ValueError:
            detail = WRONG
    attempts.notes.append(f"the passphrase of {path} was wrong {count(tries, 'time')}")
    return None


class KeyRing:
    """All keys for one login. `close` ends the talk with the agent."""

    def __init__(self, hop: Hop, ask: Ask | None, attempts: Attempts) -> None:
        self._hop, self._ask, self._attempts = hop, ask, attempts
        self._agent: asyncssh.SSHAgentClient | None = None

    async def load(self) -> list[asyncssh.SSHKeyPair]:
        """Return the keys in the order in which they are to be tried."""
        certificates = await asyncio.to_thread(self._certificates)
        held = await self._agent_keys(certificates)
        blobs = {pair.key_public_data for pair in held}
        files: list[asyncssh.SSHKeyPair] = []
        named: set[bytes] = set()
        for path in self._hop.identity_files:
            blob, pairs = await self._file_keys(path, certificates, blobs)
            named |= {blob}
            files += pairs
        # Keys of the agent that the configuration names go first: servers count every key that they refuse.
        first = [pair for pair in held if pair.key_public_data in named]
        other = [] if self._hop.identities_only else [pair for pair in held if pair.key_public_data not in named]
        self._attempts.keys += [f"{_text(pair)} of the agent" for pair in [*first, *other]]
        self._attempts.keys += [_text(pair) for pair in files]
        return [*first, *other, *files]

    def close(self) -> None:
        """End the talk with the agent."""
        if self._agent is not None:
            self._agent.close()
            self._agent = None

    async def _agent_keys(self, certificates: Sequence[asyncssh.SSHCertificate]) -> list[asyncssh.SSHKeyPair]:
        path = self._hop.agent
        if not path:
            return []
        try:
            async with asyncio.timeout(AGENT_TIMEOUT):
                self._agent = await asyncssh.connect_agent(path)
                plain = list(await self._agent.get_keys())
                with_certificate = list(await self._agent.get_keys()) if certificates else []
        except (OSError, ValueError, asyncssh.Error) as exc:
            self._attempts.notes.append(f"the key agent at {path} does not answer ({_reason(exc)})")
            return []
        by_key = {certificate.key.public_data: certificate for certificate in certificates}
        certified = [pair for pair in with_certificate if pair.key_public_data in by_key]
        for pair in certified:
            pair.set_certificate(by_key[pair.key_public_data])
        return [*certified, *plain]

    def _certificates(self) -> list[asyncssh.SSHCertificate]:
        found: list[asyncssh.SSHCertificate] = []
        beside = [f"{path}-cert.pub" for path in self._hop.identity_files]
        for path in [*self._hop.certificate_files, *(path for path in beside if Path(path).exists())]:
            try:
                found += asyncssh.load_certificates(path)
            except (OSError, ValueError) as exc:
                self._attempts.notes.append(f"the certificate {path} cannot be used ({_reason(exc)})")
        return found

    async def _file_keys(
        self, path: str, certificates: Sequence[asyncssh.SSHCertificate], held: set[bytes]
    ) -> tuple[bytes, list[asyncssh.SSHKeyPair]]:
        """Return the public half of a key file, and its pairs unless the agent has it."""
        try:
            data = await asyncio.to_thread(Path(path).read_bytes)
        except OSError as exc:
            self._attempts.notes.append(f"{path} cannot be read ({_reason(exc)})")
            return b"", []
        public = await asyncio.to_thread(_public_half, path, data)
        if public is not None and (public.public_data in held or b"PRIVATE KEY" not in data):
            return public.public_data, []
        try:
            pairs = list(await asyncio.to_thread(asyncssh.load_keypairs, path, None, certificates))
        except (OSError, ValueError) as exc:
            if "assphrase" not in str(exc):
                self._attempts.notes.append(f"{path} cannot be used as a key ({_reason(exc)})")
                return b"", []
            pairs = await self._locked(path, data, public, certificates)
        return (pairs[0].key_public_data if pairs else b""), pairs

    async def _locked(
        self,
        path: str,
        data: bytes,
        public: asyncssh.SSHKey | None,
        certificates: Sequence[asyncssh.SSHCertificate],
    ) -> list[asyncssh.SSHKeyPair]:
        tries = self._hop.prompts
        if public is None:
            # An old PEM file without its .pub: what it holds is not known before it is unlocked.
            key = await unlock(path, data, self._ask, self._attempts, tries)
            return list(asyncssh.load_keypairs([key], None, certificates)) if key is not None else []
        pairs: list[asyncssh.SSHKeyPair] = []
        for certificate in [c for c in certificates if c.key.public_data == public.public_data]:
            pairs.append(LockedKey(public, path, data, self._ask, self._attempts, tries))
            pairs[-1].set_certificate(certificate)
        return [*pairs, LockedKey(public, path, data, self._ask, self._attempts, tries)]


def _public_half(path: str, data: bytes) -> asyncssh.SSHKey | None:
    sources = [data]
    try:
        sources.append(Path(f"{path}.pub").read_bytes())
    except OSError:
        sources.append(b"")
    for source in sources:
        try:
            return asyncssh.import_public_key(source)
        except ValueError:
            continue
    return None


def _text(pair: asyncssh.SSHKeyPair) -> str:
    comment = pair.get_comment(errors="replace") or ""
    return f"{pair.get_algorithm()} {comment}".strip()


def _reason(exc: BaseException) -> str:
    return (exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)) or type(exc).__name__
