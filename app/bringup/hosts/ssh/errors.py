"""Exceptions of asyncssh and of the operating system, as sentences for an operator."""

from __future__ import annotations

import errno
import os
import re
import socket
from dataclasses import dataclass, field

import asyncssh

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, LoginRefused, Unreachable
from bringup.core.words import count
from bringup.hosts.ssh.config import Hop

SESSIONS = 4
"""Sessions that all channels need: the log's file service, the probe, a search, and one question at a time."""
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
_ENDED = "the network or the ssh server ended it"
_SILENT = "the host or the network does not answer any more"
LOSSES = {
    "": "it was closed",
    "Connection lost": _ENDED,
    "Server not responding to keepalive": _SILENT,
}
"""asyncssh's words for the end of a connection, in ours."""
LOSS_NUMBERS = {
    errno.EPIPE: _ENDED,
    errno.ECONNRESET: _ENDED,
    errno.ECONNABORTED: _ENDED,
    errno.ETIMEDOUT: _SILENT,
    errno.EHOSTUNREACH: "there is no way to the host any more",
    errno.ENETUNREACH: "there is no network any more",
    errno.ENETDOWN: "there is no network any more",
}
"""The operating system's errors for the same."""
_NUMBERED = re.compile(r"\[Errno (\d+)\] *")


@dataclass(slots=True)
class Attempts:
    """What a login tried and met, for the sentence about a refusal."""

    keys: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    """What the operator gave, once for each try: "password" or "answers"."""
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
    numbers = {int(number) for number in _NUMBERED.findall(str(exc))}
    if type(exc) is OSError and exc.errno is None and len(numbers) == 1:
        number = numbers.pop()
        return OSError(number, os.strerror(number))
    return exc


def _login_refused(exc: BaseException, hop: Hop, attempts: Attempts) -> LoginRefused:
    tried = (
        f"tried {count(len(attempts.keys), 'key')}: {', '.join(attempts.keys)}"
        if attempts.keys
        else "no key was at hand"
    )
    notes = "".join(f"; {note}" for note in attempts.notes)
    if attempts.answered:
        what = f"{hop.name} refused the login of {hop.user}: {_refused(attempts.answered)}; {tried}{notes}."
        return LoginRefused(what, f"Is it the one of {hop.user}, and is that user let in? Compare with: ssh {hop.name}")
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


def _refused(answered: list[str]) -> str:
    """Say what did not help: of several steps of a login, all but the last were passed."""
    last = answered[-1]
    times = answered.count(last)
    what = "the password was" if last == "password" else "the answers to its questions were"
    return f"{what} refused ({times} {'try' if times == 1 else 'tries'})"


def lost(name: str, why: str) -> ConnectionLost:
    """Return the error for a connection that ended while it was in use."""
    number = _NUMBERED.match(why)
    words = LOSSES.get(why) or (LOSS_NUMBERS.get(int(number[1])) if number else None)
    words = words or printable(_NUMBERED.sub("", why))
    return ConnectionLost(f"The connection to {name} was lost: {words}.")


def channel_error(exc: BaseException, name: str, what: str, held: int) -> ChannelRefused:
    """Return the error for a host that is there but would not open another channel; `held` are open on it."""
    number = "so few sessions" if not held else f"{held} session{'' if held == 1 else 's'}"
    return ChannelRefused(
        f"{name} refused to {what}: {printable(str(exc)) or type(exc).__name__}.",
        f"Its sshd allows only {number} on one connection: set MaxSessions to {SESSIONS} or more in its sshd_config.",
    )
