"""What discover.sh and launcher.sh answer, read with limits: keyed lines, each followed by bytes as od printed them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bringup.core.sanitize import clean
from bringup.hosts.discover.candidates import Candidate
from bringup.hosts.discover.log_targets import Descriptor
from bringup.hosts.discover.readers import Reader, Written

_SECONDS = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
_START = 19
"""Place of starttime among the fields of /proc/PID/stat after the command's name (proc(5) counts it as 22)."""
_MOST_ARGUMENTS = 4096


@dataclass(slots=True)
class Listing:
    """The processes of interest, and the host's clock."""

    now: float = 0.0
    """Epoch seconds."""
    uptime: float = 0.0
    ticks: int = 100
    hidden: bool = False
    """Other users' processes are hidden (/proc mounted with hidepid, proc(5))."""
    user: str = ""
    """The user we are there."""
    asking: frozenset[int] = frozenset()
    """PIDs of the shell that looked, and of all above it."""
    processes: dict[int, Candidate] = field(default_factory=dict)


@dataclass(slots=True)
class Place:
    """What a launcher's own folder in /proc tells."""

    cwd: str = ""
    cgroup: str = ""
    environ: frozenset[str] = frozenset()
    """Which of the asked variables its environment has; never their values."""
    flags: frozenset[str] = frozenset()
    """"deaf": it ignores SIGHUP, as under nohup; "loops": the script above it has a loop."""
    descriptors: dict[int, Descriptor] = field(default_factory=dict)


def read_listing(data: bytes) -> Listing:
    """Read the answer of discover.sh; lines that make no sense are passed over."""
    listing = Listing()
    users: dict[int, str] = {}
    for fields, content in _keyed(data):
        try:
            match fields:
                case ["K", now, uptime, ticks, hidden, user]:
                    listing.now, listing.uptime = _seconds(now), _seconds(uptime)
                    listing.ticks = int(ticks or 100) or 100
                    listing.hidden, listing.user = hidden == "hidden", user
                case ["P", pid, stat]:
                    process = _candidate(int(pid), stat.split(), content)
                    listing.processes[process.pid] = process
                case ["U", pid, user]:
                    users[int(pid)] = user
                case ["A", pids]:
                    listing.asking = frozenset(map(int, pids.split()))
        except (ValueError, IndexError):
            continue
    for process in listing.processes.values():
        process.user = users.get(process.pid, "")
    return listing


def read_places(data: bytes) -> dict[int, Place]:
    """Read the answer of launcher.sh, by PID; lines that make no sense are passed over."""
    places: dict[int, Place] = {}
    place = Place()
    for fields, content in _keyed(data):
        try:
            if fields[0] == "process":
                place = places.setdefault(int(fields[1]), Place())
            else:
                _take(place, fields, content)
        except (ValueError, KeyError, IndexError):
            continue
    return places


def _take(place: Place, fields: list[str], content: bytes) -> None:
    """Take one keyed line about a place; raises ValueError or KeyError where it makes no sense."""
    match fields:
        case ["cwd"]:
            place.cwd = _link(content)
        case ["cgroup"]:
            place.cgroup = content.decode("utf-8", "replace")
        case ["environ"]:
            place.environ = frozenset(content.decode("ascii", "replace").split())
        case ["deaf" | "loops" as flag]:
            place.flags |= {flag}
        case ["fd", number, flags]:
            place.descriptors[int(number)] = Descriptor(flags, content.decode("utf-8", "surrogateescape"))
        case ["reader", number, pid, nearer, by]:
            reader = Reader(int(pid), _words(content), int(nearer), int(by))
            place.descriptors[int(number)].readers.append(reader)
        case ["file", number, pid, descriptor, flags]:
            place.descriptors[int(number)].files.append(Written(int(pid), _link(content), int(descriptor), flags))


def _keyed(data: bytes) -> Iterator[tuple[list[str], bytes]]:
    """Yield the fields of each keyed line with the bytes that od printed below it."""
    fields: list[str] | None = None
    content = bytearray()
    for line in data.split(b"\n"):
        if line.startswith(b" "):
            try:
                content += bytes.fromhex(line.decode("ascii", "replace"))
            except ValueError:
                continue
        elif line:
            if fields is not None:
                yield fields, bytes(content)
            # A TAB is a separator here; whatever else is no text goes.
            fields, content = [clean(part) for part in line.split(b"\t")], bytearray()
    if fields is not None:
        yield fields, bytes(content)


def _candidate(pid: int, stat: list[str], cmdline: bytes) -> Candidate:
    argv = _arguments(cmdline.decode("utf-8", "surrogateescape"))[:_MOST_ARGUMENTS]
    ppid, pgid, sid, _, tpgid = (int(number) for number in stat[1:6])
    return Candidate(pid, ppid, int(stat[_START]), stat[0], tuple(argv), pgid=pgid, sid=sid, tpgid=tpgid)


def _arguments(line: str) -> list[str]:
    """Return the words of a command line, of which each ends with NUL and the last may be empty.

    A title that a process has given itself is one word, followed by blanks or NULs in place of what it has overwritten.
    """
    words = line.removesuffix("\0").split("\0")
    return [words[0].rstrip(" ")] if not any(words[1:]) else words


def _words(cmdline: bytes) -> str:
    return clean(cmdline.replace(b"\0", b" ")).strip()


def _link(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape").removesuffix("\n")


def _seconds(text: str) -> float:
    """Read seconds; `date` without %N leaves letters behind the point."""
    found = _SECONDS.match(text)
    return float(found[0]) if found else 0.0
