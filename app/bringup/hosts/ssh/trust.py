"""Strict host keys: unknown ones are the operator's decision, changed and revoked ones are never accepted."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from bringup.core.errors import BringupError, HostKeyChanged, HostKeyUnknown, Unreachable
from bringup.hosts.ssh.config import Hop
from bringup.hosts.ssh.known_hosts import Entry, fingerprint, judge, lookup_name, make_line


def check(hop: Hop, entries: tuple[Entry, ...], algorithm: str, blob: bytes) -> Unreachable | None:
    """Return None for a key that is on record, else the error that a connection must end with.

    `StrictHostKeyChecking no` and `accept-new` put an unknown key on record, as ssh would; never a changed one.
    """
    standing, entry = judge(entries, blob)
    if standing == "known":
        return None
    if standing == "revoked" and entry is not None:
        return _revoked(hop, entry, blob)
    if standing == "changed" and entry is not None:
        return _changed(hop, entry, algorithm, blob)
    return _unknown(hop, algorithm, blob)


def accept(error: HostKeyUnknown) -> None:
    """Put the key of an unknown host on record in the user's own known_hosts file, made if need be (0600 in 0700).

    Raises BringupError when there is no such file or it cannot be written.
    """
    if not error.file:
        raise BringupError(
            f"The key of {error.host} cannot be put on record: the ssh configuration names no known_hosts file.",
            "Set UserKnownHostsFile for this host.",
        )
    path = Path(error.file)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _append_line(path, error.line)
    except OSError as exc:
        raise BringupError(
            f"The key of {error.host} could not be written to {path}: {exc.strerror}.", "Check its permissions."
        ) from exc


def _append_line(path: Path, line: str) -> None:
    # One write on a file opened for appending: another ssh that adds its own line at the same time loses nothing.
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(handle).st_size
        glued = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        os.write(handle, ("\n" if glued else "").encode() + line.encode() + b"\n")
    finally:
        os.close(handle)


def _unknown(hop: Hop, algorithm: str, blob: bytes) -> Unreachable | None:
    print_ = fingerprint(blob)
    where = hop.user_known_hosts[0] if hop.user_known_hosts else ""
    name = lookup_name(hop.host, hop.port, hop.host_key_alias)
    unknown = HostKeyUnknown(
        f"{hop.name} is not on record: it shows the host key {algorithm} {print_}.",
        "Compare the fingerprint with one you trust (on the host: ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub), "
        f"then accept it here or by a login with: ssh {shlex.quote(hop.name)}",
        host=name,
        algorithm=algorithm,
        fingerprint=print_,
        line=make_line(name, algorithm, blob, hashed=hop.hash_known_hosts),
        file=where,
    )
    if hop.strict in ("no", "accept-new"):
        if where and where != os.devnull:
            accept(unknown)
        return None
    if hop.strict == "yes":
        return Unreachable(
            f"{hop.name} is not on record ({algorithm} {print_}), and StrictHostKeyChecking yes asks for a known key.",
            f"Add its key to {where or 'a known_hosts file'} first.",
        )
    return unknown


def _changed(hop: Hop, entry: Entry, algorithm: str, blob: bytes) -> HostKeyChanged:
    name = lookup_name(hop.host, hop.port, hop.host_key_alias)
    return HostKeyChanged(
        f"{hop.name} shows another host key than the one on record: {algorithm} {fingerprint(blob)}; "
        f"{entry.file} line {entry.number} has {entry.algorithm} {fingerprint(entry.blob)}. Somebody may be listening.",
        "If the host was reinstalled and you trust the new key, remove the old one with: "
        f"ssh-keygen -f {shlex.quote(entry.file)} -R {shlex.quote(name)}",
    )


def _revoked(hop: Hop, entry: Entry, blob: bytes) -> HostKeyChanged:
    return HostKeyChanged(
        f"{hop.name} shows a host key that is revoked: {entry.algorithm} {fingerprint(blob)}, "
        f"in {entry.file} line {entry.number}.",
        "Ask who runs the host for its new key; a revoked one is never accepted.",
    )
