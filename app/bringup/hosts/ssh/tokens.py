"""The % tokens, `~` and ${VARIABLES} that `ssh -G` prints unexpanded, as ssh_config(5) defines them."""

from __future__ import annotations

import getpass
import hashlib
import os
import pwd
import re
import socket
from dataclasses import dataclass


def home() -> str:
    """Return the home folder that ssh uses: the password database's, not $HOME's."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")  # noqa: PTH111 - Path raises where there is no home at all


def local_user() -> str:
    """Return the name of the user on this machine; the number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the tokens of one host stand for."""

    name: str
    host: str
    port: int
    user: str
    alias: str = ""
    jumps: str = ""

    def expand(self, text: str) -> str:
        """Replace the % tokens; one that ssh_config(5) does not know stays as it is."""
        return re.sub(r"%(.)", lambda match: self._value(match[1], match[0]), text) if "%" in text else text

    def expand_path(self, path: str) -> str:
        """Replace tokens, environment variables and a leading `~`."""
        path = re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1], match[0]), self.expand(path))
        if path == "~" or path.startswith("~/"):
            return home() + path[1:]
        return os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111 - ~user of nobody stays

    def _value(self, token: str, unknown: str) -> str:
        local = socket.gethostname()
        hashed = f"{local}{self.host}{self.port}{self.user}{self.jumps}".encode()
        return {
            "%": "%",
            "C": hashlib.sha1(hashed).hexdigest(),
            "L": local.split(".")[0],
            "d": home(),
            "h": self.host,
            "i": str(os.getuid()),
            "j": self.jumps,
            "k": self.alias or self.host,
            "l": local,
            "n": self.name,
            "p": str(self.port),
            "r": self.user,
            "u": local_user(),
        }.get(token, unknown)
