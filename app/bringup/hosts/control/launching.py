"""What came of a launch, and why it failed in its own words."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Completed
from bringup.hosts.control.journal import Busy, unhex

LAST_WORDS = 3
"""Lines of a server that ended at once that fit into a sentence."""


class LaunchFailed(BringupError):
    """The new server ended at once; what it was launched with is kept on the host for another try."""


@dataclass(frozen=True, slots=True)
class Started:
    """A new process: its identity, and what is not as it was before."""

    pid: int
    start: int
    unlike: tuple[str, ...] = ()
    """What could not be repeated, in words: "limit (Max open files) that was 1048576"."""
    aside: tuple[str, ...] = ()
    """Where old logs were put."""
    unchecked: str = ""
    """What could not be checked before it was launched, as a part of a sentence; "" where all was."""


def read_launch(name: str, done: Completed, log: str = "") -> Started:
    """Return the process that launch.sh told of; raises BringupError with what stood against it."""
    told: dict[str, list[str]] = {}
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines):
        key, _, value = line.partition(" ")
        told.setdefault(key, []).append(value)
        if key == "ended":
            told["words"] = lines[number + 1 : number + 2]
            break
    said = clean_text(done.stderr.decode("utf-8", "replace")).strip().rstrip(".")
    _refused(name, told)
    if "ended" in told:
        words = last_words(unhex("".join(told.get("words", ()))))
        raise LaunchFailed(
            f"The new server on {name} ended at once with exit status {told['ended'][0]}:"
            f" {words or said or 'it said nothing'}.",
            f"See {log}." if log.startswith("/") else "",
        )
    pid, _, start = told.get("started", [""])[0].partition(":")
    if not (pid.isdigit() and start.isdigit()):
        raise BringupError(f"The server was not launched on {name}: {said or 'nothing was said'}.")
    unlike = tuple(clean_text(text) for text in told.get("unlike", ()))
    return Started(int(pid), int(start), unlike, tuple(clean_text(unhex(path)) for path in told.get("log", ())))


def last_words(text: str) -> str:
    """Return the last lines of an output in one line, without a full stop: the sentence around it has one."""
    return " / ".join(clean_text(line).strip() for line in text.strip().splitlines()[-LAST_WORDS:]).rstrip(".")


def _refused(name: str, told: dict[str, list[str]]) -> None:
    if "running" in told:
        pid = told["running"][0].partition(":")[0]
        raise BringupError(
            f"Nothing was launched on {name}: PID {pid} of the old server still runs.",
            "Stop it first, so that there are never two.",
        )
    if "again" in told:
        pid = told["again"][0].partition(":")[0]
        raise BringupError(
            f"Nothing was launched on {name}: PID {pid} was started there meanwhile with the same command.",
            "It is the new server, unless somebody else started a second one.",
        )
    if "lost" in told:
        raise Busy(f"Nothing was launched on {name}: another console has taken over.", "Look at the server first.")
    if "none" in told:
        raise BringupError(
            f"Nothing was launched on {name}: what the server was launched with is not kept there any more.",
            "Either it was launched already, or an hour has passed. Launch it as it was launched the first time.",
        )
