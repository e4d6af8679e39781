"""The connections that lead to a host, jump by jump, and their common end."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, cast

import asyncssh
from asyncssh.encryption import get_encryption_algs
from asyncssh.kex import get_kex_algs
from asyncssh.mac import get_mac_algs
from asyncssh.public_key import get_default_certificate_algs, get_default_public_key_algs, get_public_key_algs

from bringup.core.errors import ConnectionLost
from bringup.hosts.ask import Ask
from bringup.hosts.scripts import wire
from bringup.hosts.ssh.config import Hop, SshOptions, route
from bringup.hosts.ssh.errors import NETWORK, connect_error, lost
from bringup.hosts.ssh.known_hosts import Entry, find, read_texts
from bringup.hosts.ssh.login import Login, Patience, authorities, known_algorithms
from bringup.hosts.ssh.proxy import Proxy

CLOSE_TIMEOUT = 2.0
FAMILIES = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}
CHOICES = (
    ("ciphers", "encryption_algs", get_encryption_algs),
    ("macs", "mac_algs", get_mac_algs),
    ("kexalgorithms", "kex_algs", get_kex_algs),
)
"""ssh keyword, asyncssh option, what asyncssh can do."""
CHEAP_CIPHER = "-gcm@openssh.com"
"""Preferred among those that are allowed: one call a packet, where chacha20-poly1305 takes four from Python. A console
that polls sends many small packets."""


class Line:
    """A standing way to a host. `conn` is the connection to the host itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._connections: list[asyncssh.SSHClientConnection] = []
        self._hops: list[Hop] = []
        self._proxies: list[Proxy] = []
        self._login: Login | None = None

    @property
    def conn(self) -> asyncssh.SSHClientConnection:
        """The connection to the host itself."""
        return self._connections[-1]

    @property
    def is_lost(self) -> bool:
        """The connection has ended."""
        return self._login is None or self._login.ended.is_set()

    def loss(self) -> ConnectionLost:
        """Return the error of a connection that has ended."""
        return lost(self.name, self._login.why if self._login else "")

    async def ended(self) -> str:
        """Wait for the end of the connection and say why it came."""
        if self._login is not None:
            await self._login.ended.wait()
        return self.loss().what

    async def start(self, command: str, window: int) -> asyncssh.SSHClientProcess[bytes]:
        """Start a command of the login shell."""
        # asyncssh would encode text strictly, and a path of the host may be no UTF-8; bytes it sends as they are.
        raw = cast(str, wire(command))
        return await self.conn.create_process(raw, encoding=None, window=window)

    async def extend(self, hop: Hop, ask: Ask | None) -> None:
        """Connect to the next hop through the last one; raises Unreachable with the sentence for it."""
        texts = await asyncio.to_thread(_known_texts, hop)
        patience = Patience(hop.connect_timeout)
        entries = find(texts, hop.host, hop.port, hop.host_key_alias)
        login = Login(hop, entries, ask, patience)
        proxy: Proxy | None = None
        try:
            async with patience.timer:
                if hop.proxy_command:
                    proxy = await Proxy.start(hop.proxy_command)
                    self._proxies.append(proxy)
                tunnel = self._connections[-1] if self._connections else ()
                conn = await asyncssh.connect(
                    tunnel=tunnel, sock=proxy.socket if proxy else None, **settings(hop, entries, login)
                )
        except (*NETWORK, ValueError) as exc:
            if proxy is not None:
                login.attempts.proxy = await proxy.errors()
            via = f"The jump host {self._hops[-1].name}" if self._hops else ""
            raise login.failure or connect_error(exc, hop, login.attempts, via) from exc
        self._connections.append(conn)
        self._hops.append(hop)
        self._login = login

    async def close(self) -> None:
        """End all connections, the last one first; never raises."""
        for conn in reversed(self._connections):
            conn.close()
            try:
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await conn.wait_closed()
            except TimeoutError:
                conn.abort()
        for proxy in self._proxies:
            await proxy.close()
        self._proxies.clear()


async def dial(target: str, ask: Ask | None, options: SshOptions) -> Line:
    """Connect to a target, over its jump hosts if it has any."""
    hops = await route(target, options)
    line = Line(hops[-1].name)
    try:
        for hop in hops:
            await line.extend(hop, ask)
    except BaseException:
        await line.close()
        raise
    return line


def _known_texts(hop: Hop) -> list[tuple[str, str]]:
    if hop.known_hosts is not None:
        return [("the given known_hosts", hop.known_hosts.decode("utf-8", "replace"))]
    return read_texts([*hop.user_known_hosts, *hop.global_known_hosts])


def settings(hop: Hop, entries: tuple[Entry, ...], login: Login) -> dict[str, Any]:
    """Return the options for asyncssh, all of them given: it must read no file and no environment by itself.

    No host key is given as trusted, so that each one passes `Login.validate_host_public_key`. The keys of the user come
    from `Login` as well: an empty `client_keys` would make asyncssh load the default ones.
    """
    trusted, revoked = authorities(entries)
    chosen = dict(hop.algorithms)
    return _ciphers(chosen) | {
        "host": hop.host,
        "port": hop.port,
        "username": hop.user,
        "config": None,
        "family": FAMILIES.get(hop.family, socket.AF_UNSPEC),
        "client_factory": lambda: login,
        "known_hosts": lambda host, addr, port: ([], trusted, revoked),
        "server_host_key_algs": _host_key_algorithms(chosen.get("hostkeyalgorithms", ()), entries, bool(trusted)),
        "host_key_alias": hop.host_key_alias or (),
        "client_keys": None,
        "public_key_auth": "publickey" in hop.methods,
        "kbdint_auth": "keyboard-interactive" in hop.methods,
        "password_auth": "password" in hop.methods,
        "gss_host": None,
        "gss_kex": False,
        "gss_auth": False,
        "x509_trusted_certs": None,
        "x509_trusted_cert_paths": [],
        "keepalive_interval": hop.keepalive_interval,
        "keepalive_count_max": hop.keepalive_count,
        # Our own clock bounds the attempt; these would also count the time in which the operator types.
        "connect_timeout": None,
        "login_timeout": 0,
        "request_pty": False,
        "agent_forwarding": False,
    }


def _ciphers(chosen: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    picked = {}
    for keyword, option, available in CHOICES:
        known = [name.decode() for name in available()]
        names = _both(chosen.get(keyword, ()), known)
        if keyword == "ciphers":
            names = sorted(names or known, key=lambda name: not name.endswith(CHEAP_CIPHER))
        if names:
            picked[option] = names
    return picked


def _host_key_algorithms(allowed: tuple[str, ...], entries: tuple[Entry, ...], certified: bool) -> list[str]:
    # Certificates only where an authority is on record: else asyncssh would refuse a host that shows one, instead of
    # looking at its plain key.
    plain = [name.decode() for name in get_default_public_key_algs()]
    wanted = _both(allowed, [name.decode() for name in get_public_key_algs()]) or plain
    known = [name for name in known_algorithms(entries) if name in wanted]
    certificates = [name.decode() for name in get_default_certificate_algs()] if certified else []
    return list(dict.fromkeys([*certificates, *known, *wanted]))


def _both(wanted: tuple[str, ...], available: list[str]) -> list[str]:
    return [name for name in wanted if name in available]
