"""The lines of known_hosts files, as sshd(8) describes them, and which of them speak of a host.

Kept apart from asyncssh's reader because an operator must be told the file and line of an old key, one bad line must
not make a whole file unusable, and an entry for the host's IP address must not vouch for its name.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

Standing = Literal["known", "unknown", "changed", "revoked"]
DEFAULT_PORT = 22


@dataclass(frozen=True, slots=True)
class Entry:
    """One line that speaks of the host: `marker` is "", "cert-authority" or "revoked"."""

    file: str
    number: int
    marker: str
    algorithm: str
    blob: bytes


def lookup_name(host: str, port: int, alias: str = "") -> str:
    """Return the name that a host is on record by: HostKeyAlias as it is, else the host, with a port that is not 22."""
    if alias:
        return alias
    return host.lower() if port == DEFAULT_PORT else f"[{host.lower()}]:{port}"


def read_texts(files: Iterable[str]) -> list[tuple[str, str]]:
    """Return (file, text) of those files that can be read; a missing known_hosts file is an empty one."""
    texts = []
    for file in files:
        try:
            texts.append((file, Path(file).read_text("utf-8", "replace")))
        except OSError:
            continue
    return texts


def find(texts: Iterable[tuple[str, str]], host: str, port: int, alias: str = "") -> tuple[Entry, ...]:
    """Return the entries of a host, in the order of the files.

    As in OpenSSH, a host on another port than 22 that is not on record with it is looked up without it.
    """
    lines = [(file, number, line) for file, text in texts for number, line in enumerate(text.split("\n"), 1)]
    named = _entries(lines, lookup_name(host, port, alias))
    if alias or port == DEFAULT_PORT or any(not entry.marker for entry in named):
        return named
    return named + _entries(lines, host.lower())


def judge(entries: Sequence[Entry], blob: bytes) -> tuple[Standing, Entry | None]:
    """Say what the record makes of a plain host key, with the entry that decides it.

    A host that has any key on record and shows another one counts as changed, also when the type differs: an attacker
    chooses which type to offer.
    """
    for entry in entries:
        if entry.marker == "revoked" and entry.blob == blob:
            return "revoked", entry
    plain = [entry for entry in entries if not entry.marker]
    for entry in plain:
        if entry.blob == blob:
            return "known", entry
    return ("changed", plain[0]) if plain else ("unknown", None)


def fingerprint(blob: bytes) -> str:
    """Return the SHA256 fingerprint in OpenSSH's notation."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def make_line(name: str, algorithm: str, blob: bytes, *, hashed: bool) -> str:
    """Return the line that puts a key on record."""
    return f"{_hash_name(name) if hashed else name} {algorithm} {base64.b64encode(blob).decode()}"


def _hash_name(name: str) -> str:
    salt = secrets.token_bytes(20)
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def _entries(lines: Iterable[tuple[str, int, str]], name: str) -> tuple[Entry, ...]:
    found = (_entry(file, number, line, name) for file, number, line in lines)
    return tuple(entry for entry in found if entry is not None)


def _entry(file: str, number: int, line: str, name: str) -> Entry | None:
    words = line.split()
    if not words or words[0].startswith("#"):
        return None
    marker = words.pop(0)[1:] if words[0].startswith("@") else ""
    if len(words) < 3 or marker not in ("", "cert-authority", "revoked") or not _speaks_of(words[0], name):
        return None
    try:
        return Entry(file, number, marker, words[1], base64.b64decode(words[2], validate=True))
    except (binascii.Error, ValueError):
        return None


def _speaks_of(patterns: str, name: str) -> bool:
    if patterns.startswith("|"):
        return _is_hash_of(patterns, name)
    spoken = False
    for pattern in patterns.lower().split(","):
        # fnmatch would read [host]:port as a set of characters.
        if fnmatchcase(name.lower(), pattern.lstrip("!").replace("[", "[[]")):
            if pattern.startswith("!"):
                return False
            spoken = True
    return spoken


def _is_hash_of(pattern: str, name: str) -> bool:
    try:
        kind, salt, digest = pattern[1:].split("|")
        made = hmac.new(base64.b64decode(salt), name.encode(), hashlib.sha1).digest()
        return kind == "1" and hmac.compare_digest(made, base64.b64decode(digest))
    except (ValueError, binascii.Error):
        return False
