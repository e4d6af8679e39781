"""Where a server's two streams go, as one of the ways to read them, or the sentence why there is none."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogTarget
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host

_STREAMS = {1: "stdout", 2: "stderr"}
_DELETED = " (deleted)"
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
    readers: list[tuple[int, str]] = field(default_factory=list)
    """PID and title of what reads the pipe, nearest first."""
    files: list[tuple[int, str, bool]] = field(default_factory=list)
    """(PID of the reader, file that it writes, whether we may read it)."""


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


def find_targets(descriptors: Mapping[int, Descriptor], around: Surroundings) -> tuple[LogTarget, ...]:
    """Return where stdout and stderr go; one target where both go to the same place."""
    distinct = {(known.to, known.flags): number for number, known in sorted(descriptors.items(), reverse=True)}
    found = [_target(number, descriptors[number], around) for number in sorted(distinct.values())]
    # A stream that leads nowhere is not worth a word beside one that can be read.
    readable = [target for target in found if target.path]
    return tuple(readable or found[:1])


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
            f"Log in as its owner or root, or let everyone read it: chmod a+r {shlex.quote(shown)}",
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
    if not descriptor.to:
        return LogTarget("", "denied", _closed(f"Where {stream} of {around.user}'s process {around.pid} goes", around))
    if "p" in flags:
        return _pipe(stream, to, descriptor, around)
    if "s" in flags:
        return _elsewhere(stream, "a socket", around) or LogTarget("", "pipe", f"{stream} goes to a socket.")
    if "c" in flags:
        return _device(stream, to, around)
    return _file(number, stream, descriptor, around)


def _file(number: int, stream: str, descriptor: Descriptor, around: Surroundings) -> LogTarget:
    shown = clean_text(descriptor.to)
    if "o" not in descriptor.flags:
        return LogTarget("", "denied", _closed(shown, around))
    if "e" in descriptor.flags:
        return LogTarget(descriptor.to, "file", f"{stream} goes to {shown}.")
    if "r" in descriptor.flags:
        note = f"{stream} goes to {shown} in the file system of the server's own container or mount namespace."
        return LogTarget(f"/proc/{around.pid}/root{descriptor.to}", "file", note)
    name = shown.removesuffix(_DELETED)
    note = f"{stream} goes to {name}, which was deleted or replaced; it is read through the server's own descriptor."
    return LogTarget(f"/proc/{around.pid}/fd/{number}", "deleted", note)


def _pipe(stream: str, to: str, descriptor: Descriptor, around: Surroundings) -> LogTarget:
    titles = dict(descriptor.readers)
    for reader, path, readable in descriptor.files:
        name = f"{_program(titles.get(reader, ''))} (PID {reader})"
        if readable and path.endswith(_DELETED):
            continue
        if readable:
            return LogTarget(path, "file", f"{stream} goes through a pipe to {name}, which writes {clean_text(path)}.")
        return LogTarget("", "denied", _closed(f"{clean_text(path)}, written by {name} from {stream},", around))
    container = _elsewhere(stream, "a pipe", around)
    if container is not None:
        return container
    if not descriptor.readers:
        return LogTarget(
            "", "pipe", f"{stream} goes to a pipe ({to}), and who reads it cannot be seen by {around.login}."
        )
    reader, title = descriptor.readers[0]
    note = f"{stream} goes through a pipe to {_program(title)} (PID {reader}), which writes no file."
    return LogTarget("", "pipe", f"{note} Start the server with its output in a file to see its log here.")


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
    unit = _UNIT.findall(cgroup)
    if what == "a socket" and unit:
        user = "--user " if "user@" in cgroup and not unit[-1].startswith("user@") else ""
        note = f"{stream} goes to the journal. It is shown by: journalctl {user}-f -u {shlex.quote(unit[-1])}"
        return LogTarget("", "journal", note)
    return None


def _closed(what: str, around: Surroundings) -> str:
    return (
        f"{what} cannot be read by {around.login}. Log in as {around.user or 'its owner'} or root, "
        "or let this login use sudo."
    )


def _program(title: str) -> str:
    words: Sequence[str] = clean_text(title).split()
    return words[0].rpartition("/")[2] if words else "a program"
