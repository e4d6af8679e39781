"""What a host gave of its kernel log, read: the time of each line on the host's clock, its kind, its process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from datetime import datetime

from bringup.core.events import KernelLine
from bringup.core.sanitize import clean
from bringup.hosts.kernel_log.patterns import Pattern, pid_of

MOST = 60
_LONGEST = 500
_CLOCK = re.compile(rb"clock (iso|unix|boot)(?: (\d{1,12})?)?$")
_STAMPS = {
    # dmesg --time-format iso (util-linux 2.24 and later)
    "iso": re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{1,9}[+-]\d\d:?\d\d) +(?P<text>.*)"),
    # journalctl -o short-unix: seconds, host, "kernel:"
    "unix": re.compile(r"(?P<time>\d{1,12}\.\d{1,9}) \S+ kernel: (?P<text>.*)"),
    # dmesg of busybox and older ones, as the ring buffer has it: seconds since boot, perhaps the caller
    "boot": re.compile(r"\[ *(?P<time>\d{1,10}\.\d{1,9})\](?:\[ *[TC]\d+\])? (?P<text>.*)"),
}


def decode(data: bytes, pids: Set[int], patterns: tuple[Pattern, ...]) -> tuple[KernelLine, ...]:
    """Return the lines that matter to these processes, oldest first."""
    head, _, rest = data.partition(b"\n")
    clock = _CLOCK.match(head)
    if clock is None:
        return ()
    boot = float(clock[2]) if clock[2] else 0.0
    rows = (clean(row)[: 2 * _LONGEST] for row in rest.splitlines())
    return tuple(_lines(rows, clock[1].decode(), boot, pids, patterns))[-MOST:]


def _lines(
    rows: Iterator[str], clock: str, boot: float, pids: Set[int], patterns: tuple[Pattern, ...]
) -> Iterator[KernelLine]:
    for row in rows:
        stamp = _STAMPS[clock].match(row)
        text = stamp["text"] if stamp is not None else row
        for pattern in patterns:
            found = pattern.match.search(text)
            if found is None:
                continue
            pid = pid_of(found)
            if pid in pids or (pattern.alone and pid is None):
                at = _seconds(stamp["time"], clock, boot) if stamp is not None else 0.0
                yield KernelLine(at=at, kind=pattern.kind, text=text[:_LONGEST], pid=pid)
            break


def _seconds(text: str, clock: str, boot: float) -> float:
    """Return epoch seconds; 0 for what is no time, or counts from a boot whose time is not known."""
    if clock == "iso":
        try:
            return datetime.fromisoformat(text.replace(",", ".")).timestamp()
        except ValueError:
            return 0.0
    if clock == "boot":
        return boot + float(text) if boot else 0.0
    return float(text)
