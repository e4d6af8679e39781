"""What came of a launch, and why it failed in its own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.core.words import BETWEEN
from bringup.hosts.base import Completed
from bringup.hosts.control.journal import UNSEEN, Busy, unhex
from bringup.hosts.control.processes import Identity, read_identity

MORTAL = (
    "it ends with the last session of this login there (KillUserProcesses= of logind.conf): launch it by"
    " `systemd-run --user`, with `loginctl enable-linger`, to keep it"
)
_NOWHERE = "/dev/null"
LAST_WORDS = 3
"""Lines of a server that ended at once that fit into a sentence."""


class LaunchFailed(BringupError):
    """The new server ended at once; what it was launched with is kept on the host for another try."""

    def __init__(self, what: str, hint: str = "", status: str = "") -> None:
        super().__init__(what, hint)
        self.status = status
        """Exit status; "" where nobody was told."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Where in a file that a new server writes to its lines begin."""

    path: str
    aside: str = ""
    """Where what stood in it before was put; "" where it was left there, or there was nothing."""
    offset: int = 0
    """Bytes that were left in it."""
    before: bytes = b""
    """The last of them, at most 64."""


@dataclass(frozen=True, slots=True)
class Started:
    """A new process: its identity, and what is not as it was before."""

    pid: int
    """0 where no process is known: the command that started it has ended, or it was its launcher's own."""
    start: int
    unlike: tuple[str, ...] = ()
    """What could not be repeated, in words: "limit (Max open files) that was 1048576"."""
    aside: tuple[str, ...] = ()
    """Where old logs were put."""
    unchecked: str = ""
    """What could not be checked before it was launched, as a part of a sentence; "" where all was."""
    noted: tuple[str, ...] = ()
    """What is to be said of its launcher's own commands, each as a part of a sentence."""
    handed: str | None = None
    """The last words of a configured command that has ended well and left the server to others; None while it runs."""
    became: str = ""
    """What has become of that, where its words tell what it is, as a part of a sentence; "" where nobody knows."""
    log: str = ""
    """Where a configured command writes; "" for every other launch."""
    mortal: str = ""
    """Why it may not outlive its login, as a part of a sentence; "" where nothing is known against that."""
    begins: tuple[Begin, ...] = ()
    """The files that it writes to, where that is known."""


def read_launch(name: str, done: Completed, log: str = "") -> Started:
    """Return the process that launch.sh told of; raises BringupError with what stood against it."""
    told: dict[str, list[str]] = {}
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines):
        key, _, value = line.partition(" ")
        told.setdefault(key, []).append(value)
        if key in ("ended", "handed"):
            told["words"] = lines[number + 1 : number + 2]
            break
    words = last_words(unhex("".join(told.get("words", ()))))
    said = clean_text(done.stderr.decode("utf-8", "replace")).strip().rstrip(".")
    refuse(name, {key: values[0] for key, values in told.items()})
    if "ended" in told:
        left = told.get("left", [""])[0].partition(":")[0]
        raise LaunchFailed(
            f"The new server on {name} ended at once with exit status {told['ended'][0]}:"
            f" {words or said or _silent(log)}.{' The file system of its log is full.' if 'full' in told else ''}"
            f"{f' PID {left} of it still runs.' if left else ''}",
            f"See {log}." if log.startswith("/") and log != _NOWHERE else "",
            told["ended"][0],
        )
    if "handed" in told:
        return replace(_started(told, read_identity(told["handed"][0]) or (0, 0)), handed=words)
    new = read_identity(told.get("started", [""])[0])
    if new is None:
        raise BringupError(f"The server was not launched on {name}: {said or 'nothing was said'}.")
    return _started(told, new)


def _started(told: Mapping[str, Sequence[str]], new: Identity) -> Started:
    unlike = tuple(clean_text(text) for text in told.get("unlike", ()))
    aside = tuple(clean_text(unhex(path)) for path in told.get("log", ()))
    begins = tuple(begin for row in told.get("writes", ()) if (begin := _begin(row)) is not None)
    return Started(*new, unlike, aside, mortal=MORTAL if "mortal" in told else "", begins=begins)


def _begin(row: str) -> Begin | None:
    path, old, size, before = (*row.split(), "", "", "", "")[:4]
    aside = unhex(old)
    try:
        return Begin(unhex(path), "" if aside == "-" else aside, int(size), bytes.fromhex(before)) if path else None
    except ValueError:
        return None


def _silent(log: str) -> str:
    return f"it wrote to {_NOWHERE}, so its words are lost" if log == _NOWHERE else "it said nothing"


def last_words(text: str) -> str:
    """Return the last lines of an output in one line, without a full stop: the sentence around it has one."""
    return BETWEEN.join(clean_text(line).strip() for line in text.strip().splitlines()[-LAST_WORDS:]).rstrip(".")


def refuse(name: str, told: Mapping[str, str]) -> None:
    """Raise BringupError where a script told what stands against a launch on a host of this name."""
    if "running" in told:
        pid = told["running"].partition(":")[0]
        raise BringupError(
            f"Nothing was launched on {name}: PID {pid} of the old server still runs.",
            "Stop it first, so that there are never two.",
        )
    if "again" in told:
        pid = told["again"].partition(":")[0]
        raise BringupError(
            f"Nothing was launched on {name}: PID {pid} was started there meanwhile with the same command.",
            "It is the new server, unless somebody else started a second one.",
        )
    if "unseen" in told:
        raise BringupError(f"Nothing was launched on {name}: {UNSEEN}.")
    if "lost" in told:
        raise Busy(f"Nothing was launched on {name}: another console has taken over.", "Look at the server first.")
    if "busy" in told:
        raise Busy(
            f"Nothing was launched on {name} from here: another console launches it at this moment.",
            "Look at the server first.",
        )
    if "none" in told:
        raise BringupError(
            f"Nothing was launched on {name}: what the server was launched with is not kept there any more.",
            "Either it was launched already, or an hour has passed. Launch it as it was launched the first time.",
        )
