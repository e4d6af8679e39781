"""Whether processes without a launcher still serve somebody: each port that one listens on is asked over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from bringup.core.errors import ChannelRefused
from bringup.hosts import readiness
from bringup.hosts.base import Host
from bringup.hosts.control.processes import script

MOST_PORTS = 64
"""Ports that are asked; behind more of them somebody may be served."""
ASK_TIMEOUT = 5.0
"""Seconds for an answer of any kind; most ports of a rank speak no HTTP, and never answer."""
_AT_ONCE = 16
_TLS_HEAD = 5
_HANDSHAKE, _ALERT, _VERSION = b"\x16", b"\x15", b"\x03"
"""How a record of TLS begins (RFC 8446, 5.1)."""
_LIMIT = 1 << 18


@dataclass(frozen=True, slots=True)
class Port:
    """A TCP port on which a process listens."""

    pid: int
    address: str
    number: int
    is_apart: bool
    """In a network namespace of its own, as in a container: it cannot be asked from here."""


async def why_serving(host: Host, pids: Collection[int]) -> tuple[int, str]:
    """Return a process that answers over HTTP, whatever the answer is, or may do so, and the rest of a sentence why.

    Returns 0 and "" where none of them does.
    """
    ports = await listening(host, pids)
    apart = next((port for port in ports if port.is_apart), None)
    if apart is not None:
        what = f"listens on port {apart.number} of a container's own network: whether it serves is not known from here"
        return apart.pid, what
    if len(ports) > MOST_PORTS:
        return ports[0].pid, f"listens with its like on {len(ports)} ports, too many to ask whether it serves"
    for begin in range(0, len(ports), _AT_ONCE):
        asked = ports[begin : begin + _AT_ONCE]
        for port, answers in zip(asked, await asyncio.gather(*(_answers(host, port) for port in asked)), strict=True):
            if answers:
                return port.pid, f"answers over HTTP on port {port.number}: it serves somebody"
    return 0, ""


async def listening(host: Host, pids: Collection[int]) -> list[Port]:
    """Return the TCP ports on which processes listen, each address of one once."""
    if not pids:
        return []
    done = await host.run(script("listening.sh", *sorted(pids)), limit=_LIMIT)
    found: dict[tuple[str, int, bool], Port] = {}
    for line in done.stdout.decode("ascii", "replace").splitlines():
        pid, _, rest = line.partition(" ")
        where, _, apart = rest.partition(" ")
        address, _, number = where.partition(":")
        shown = read_address(address)
        if pid.isdigit() and len(number) == 4 and shown:
            port = Port(int(pid), shown, int(number, 16), apart == "apart")
            found.setdefault((shown, port.number, port.is_apart), port)
    return sorted(found.values(), key=lambda port: (port.number, port.address))


async def _answers(host: Host, port: Port) -> bool:
    # Both engines answer a question after their health only once a rank has; this one needs the HTTP server alone.
    answer = await readiness.probe(host, port.number, "/", timeout=ASK_TIMEOUT, address=port.address)
    return answer.status is not None or (answer.error in ("reset", "other") and await _speaks_tls(host, port))


async def _speaks_tls(host: Host, port: Port) -> bool:
    """Say hello as a client of TLS does, and tell whether that is answered: HTTPS answers nothing else."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    try:
        async with asyncio.timeout(ASK_TIMEOUT):
            stream = await host.connect(port.address, port.number)
            try:
                await stream.write(sent.read())
                answer = await stream.read(_TLS_HEAD)
            finally:
                await stream.close()
    except (ChannelRefused, TimeoutError):
        return False
    return answer[:1] in (_HANDSHAKE, _ALERT) and answer[1:2] == _VERSION


def read_address(text: str) -> str:
    """Return an address of proc_net(5), words in the byte order of the machine, as a client asks it; "" for none."""
    try:
        packed = b"".join(bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8))
        found = ip_address(packed)
    except ValueError:
        return ""
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    # What listens on every address of either kind is asked on this machine's own one.
    return "127.0.0.1" if found.is_unspecified else str(found)
