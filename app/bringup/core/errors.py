"""What can go wrong, as sentences.

    BringupError            exit 1  an action was not done
    ├── Defect              exit 1  bringup itself failed
    ├── UsageError          exit 2  the command line or the configuration is wrong
    ├── Unreachable         exit 4  the host cannot be reached, or not be logged in to
    │   ├── LoginRefused            the host answered and would not let this user in
    │   ├── HostKeyUnknown          never seen before: the operator may be asked
    │   └── HostKeyChanged          another key than the one on record: never accepted
    ├── ConnectionLost      exit 4  there was a connection and it ended
    ├── OutputRefused       exit 74 the answer was found and cannot be written
    └── ChannelRefused      exit 1  the host is there but refused this command, file or port

Each carries what happened and what to do next; only the edge (`cli`, or the screen) prints them.
"""

from __future__ import annotations

from typing import Literal

Reason = Literal["refused", "forbidden", "missing", "denied", "timeout", "unsupported", "other"]


class BringupError(Exception):
    """A failure that an operator can read: what happened and where, and what to do next."""

    exit_code = 1

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what} {self.hint}".strip()


class Defect(BringupError):
    """Bringup itself failed, and nothing else is to blame: see `core.defects`."""


class UsageError(BringupError):
    """The command line or the configuration asks for something that cannot be done."""

    exit_code = 2


class Unreachable(BringupError):
    """No session on the host could be had."""

    exit_code = 4


class LoginRefused(Unreachable):
    """The host answered and would not let this user in: to try again by itself could lock the user out."""


class HostKeyUnknown(Unreachable):
    """The host shows a key that no known_hosts file has; `fingerprint` is SHA256 in OpenSSH's notation."""

    def __init__(
        self, what: str, hint: str = "", *, host: str, algorithm: str, fingerprint: str, line: str, file: str = ""
    ) -> None:
        super().__init__(what, hint)
        self.host = host
        self.algorithm = algorithm
        self.fingerprint = fingerprint
        self.line = line
        """The known_hosts line that would accept this key."""
        self.file = file
        """The known_hosts file that would take the line; empty where the configuration names none."""


class HostKeyChanged(Unreachable):
    """The host shows another key than the one on record."""


class ConnectionLost(BringupError):
    """The connection ended while it was in use."""

    exit_code = 4


class OutputRefused(BringupError):
    """Standard output takes no more: the disk under it is full. The code is EX_IOERR (sysexits.h), of no state."""

    exit_code = 74


class ChannelRefused(BringupError):
    """The host refused or could not do one thing: a command, a file, a port."""

    def __init__(self, what: str, hint: str = "", *, reason: Reason = "other") -> None:
        super().__init__(what, hint)
        self.reason = reason
