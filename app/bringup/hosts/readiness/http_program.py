"""Asking over HTTP with what a host has, where its ssh server forbids connections: curl, else bash."""

from __future__ import annotations

import re
import shlex
from typing import Literal

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host

Error = Literal["", "refused", "timeout", "reset", "forbidden", "other"]
MARGIN = 3.0
"""Seconds more for the command around the question."""
NO_PROGRAM = 127
# curl(1), "EXIT CODES".
CURL_ERRORS: dict[int, Error] = {7: "refused", 28: "timeout", 52: "reset", 55: "reset", 56: "reset"}
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})\b")

# bash opens /dev/tcp/HOST/PORT itself; a failure to connect ends the command with 1 and its words.
SCRIPT = """if command -v curl >/dev/null 2>&1; then
    curl -s -o /dev/null --noproxy '*' --http1.1 --max-time {seconds} -w 'HTTP/1.1 %{{http_code}}' {url}
elif command -v bash >/dev/null 2>&1; then
    bash -c {program} bash {address} {port} {request} {whole}
else
    exit 127
fi"""
PROGRAM = r"""exec 3<>"/dev/tcp/$1/$2" || exit 7
printf "$3" >&3
IFS= read -r -t "$4" line <&3
got=$?
[ "$got" -le 128 ] || exit 28
[ -n "$line" ] || exit 52
printf '%s\n' "$line"
"""


async def ask_by_program(host: Host, address: str, port: int, path: str, timeout: float) -> tuple[int | None, Error]:
    """Return the status for a path, or the error; raises ChannelRefused where the host has no program for it."""
    where = f"[{address}]" if ":" in address else address
    request = f"GET {path} HTTP/1.1\\r\\nHost: {where}:{port}\\r\\nConnection: close\\r\\n\\r\\n".replace("%", "%%")
    script = SCRIPT.format(
        seconds=f"{timeout:g}",
        url=shlex.quote(f"http://{where}:{port}{path}"),
        program=shlex.quote(PROGRAM),
        address=shlex.quote(address),
        port=port,
        request=shlex.quote(request),
        whole=max(1, round(timeout)),
    )
    try:
        done = await host.run(script, timeout=timeout + MARGIN, limit=4096)
    except ChannelRefused as refused:
        if refused.reason == "timeout":
            return None, "timeout"
        raise
    if done.status == NO_PROGRAM:
        raise ChannelRefused(
            f"{host.name} does not let us connect to port {port}, and has neither curl nor bash to ask it with.",
            "AllowTcpForwarding yes in its sshd_config would help, or a curl on that host.",
            reason="forbidden",
        )
    found = _STATUS.match(done.stdout)
    status = int(found[1]) if found else 0
    if status:
        return status, ""
    return None, CURL_ERRORS.get(done.status, "other")
