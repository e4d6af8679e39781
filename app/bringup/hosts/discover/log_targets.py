"""Where a server's two streams go, as one of the ways to read them, or the sentence why there is none."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogTarget
from bringup.core.sanitize import clean_text
from bringup.core.words import names
from bringup.hosts.base import Host
from bringup.hosts.denied import log_in
from bringup.hosts.discover.readers import DELETED, Reader, Written, best_file, gathered, holds_all

_STREAMS = {1: "stdout", 2: "stderr"}
_CONTAINER = re.compile(
    r"(docker|libpod|cri-containerd|crio|containerd)[-/:]([0-9a-f]{12,64})|kubepods\S*?/([0-9a-f]{64})"
)
_LOOK = """case $1 in /*) ;; *) set -- "$PWD/$1" ;; esac
words=''
[ -e "$1" ] || words="$words missing"
[ ! -d "$1" ] || words="$words folder"
[ -r "$1" ] || words="$words denied"
[ -f "$1" ] || words="$words odd"
id -un
printf '%s\\n%s' "$words" "$1"
"""
_UNIT = re.compile(r"([^/\s]+\.service)\b")


@dataclass(slots=True)
class Descriptor:
    """One descriptor of a process, as launcher.sh told it."""

    flags: str = ""
    to: str = ""
    """What /proc/PID/fd/N links to; empty where that may not be read."""
    readers: list[Reader] = field(default_factory=list)
    """What reads the pipe, nearest first."""
    files: list[Written] = field(default_factory=list)
    """What those write."""


@dataclass(slots=True)
class Surroundings:
    """What the sentences about a log name."""

    pid: int
    user: str = ""
    login: str = ""
    """The user we are on the host."""
    cgroup: str = ""
    terminal: str = ""
    """"tmux" or "screen" where the server runs in one."""
    launched: str = ""
    """What launched it, in words."""
    told: Mapping[int, Written] = field(default_factory=dict)
    """The files of its streams, by descriptor, as its launcher's own tool told them."""


def find_targets(descriptors: Mapping[int, Descriptor], around: Surroundings) -> tuple[LogTarget, ...]:
    """Return where stdout and stderr go; one target where both go to the same place."""
    distinct = {(known.to, known.flags): number for number, known in sorted(descriptors.items(), reverse=True)}
    found = {number: _target(number, descriptors[number], around) for number in sorted(distinct.values())}
    # A stream that leads nowhere is not worth a word beside one that can be read.
    readable = {number: target for number, target in found.items() if target.path}
    if len(readable) > 1 and (both := _both(descriptors, readable)) is not None:
        return (both,)
    return tuple(dict.fromkeys(readable.values())) or tuple(found.values())[:1]


def _both(descriptors: Mapping[int, Descriptor], found: Mapping[int, LogTarget]) -> LogTarget | None:
    """Return the file of one stream into which the other one's pipe leads as well: its lines must not count twice."""
    for number, target in found.items():
        others = (descriptors[other] for other in found if other != number)
        if all(holds_all(target.path, other.readers, other.files) for other in others):
            return replace(target, note=f"{target.note} The other stream is in it, too.")
    return None


async def log_target_for(host: Host, path: str) -> LogTarget:
    """Return a log that the operator named, with its full path; a relative one starts where a login does.

    Raises ChannelRefused ("missing", "denied", "unsupported") with a sentence.
    """
    quoted = '"$HOME"' + shlex.quote(path[1:]) if path == "~" or path.startswith("~/") else shlex.quote(path)
    done = await host.run(f"set -- {quoted}\n{_LOOK}")
    user, words, full = (*done.stdout.decode("utf-8", "surrogateescape").split("\n", 2), "", "", "")[:3]
    user, shown = clean_text(user), clean_text(full)
    if "missing" in words:
        raise ChannelRefused(
            f"There is no {shown} on {host.name}, as far as {user} can see.", "Check the path.", reason="missing"
        )
    if "folder" in words:
        raise ChannelRefused(f"{shown} on {host.name} is a folder.", "Name the log itself.", reason="unsupported")
    if "denied" in words:
        raise ChannelRefused(
            f"{shown} on {host.name} cannot be read by {user}.",
            f"{log_in('')}, or let everyone read it: chmod a+r {shlex.quote(shown)}",
            reason="denied",
        )
    if "odd" in words:
        raise ChannelRefused(
            f"{shown} on {host.name} is not a plain file, so it cannot be followed.",
            "Name the file that the server's output ends up in.",
            reason="unsupported",
        )
    return LogTarget(full, "file")


def _target(number: int, descriptor: Descriptor, around: Surroundings) -> LogTarget:
    stream, to, flags = _STREAMS[number], clean_text(descriptor.to), descriptor.flags
    told = around.told.get(number)
    if not descriptor.to:
        return _told(stream, told, around) or _hidden(stream, around)
    if "p" in flags:
        return _pipe(stream, to, descriptor, told, around)
    if "s" in flags:
        return _elsewhere(stream, "a socket", around) or LogTarget("", "pipe", _socket(stream, around))
    if "c" in flags:
        return _told(stream, told, around) or _device(stream, to, around)
    return _file(number, stream, descriptor, around)


def _told(stream: str, told: Written | None, around: Surroundings) -> LogTarget | None:
    """The file that the launcher's own tool told."""
    if told is None:
        return None
    shown = clean_text(told.path)
    if not told.readable:
        return LogTarget("", "denied", _closed(f"{shown}, where {stream} of {around.launched} goes,", around))
    return LogTarget(told.path, "file", f"{stream} of {around.launched} goes to {shown}.")


def _file(number: int, stream: str, descriptor: Descriptor, around: Surroundings) -> LogTarget:
    shown = clean_text(descriptor.to)
    if "o" not in descriptor.flags:
        return LogTarget("", "denied", _closed(shown, around))
    if "e" in descriptor.flags:
        return LogTarget(descriptor.to, "file", f"{stream} goes to {shown}.")
    if "r" in descriptor.flags:
        note = f"{stream} goes to {shown} in the file system of the server's own container or mount namespace."
        return LogTarget(f"/proc/{around.pid}/root{descriptor.to}", "file", note)
    name = shown.removesuffix(DELETED)
    note = f"{stream} goes to {name}, which was deleted or replaced; it is read through the server's own descriptor."
    return LogTarget(f"/proc/{around.pid}/fd/{number}", "deleted", note)


def _pipe(stream: str, to: str, descriptor: Descriptor, told: Written | None, around: Surroundings) -> LogTarget:
    readers = descriptor.readers
    file = best_file(readers, descriptor.files, told.path if told is not None else "")
    if file is not None:
        name = next((str(reader) for reader in readers if reader.pid == file.reader), f"PID {file.reader}")
        shown = clean_text(file.path)
        if file.readable:
            return LogTarget(file.path, "file", f"{stream} goes through a pipe to {name}, which writes {shown}.")
        return LogTarget("", "denied", _closed(f"{shown}, written by {name} from {stream},", around))
    known = _told(stream, told, around) or _elsewhere(stream, "a pipe", around)
    if known is not None:
        return known
    if not readers:
        return LogTarget(
            "", "pipe", f"{stream} goes to a pipe ({to}), and who reads it cannot be seen by {around.login}."
        )
    return LogTarget("", "pipe", f"{stream} goes through a pipe to {_reader_without_log(descriptor)}")


def _reader_without_log(descriptor: Descriptor) -> str:
    """Who reads a pipe of which no log is known, and what can be done: the rest of a note."""
    several = gathered(descriptor.readers, descriptor.files)
    if several is not None:
        reader, paths = several
        files = names([clean_text(path) for path in paths])
        return f"{reader}, which writes {files}: which of them is this server's log cannot be told. Name it with --log."
    nearest = descriptor.readers[0]
    how = nearest.shows or "Start the server with its output in a file to see its log here."
    return f"{nearest}, which writes no file{' that can be read here' if descriptor.files else ''}. {how}"


def _device(stream: str, to: str, around: Surroundings) -> LogTarget:
    if to == "/dev/null":
        return LogTarget("", "null", f"{stream} goes to /dev/null: this server keeps no log.")
    how = "Start the server with its output in a file to see its log here."
    if around.terminal == "tmux":
        how = "It runs in tmux; the text of its pane is printed by: tmux capture-pane -p -S - -t PANE"
    elif around.terminal == "screen":
        how = "It runs in screen; its text can be written with: screen -X hardcopy -h FILE"
    return LogTarget("", "terminal", f"{stream} goes to the terminal {to}. {how}")


def _elsewhere(stream: str, what: str, around: Surroundings) -> LogTarget | None:
    """A container's runtime or the journal, by the control group of the process."""
    cgroup = clean_text(around.cgroup)
    found = _CONTAINER.search(cgroup)
    if found is not None:
        number = (found[2] or found[3])[:12]
        tool = {"docker": "docker", "libpod": "podman"}.get(found[1] or "", "crictl")
        note = f"{stream} goes to a container's runtime. Its log is shown by: {tool} logs -f {number}"
        return LogTarget("", "container", note)
    journal = _journal(around)
    if what == "a socket" and journal:
        return LogTarget("", "journal", f"{stream} goes to the journal. It is shown by: {journal}")
    return None


def _journal(around: Surroundings) -> str:
    """Return the command that shows the journal of the unit of the process; "" where it is in none."""
    cgroup = clean_text(around.cgroup)
    unit = _UNIT.findall(cgroup)
    if not unit:
        return ""
    user = "--user " if "user@" in cgroup and not unit[-1].startswith("user@") else ""
    return f"journalctl {user}-f -u {shlex.quote(unit[-1])}"


def _socket(stream: str, around: Surroundings) -> str:
    """A socket outside of any unit: systemd-cat(1) connects a program with the journal and then becomes it."""
    shown = f"journalctl -f _PID={around.pid}"
    return f"{stream} goes to a socket. Where that is the journal's (systemd-cat), it is shown by: {shown}"


def _hidden(stream: str, around: Surroundings) -> LogTarget:
    """Nobody but its user sees where the output of a process goes; its control group everybody does."""
    note = _closed(f"Where {stream} of {around.user or 'somebody'}'s process {around.pid} goes", around)
    known, journal = _elsewhere(stream, "a pipe", around), _journal(around)
    if known is not None:
        note = f"{note} It runs in a container, whose log is shown by: {known.note.rpartition(': ')[2]}"
    elif journal:
        note = f"{note} It is a unit's, whose output is in the journal unless it says otherwise: {journal}"
    return LogTarget("", "denied", note)


def _closed(what: str, around: Surroundings) -> str:
    return f"{what} cannot be read by {around.login}. {log_in(around.user)}, or let this login use sudo."
