"""Exceptions as sentences: what happened, where, and what to do."""

from __future__ import annotations

import errno
import socket

import asyncssh
import pytest

from bringup.core.errors import BringupError, UsageError
from bringup.hosts.ssh.config import Hop
from bringup.hosts.ssh.errors import Attempts, connect_error, lost, printable

HOP = Hop("box", "10.0.0.1", 2222, "me")
BOTH_REFUSED = (
    "Multiple exceptions: [Errno 111] Connect call failed ('::1', 1), [Errno 111] Connect call failed ('127…')"
)


@pytest.mark.parametrize(
    ("exc", "said"),
    [
        (
            socket.gaierror(-2, "Name or service not known"),
            "The name 10.0.0.1 cannot be resolved: Name or service not known.",
        ),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "refused the connection on port 2222"),
        (OSError(BOTH_REFUSED), "refused the connection on port 2222"),
        (TimeoutError(), "did not answer within 10 s"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "port 2222 cannot be reached: No route to host."),
        (ConnectionResetError(errno.ECONNRESET, "x"), "closed the connection before the login was done"),
        (asyncssh.ConnectionLost("Connection lost"), "closed the connection before the login was done"),
        (asyncssh.ChannelOpenError(2, "Connection refused"), "The jump host gate could not open a connection to box"),
        (asyncssh.KeyExchangeFailed("No matching cipher"), "share no algorithm: No matching cipher."),
        (asyncssh.HostKeyNotVerifiable("Bad certificate"), "cannot be trusted: Bad certificate."),
        (asyncssh.DisconnectError(2, "Too many authentication failures"), "refused the login of me"),
        (asyncssh.PermissionDenied("x"), "refused the login of me (no key was at hand)."),
        (asyncssh.ProtocolError("Bad \x1b[2J packet"), "ended the login: Bad ?[2J packet."),
        (ValueError("bad"), "The ssh setup for box cannot be used: bad."),
    ],
)
def test_a_connection_that_was_not_made(exc: Exception, said: str) -> None:
    error = connect_error(exc, HOP, Attempts(), "The jump host gate")
    assert said in error.what
    assert error.exit_code == 4
    assert error.hint


def test_a_sentence_of_our_own_stays_as_it_is() -> None:
    error: BringupError = UsageError("something")
    assert connect_error(error, HOP, Attempts()) is error


def test_what_the_login_tried_is_named() -> None:
    attempts = Attempts(keys=["ssh-ed25519 a", "ssh-rsa b of the agent"], notes=["the certificate c cannot be used"])
    what = connect_error(asyncssh.PermissionDenied("x"), HOP, attempts).what
    assert "tried 2 keys: ssh-ed25519 a, ssh-rsa b of the agent; the certificate c cannot be used" in what


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("", "it was closed"),
        ("Connection lost", "the network or the ssh server ended it"),
        ("Server not responding to keepalive", "does not answer any more"),
        ("Something \x07 else.", "Something ? else."),
        ("[Errno 32] Broken pipe", "lost: the network or the ssh server ended it."),
        ("[Errno 110] Connection timed out", "lost: the host or the network does not answer any more."),
        ("[Errno 5] Input/output error", "lost: Input/output error."),
    ],
)
def test_why_a_connection_was_lost(why: str, said: str) -> None:
    assert said in lost("box", why).what


def test_text_from_elsewhere_is_one_bounded_harmless_line() -> None:
    assert printable("a\r\nb\x9b\u202e\t c" + "x" * 500) == "a b?? c" + "x" * 293
