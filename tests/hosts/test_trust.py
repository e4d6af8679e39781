"""Host keys: what the record says of them, and how one gets on record."""

from __future__ import annotations

import base64
import hashlib
import stat
from pathlib import Path

import pytest

from bringup.core.errors import BringupError, HostKeyChanged, HostKeyUnknown, Unreachable
from bringup.hosts.ssh.config import Hop
from bringup.hosts.ssh.known_hosts import find, fingerprint, judge, lookup_name, make_line
from bringup.hosts.ssh.trust import accept, check

OLD, NEW = b"old key", b"new key"


def line(names: str, blob: bytes = OLD, marker: str = "") -> str:
    return f"{marker} {names} ssh-ed25519 {base64.b64encode(blob).decode()} a comment\n".lstrip()


def standing(text: str, blob: bytes = OLD, host: str = "gpu-a", port: int = 22, alias: str = "") -> str:
    return judge(find([("known_hosts", text)], host, port, alias), blob)[0]


@pytest.mark.parametrize(
    ("names", "host", "port", "alias", "expected"),
    [
        ("gpu-a", "gpu-a", 22, "", "known"),
        ("gpu-a", "GPU-A", 22, "", "known"),
        ("gpu-b,gpu-a", "gpu-a", 22, "", "known"),
        ("gpu-?", "gpu-a", 22, "", "known"),
        ("*,!gpu-a", "gpu-a", 22, "", "unknown"),
        ("gpu-b", "gpu-a", 22, "", "unknown"),
        ("[gpu-a]:2222", "gpu-a", 2222, "", "known"),
        ("[gpu-a]:2222", "gpu-a", 22, "", "unknown"),
        ("[gpu-a]:2223", "gpu-a", 2222, "", "unknown"),
        ("gpu-a", "gpu-a", 2222, "", "known"),
        ("the-cluster", "10.0.0.1", 2222, "the-cluster", "known"),
        ("10.0.0.1", "10.0.0.1", 22, "the-cluster", "unknown"),
    ],
)
def test_which_line_speaks_of_a_host(names: str, host: str, port: int, alias: str, expected: str) -> None:
    assert standing(line(names), OLD, host, port, alias) == expected


def test_another_key_than_any_on_record_is_a_changed_one() -> None:
    text = line("gpu-a") + "# a remark\n\ngpu-a ssh-rsa %%%\nnonsense\n@odd gpu-a ssh-rsa AAAA\n" + line("gpu-a", NEW)
    assert standing(text, NEW) == "known"
    assert standing(text, b"third") == "changed"


def test_a_revoked_key_is_revoked_even_when_it_is_also_on_record() -> None:
    assert standing(line("gpu-a") + line("*", OLD, "@revoked")) == "revoked"


def test_an_authority_alone_does_not_make_a_plain_key_changed() -> None:
    assert standing(line("*", OLD, "@cert-authority"), NEW) == "unknown"


@pytest.mark.parametrize("hashed", [True, False])
def test_a_line_that_is_made_is_found_again(hashed: bool) -> None:
    text = make_line(lookup_name("GPU-a", 2222), "ssh-ed25519", OLD, hashed=hashed)
    assert ("gpu-a" in text) is not hashed
    assert standing(text, OLD, "gpu-a", 2222) == "known"
    assert standing(text, OLD, "gpu-b", 2222) == "unknown"


def test_the_fingerprint_is_in_openssh_notation() -> None:
    digest = base64.b64encode(hashlib.sha256(OLD).digest()).decode()
    assert digest.endswith("=")
    assert fingerprint(OLD) == f"SHA256:{digest.rstrip('=')}"


def hop(known_hosts: Path, **changes: object) -> Hop:
    given = {"name": "box", "host": "gpu-a", "port": 2222, "user_known_hosts": (str(known_hosts),)}
    return Hop(**{**given, **changes})  # type: ignore[arg-type]


def test_an_unknown_key_is_the_operators_decision(tmp_path: Path) -> None:
    file = tmp_path / "ssh" / "known_hosts"
    error = check(hop(file), (), "ssh-ed25519", NEW)
    assert isinstance(error, HostKeyUnknown)
    assert (error.host, error.fingerprint, error.file) == ("[gpu-a]:2222", fingerprint(NEW), str(file))
    assert not file.parent.exists()
    accept(error)
    assert file.read_text() == error.line + "\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert standing(file.read_text(), NEW, "gpu-a", 2222) == "known"


def test_accepting_keeps_what_is_there_and_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text("no line end")
    file.chmod(0o644)
    error = check(hop(file), (), "ssh-ed25519", NEW)
    assert isinstance(error, HostKeyUnknown)
    accept(error)
    assert file.read_text() == f"no line end\n{error.line}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_accepting_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = check(hop(tmp_path / "file" / "known_hosts"), (), "ssh-ed25519", NEW)
    assert isinstance(error, HostKeyUnknown)
    with pytest.raises(BringupError, match="could not be written"):
        accept(error)
    nowhere = check(hop(tmp_path, user_known_hosts=()), (), "ssh-ed25519", NEW)
    assert isinstance(nowhere, HostKeyUnknown)
    with pytest.raises(BringupError, match="names no known_hosts file"):
        accept(nowhere)


@pytest.mark.parametrize("strict", ["no", "accept-new"])
def test_a_lax_configuration_puts_an_unknown_key_on_record(tmp_path: Path, strict: str) -> None:
    file = tmp_path / "known_hosts"
    assert check(hop(file, strict=strict, hash_known_hosts=True), (), "ssh-ed25519", NEW) is None
    assert file.read_text().startswith("|1|")
    entries = find([(str(file), file.read_text())], "gpu-a", 2222)
    assert check(hop(file, strict=strict), entries, "ssh-ed25519", NEW) is None
    assert isinstance(check(hop(file, strict=strict), entries, "ssh-ed25519", OLD), HostKeyChanged)


def test_the_continuous_integration_idiom_records_nothing() -> None:
    assert check(hop(Path("/dev/null"), strict="no"), (), "ssh-ed25519", NEW) is None


def test_a_strict_configuration_lets_nobody_be_asked(tmp_path: Path) -> None:
    error = check(hop(tmp_path / "known_hosts", strict="yes"), (), "ssh-ed25519", NEW)
    assert type(error) is Unreachable


@pytest.mark.parametrize("strict", ["ask", "yes", "no", "accept-new"])
def test_a_changed_key_names_the_old_line_and_the_command_that_removes_it(tmp_path: Path, strict: str) -> None:
    entries = find([("/home/me/.ssh/known_hosts", "# first\n" + line("[gpu-a]:2222"))], "gpu-a", 2222)
    error = check(hop(tmp_path, strict=strict), entries, "ssh-rsa", NEW)
    assert isinstance(error, HostKeyChanged)
    assert "/home/me/.ssh/known_hosts line 2" in error.what
    assert fingerprint(OLD) in error.what
    assert "ssh-keygen -f /home/me/.ssh/known_hosts -R '[gpu-a]:2222'" in error.hint


def test_a_revoked_key_names_its_line(tmp_path: Path) -> None:
    entries = find([("file", line("*", OLD, "@revoked"))], "gpu-a", 2222)
    error = check(hop(tmp_path, strict="no"), entries, "ssh-ed25519", OLD)
    assert isinstance(error, HostKeyChanged)
    assert "file line 1" in error.what
