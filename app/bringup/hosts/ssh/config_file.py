"""The ssh configuration without an ssh client: `~/.ssh/config`, as far as asyncssh reads it.

asyncssh knows no system-wide files and stops at what it does not understand; such an error names the file and line.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from asyncssh.config import SSHClientConfig

from bringup.core.errors import UsageError
from bringup.hosts.ssh.tokens import home, local_user

DEFAULT_KEYS = ("id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk")
LISTS = {
    "IdentityFile": [f"~/.ssh/{name}" for name in DEFAULT_KEYS],
    "CertificateFile": [],
}
JOINED = {
    "UserKnownHostsFile": ["~/.ssh/known_hosts", "~/.ssh/known_hosts2"],
    "GlobalKnownHostsFile": ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"],
}
SINGLE = (
    "HostKeyAlias", "IdentitiesOnly", "IdentityAgent", "ProxyCommand", "ProxyJump", "PubkeyAuthentication",
    "KbdInteractiveAuthentication", "PasswordAuthentication", "ServerAliveInterval", "ServerAliveCountMax",
    "ConnectTimeout", "Ciphers", "MACs", "KexAlgorithms", "HostKeyAlgorithms",
)  # fmt: skip
NO_PASSES = (False, False, False)
"""Neither a reload nor the canonical or final pass of `Match`."""
MISSING = object()


def read_values(spec: str, config: Path | None) -> dict[str, list[str]]:
    """Return the values for one host, in the form that `ssh -G` has them.

    Raises UsageError where asyncssh cannot read the file, with its file and line.
    """
    address = urlsplit(spec if "://" in spec else f"ssh://{spec}" if ":" not in spec else f"ssh://[{spec}]")
    name, me = address.hostname or spec, local_user()
    path = config or Path(home(), ".ssh", "config")
    paths = [path] if config or path.is_file() else []
    try:
        read = SSHClientConfig.load(None, paths, *NO_PASSES, me, address.username or (), name, address.port or ())
    except (ValueError, OSError) as exc:
        raise UsageError(
            f"The ssh configuration cannot be read without an ssh client: {exc}.",
            "Install the OpenSSH client, which reads all of it, or correct that line.",
        ) from exc
    values = {
        "host": [name],
        "hostname": [_text(read.get("Hostname", name))],
        "user": [_text(read.get("User", me))],
        "port": [_text(read.get("Port", 22))],
    }
    for keyword, default in LISTS.items():
        values[keyword.lower()] = _texts(read.get(keyword, default))
    for keyword, default in JOINED.items():
        values[keyword.lower()] = [" ".join(_texts(read.get(keyword, default))) or "none"]
    for keyword in SINGLE:
        value = read.get(keyword, MISSING)
        if value is not MISSING:
            values[keyword.lower()] = ["none" if value is None else _text(value)]
    return values


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return " ".join(str(part) for part in value)
    return str(value)


def _texts(value: object) -> list[str]:
    return [str(part) for part in value] if isinstance(value, (list, tuple)) else [str(value)]
