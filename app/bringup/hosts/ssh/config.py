"""How to reach a host, from the operator's own ssh configuration.

The source is `ssh -G NAME` of the ssh client on this machine: full OpenSSH semantics (Match, Include, files of the
system), printed as one "keyword value" a line. Without an ssh client asyncssh reads the file (`ssh_config_file`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from bringup.core.errors import UsageError
from bringup.hosts.naming import plain_target as plain_target
from bringup.hosts.ssh.tokens import Tokens, local_user

Strict = Literal["yes", "ask", "accept-new", "no"]
Values = Mapping[str, Sequence[str]]
"""Lower-case keyword to its values, in order."""

KEEPALIVE_INTERVAL = 5
KEEPALIVE_COUNT = 3
CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 15.0
MAX_HOPS = 8
STRICT: Mapping[str, Strict] = {
    "yes": "yes", "true": "yes", "ask": "ask", "accept-new": "accept-new", "no": "no", "off": "no", "false": "no",
}  # fmt: skip

METHODS = {
    "pubkeyauthentication": "publickey",
    "kbdinteractiveauthentication": "keyboard-interactive",
    "passwordauthentication": "password",
}
ALGORITHM_KEYWORDS = ("ciphers", "macs", "kexalgorithms", "hostkeyalgorithms")


@dataclass(frozen=True, slots=True)
class Hop:
    """One SSH connection to be made: where to, as whom, with what, trusting what."""

    name: str
    """As the operator or the configuration wrote it."""
    host: str
    port: int = 22
    user: str = ""
    host_key_alias: str = ""
    identity_files: tuple[str, ...] = ()
    certificate_files: tuple[str, ...] = ()
    identities_only: bool = False
    agent: str = ""
    """Socket of the key agent; empty for none."""
    user_known_hosts: tuple[str, ...] = ()
    global_known_hosts: tuple[str, ...] = ()
    known_hosts: bytes | None = None
    """Content used instead of the files."""
    hash_known_hosts: bool = False
    strict: Strict = "ask"
    proxy_command: str = ""
    jumps: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset({"publickey", "keyboard-interactive", "password"})
    batch: bool = False
    """BatchMode: never ask for a secret."""
    prompts: int = 3
    family: str = "any"
    keepalive_interval: float = KEEPALIVE_INTERVAL
    keepalive_count: int = KEEPALIVE_COUNT
    connect_timeout: float = CONNECT_TIMEOUT
    algorithms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Keyword (ciphers, macs, kexalgorithms, hostkeyalgorithms) to the names that are allowed."""


@dataclass(frozen=True, slots=True)
class SshOptions:
    """What replaces or narrows the operator's ssh configuration.

    With `host`, nothing is read at all: no configuration, no keys, no agent, no known_hosts of the user.
    """

    host: str = ""
    port: int = 22
    username: str = ""
    client_keys: tuple[Path, ...] = ()
    known_hosts: bytes = b""
    """Content of a known_hosts file; empty trusts nobody."""
    ssh_config: Path | None = None
    """Instead of the user's and the system's ssh configuration (`ssh -F`)."""
    ssh_program: str = "ssh"
    """Empty, or one that does not exist: the configuration is read without it."""
    connect_timeout: float | None = None
    keepalive_interval: float = KEEPALIVE_INTERVAL
    """Seconds between two questions whether the host is still there; of an explicit host only, as `keepalive_count`."""
    keepalive_count: int = KEEPALIVE_COUNT
    """Unanswered questions after which the next one ends the connection."""


async def route(target: str, options: SshOptions) -> tuple[Hop, ...]:
    """Return the connections that lead to a target, first jump first, the target last.

    Raises UsageError for a target or configuration that cannot be used.
    """
    name = plain_target(target)
    if options.host:
        return (_explicit(name, options),)

    async def read(spec: str) -> Hop:
        hop = await read_hop(spec, options)
        return replace(hop, connect_timeout=options.connect_timeout) if options.connect_timeout else hop

    return tuple(await _route(name, read, 0))


async def _route(spec: str, read: Callable[[str], Awaitable[Hop]], depth: int) -> list[Hop]:
    # The first jump is reached as its own configuration says; a later one through the jump before it, as `ssh -J` does.
    if depth > MAX_HOPS:
        raise UsageError(f"The way to {spec} has more than {MAX_HOPS} jump hosts.", "Look for a circle in ProxyJump.")
    hop = await read(spec)
    if not hop.jumps:
        return [hop]
    first, *later = (_jump_target(jump) for jump in hop.jumps)
    chain = await _route(first, read, depth + 1)
    chain += [replace(await read(jump), jumps=(), proxy_command="") for jump in later]
    return [*chain, replace(hop, proxy_command="")]


def _jump_target(spec: str) -> str:
    if "://" in spec:
        return spec
    _, _, port = spec.rpartition(":")
    has_port = port.isdigit() and (spec.count(":") == 1 or "]:" in spec)
    return f"ssh://{spec}" if has_port or "[" in spec else spec


async def read_hop(spec: str, options: SshOptions) -> Hop:
    """Read how to reach one host; raises UsageError with the file and line that cannot be understood."""
    program = shutil.which(options.ssh_program) if options.ssh_program else None
    if program is None:
        from bringup.hosts.ssh.config_file import read_values

        return make_hop(spec, await asyncio.to_thread(read_values, spec, options.ssh_config))
    config = ["-F", str(options.ssh_config)] if options.ssh_config else []
    return make_hop(spec, parse_dump(await _dump([program, "-G", *config, "--", spec], spec)))


async def _dump(command: list[str], spec: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(READ_TIMEOUT):
            out, err = await process.communicate()
    except TimeoutError as exc:
        raise UsageError(
            f"`ssh -G {spec}` did not answer within {READ_TIMEOUT:.0f} s.", "Is there a Match exec that hangs?"
        ) from exc
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        first = err.decode("utf-8", "replace").strip().split("\n")[0].strip()
        raise UsageError(
            f"ssh does not accept its configuration for {spec}: {first or f'exit status {process.returncode}'}.",
            "Correct that line; `ssh -G` with the same name shows the same error.",
        )
    return out.decode("utf-8", "surrogateescape")


def parse_dump(text: str) -> dict[str, list[str]]:
    """Read what `ssh -G` prints: "keyword value" a line, repeated for keywords that may have several."""
    values: dict[str, list[str]] = {}
    for line in text.splitlines():
        keyword, _, value = line.partition(" ")
        values.setdefault(keyword.lower(), []).append(value.strip())
    return values


def make_hop(name: str, values: Values) -> Hop:
    """Make a hop of configuration values, tokens and `~` expanded."""

    def one(keyword: str, default: str = "") -> str:
        value = next(iter(values.get(keyword, ())), default)
        return default if value.lower() == "none" else value

    def yes(keyword: str, default: str = "no") -> bool:
        return one(keyword, default).lower() in ("yes", "true")

    host, port, user = one("hostname", name), int(one("port", "22")), one("user")
    tokens = Tokens(one("host", name), host, port, user, one("hostkeyalias"), one("proxyjump"))
    interval, count = _keepalive(int(one("serveraliveinterval", "0")), int(one("serveralivecountmax", "3")))
    return Hop(
        name=name,
        host=host,
        port=port,
        user=user,
        host_key_alias=one("hostkeyalias"),
        identity_files=_paths(values.get("identityfile", ()), tokens),
        certificate_files=_paths(values.get("certificatefile", ()), tokens),
        identities_only=yes("identitiesonly"),
        agent=_agent(next(iter(values.get("identityagent", ())), ""), tokens),
        user_known_hosts=_known_hosts(one("userknownhostsfile"), tokens),
        global_known_hosts=_known_hosts(one("globalknownhostsfile"), tokens),
        hash_known_hosts=yes("hashknownhosts"),
        strict=STRICT.get(one("stricthostkeychecking", "ask").lower(), "ask"),
        proxy_command=tokens.expand(one("proxycommand")),
        jumps=tuple(jump.strip() for jump in one("proxyjump").split(",") if jump.strip()),
        methods=frozenset(method for keyword, method in METHODS.items() if yes(keyword, "yes")),
        batch=yes("batchmode"),
        prompts=int(one("numberofpasswordprompts", "3")),
        family=one("addressfamily", "any"),
        keepalive_interval=interval,
        keepalive_count=count,
        connect_timeout=float(one("connecttimeout", "") or CONNECT_TIMEOUT),
        algorithms=tuple((key, tuple(one(key).split(","))) for key in ALGORITHM_KEYWORDS if one(key)),
    )


def _keepalive(interval: int, count: int) -> tuple[int, int]:
    # Without one a dead host is never noticed; shorter ones would take a stalled terminal for a dead host.
    if not interval:
        return KEEPALIVE_INTERVAL, KEEPALIVE_COUNT
    return max(KEEPALIVE_INTERVAL, interval), max(KEEPALIVE_COUNT, count)


def _explicit(name: str, options: SshOptions) -> Hop:
    return Hop(
        name=name,
        host=options.host,
        port=options.port,
        user=options.username or local_user(),
        identity_files=tuple(str(key) for key in options.client_keys),
        known_hosts=options.known_hosts,
        connect_timeout=options.connect_timeout or CONNECT_TIMEOUT,
        keepalive_interval=options.keepalive_interval,
        keepalive_count=options.keepalive_count,
    )


def _paths(values: Sequence[str], tokens: Tokens) -> tuple[str, ...]:
    expanded = [tokens.expand_path(value) for value in values if value.lower() != "none"]
    return tuple(path for path in dict.fromkeys(expanded) if os.access(path, os.F_OK))


def _agent(value: str, tokens: Tokens) -> str:
    if value.lower() == "none":
        return ""
    if value in ("", "SSH_AUTH_SOCK"):
        return os.environ.get("SSH_AUTH_SOCK", "")
    return os.environ.get(value[1:], "") if value.startswith("$") and "{" not in value else tokens.expand_path(value)


def _known_hosts(value: str, tokens: Tokens) -> tuple[str, ...]:
    # ssh -G joins the files by spaces without quoting: a word that is no absolute path belongs to the one before it.
    files: list[str] = []
    for word in value.split(" "):
        if files and not word.startswith(("/", "~", "%", "$")):
            files[-1] += f" {word}"
        else:
            files.append(word)
    return tuple(tokens.expand_path(file) for file in files if file)
