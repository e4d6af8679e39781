"""Exceptions of asyncssh and of the operating system, as sentences for an operator."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass, field

import asyncssh

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, LoginRefused, Unreachable
from bringup.hosts.ssh.config import Hop

NETWORK = (OSError, asyncssh.Error)
"""All that a connection raises once it stands; while it is made, ValueError as well (keys, configuration)."""

# Exception, what happened, what to do. The first that fits is used; {detail} is the exception's own text.
SENTENCES: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str, str], ...] = (
    (
        socket.gaierror,
        "The name {address} cannot be resolved: {detail}.",
        "Check the spelling, HostName in the ssh configuration, and the network or VPN.",
    ),
    (
        ConnectionRefusedError,
        "{host} refused the connection on port {port}: no ssh server listens there.",
        "Check the port, and whether the host is still booting.",
    ),
    (
        TimeoutError,
        "{host} port {port} did not answer within {timeout:.0f} s.",
        "Is the host up, and is there a firewall or VPN between you and it?",
    ),
    (
        asyncssh.ChannelOpenError,
        "{via} could not open a connection to {host} port {port}: {detail}.",
        "Check the name and port as that jump host sees them, and whether it allows forwarding.",
    ),
    (
        asyncssh.KeyExchangeFailed,
        "{host} and this client share no algorithm: {detail}.",
        "Allow one that the host offers (HostKeyAlgorithms, KexAlgorithms, Ciphers or MACs in the ssh configuration).",
    ),
    (
        asyncssh.HostKeyNotVerifiable,
        "The host key of {host} cannot be trusted: {detail}.",
        "Compare it with the entry in your known_hosts file.",
    ),
    (
        (asyncssh.ConnectionLost, ConnectionError),
        "{host} closed the connection before the login was done{proxy}.",
        "It may be overloaded, still booting, or not let this address in.",
    ),
    (
        asyncssh.Error,
        "{host} ended the login: {detail}{proxy}.",
        "Try `ssh` with the same name to see more.",
    ),
    (OSError, "{host} port {port} cannot be reached: {detail}{proxy}.", "Check the network or VPN."),
    (ValueError, "The ssh setup for {name} cannot be used: {detail}.", "Check the keys and options of this host."),
)
LOSSES = {
    "": "it was closed",
    "Connection lost": "the network or the ssh server ended it",
    "Server not responding to keepalive": "the host or the network does not answer any more",
}
"""asyncssh's words for the end of a connection, in ours."""


@dataclass(slots=True)
class Attempts:
    """What a login tried and met, for the sentence about a refusal."""

    keys: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    offers: set[str] = field(default_factory=set)
    """Methods of the server that would have needed the operator."""
    proxy: str = ""
    """What the ProxyCommand wrote to its standard error."""


def printable(text: str, limit: int = 300) -> str:
    """Make text from elsewhere fit to be shown: one line, no control characters, bounded."""
    line = " ".join(text.split())
    return "".join(char if char.isprintable() else "?" for char in line)[:limit].rstrip(".")


def connect_error(exc: BaseException, hop: Hop, attempts: Attempts, via: str = "") -> BringupError:
    """Return the sentence for a connection that was not made; `via` names the jump host before this hop."""
    if isinstance(exc, BringupError):
        return exc
    exc = _one_of_many(exc)
    if isinstance(exc, asyncssh.PermissionDenied) or "authentication failures" in str(exc):
        return _login_refused(exc, hop, attempts)
    detail = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    fields = {
        "host": hop.host if hop.host == hop.name else f"{hop.name} ({hop.host})",
        "address": hop.host,
        "name": hop.name,
        "port": hop.port,
        "via": via or "The host before it",
        "timeout": hop.connect_timeout,
        "detail": printable(detail) or type(exc).__name__,
        "proxy": f" (its ProxyCommand says: {printable(attempts.proxy)})" if attempts.proxy.strip() else "",
    }
    for kind, what, hint in SENTENCES:
        if isinstance(exc, kind):
            return Unreachable(what.format(**fields), hint)
    return Unreachable(f"{hop.name} cannot be reached: {fields['detail']}.")


def _one_of_many(exc: BaseException) -> BaseException:
    # A name with several addresses: asyncio joins the errors of all of them into one text without a number.
    numbers = {int(number) for number in re.findall(r"\[Errno (\d+)\]", str(exc))}
    if type(exc) is OSError and exc.errno is None and len(numbers) == 1:
        number = numbers.pop()
        return OSError(number, os.strerror(number))
    return exc


def _login_refused(exc: BaseException, hop: Hop, attempts: Attempts) -> LoginRefused:
    tried = f"tried {len(attempts.keys)} keys: {', '.join(attempts.keys)}" if attempts.keys else "no key was at hand"
    notes = "".join(f"; {note}" for note in attempts.notes)
    if "authentication failures" in str(exc):
        hint = "The host counts each key as a failure: set IdentityFile and IdentitiesOnly yes for it."
    elif attempts.offers:
        hint = (
            f"It would also take {' or '.join(sorted(attempts.offers))}, but there was no answer: "
            "run this in a terminal, or put a key into an agent (ssh-add)."
        )
    else:
        hint = f"Add a key to that user's authorized_keys, or set User or IdentityFile; compare with: ssh {hop.name}"
    return LoginRefused(f"{hop.name} refused the login of {hop.user} ({tried}{notes}).", hint)


def lost(name: str, why: str) -> ConnectionLost:
    """Return the error for a connection that ended while it was in use."""
    words = LOSSES.get(why, printable(why))
    return ConnectionLost(f"The connection to {name} was lost: {words}.")


def channel_error(exc: BaseException, name: str, what: str) -> ChannelRefused:
    """Return the error for a host that is there but would not open another channel."""
    return ChannelRefused(
        f"{name} refused to {what}: {printable(str(exc)) or type(exc).__name__}.",
        "Its sshd allows only so many sessions on one connection (MaxSessions); close another bringup or raise it.",
    )
