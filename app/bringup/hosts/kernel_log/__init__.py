"""Asking the kernel log why a process went without a word: the OOM killer, a fault of a GPU, a crash."""

from __future__ import annotations

from collections.abc import Collection

from bringup.core.errors import ChannelRefused
from bringup.core.events import KernelSaid
from bringup.hosts.base import Host
from bringup.hosts.kernel_log.lines import decode
from bringup.hosts.kernel_log.patterns import Pattern
from bringup.hosts.kernel_log.patterns import load_patterns as load_patterns
from bringup.hosts.shipped import with_arguments

MOST_LINES = 60
MOST_PIDS = 512
"""Processes that are asked for at most: the newest count."""
TIMEOUT = 15.0
_LIMIT = 128 * 1024
_NOT_PERMITTED, _NO_PROGRAM = 77, 127
_HINT = "Log in as root, join the group adm or systemd-journal, or set kernel.dmesg_restrict=0."


def script(pids: Collection[int], patterns: tuple[Pattern, ...], *, sudo: bool = False) -> str:
    """Return the question for a host: a POSIX sh script; `sudo` lets it try `sudo -n` where the user may not look."""
    words = "|".join(f"({pattern.find})" for pattern in patterns)
    alone = "|".join(f"({pattern.find})" for pattern in patterns if pattern.alone) or "$^"
    newest = sorted({pid for pid in pids if pid > 0})[-MOST_PIDS:]
    return with_arguments(
        "kernel_log/kernel_log.sh",
        str(MOST_LINES),
        "sudo" if sudo else "",
        words,
        alone,
        "|".join(map(str, newest)) or "$^",
    )


async def ask(
    host: Host, pids: Collection[int], patterns: tuple[Pattern, ...], *, at: float, sudo: bool = False
) -> KernelSaid:
    """Return what the kernel log says of processes and of the GPUs; `at` is the host's time now.

    Raises ChannelRefused with what would open it where this user may not read it, and ConnectionLost.
    """
    done = await host.run(script(pids, patterns, sudo=sudo), timeout=TIMEOUT, limit=_LIMIT)
    if done.status == _NOT_PERMITTED:
        raise ChannelRefused("The kernel log may not be read by this user.", _HINT, reason="denied")
    if done.status == _NO_PROGRAM:
        raise ChannelRefused("There is neither dmesg nor journalctl on this host.", reason="missing")
    if done.status != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[:200]
        raise ChannelRefused(f"The kernel log did not answer (status {done.status}): {said}".rstrip(": "))
    return KernelSaid(at=at, lines=decode(done.stdout, set(pids), patterns))
