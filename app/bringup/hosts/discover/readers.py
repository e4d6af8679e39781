"""What reads a server's output through a pipe, and which of the files that come of it is the server's log."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from bringup.core.sanitize import clean_text

DELETED = " (deleted)"
"""What the link of a descriptor ends with when its file was removed, proc_pid_fd(5)."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is known of a program that reads a pipe, as readers.toml tells it."""

    program: re.Pattern[str]
    passes: bool = False
    packs: bool = False
    own: re.Pattern[str] | None = None
    shows: str = ""
    samples: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """A process that reads a pipe."""

    pid: int
    title: str = ""
    nearer: int = 0
    """PID of the reader whose output it reads; 0 where that is the server's own."""
    descriptor: int = 0
    """By which it reads. Only what was put into a pipeline reads its standard input."""

    @property
    def program(self) -> str:
        """Its name, without the folder; of a script that of the script."""
        known = program_of(self.title)
        words = clean_text(self.title).split()
        named = [word for word in words if known is not None and known.program.search(word)]
        return (named or words or ["a program"])[0].rpartition("/")[2].rstrip(":")

    @property
    def gathers(self) -> bool:
        """It has opened the pipe itself, as a supervisor does for each of its programs, and its files are not one's."""
        return self.descriptor > 0

    @property
    def shows(self) -> str:
        """Where the output is that it writes into no file, as a sentence; "" where nobody knows."""
        known = program_of(self.title)
        return known.shows.replace("{pid}", str(self.pid)) if known is not None else ""

    def __str__(self) -> str:
        return f"{self.program} (PID {self.pid})"


@dataclass(frozen=True, slots=True)
class Written:
    """A file that a reader writes."""

    reader: int
    path: str
    descriptor: int = 1
    """Up to 2 it was opened by whoever started the reader, as a redirection; beyond by the reader itself."""
    flags: str = ""
    """"o": we may read it; "m": processes that read nothing of the server's output write it, too."""

    @property
    def readable(self) -> bool:
        """We may read it."""
        return "o" in self.flags


def best_file(readers: Sequence[Reader], files: Sequence[Written], told: str = "") -> Written | None:
    """Return the file that is most likely the server's log, None where there is none, or no telling which.

    What holds all of the output counts more than what a filter left of it, then what holds nothing else: the standard
    output of a script is that of all its programs. Of several such ones it is the nearest, and the first one that its
    reader was told to write. What gathers the output of several programs has a file for each: `told` is the server's.
    """
    known = {reader.pid: reader for reader in readers}
    order = [reader.pid for reader in readers]

    def rank(file: Written) -> tuple[bool, bool, int, bool, int]:
        place = order.index(file.reader) if file.reader in known else len(order)
        return not _whole(file.reader, known), "m" in file.flags, place, file.descriptor <= 2, file.descriptor

    useful = [file for file in files if file.path == told or not _useless(file, known)]
    clear = {reader.pid: _clear(reader.pid, useful, told) for reader in readers if reader.gathers}
    return min((file for file in useful if file.path in clear.get(file.reader, (file.path,))), key=rank, default=None)


def gathered(readers: Sequence[Reader], files: Sequence[Written]) -> tuple[Reader, list[str]] | None:
    """Return the reader that has several files, one of which may be the server's log, and their paths."""
    known = {reader.pid: reader for reader in readers}
    for reader in readers:
        paths = {file.path for file in files if file.reader == reader.pid and not _useless(file, known)}
        if reader.gathers and len(paths) > 1:
            return reader, sorted(paths)
    return None


def holds_all(path: str, readers: Sequence[Reader], files: Sequence[Written]) -> bool:
    """Return whether all that goes through a pipe also lands in a file."""
    known = {reader.pid: reader for reader in readers}
    return any(file.path == path and _whole(file.reader, known) for file in files)


def _useless(file: Written, known: Mapping[int, Reader]) -> bool:
    if file.readable and file.path.endswith(DELETED):
        return True
    reader = known.get(file.reader)
    program = program_of(reader.title) if reader is not None else None
    return program is not None and (program.packs or (program.own is not None and bool(program.own.search(file.path))))


def _clear(pid: int, files: Sequence[Written], told: str) -> set[str]:
    """Return the one path that can be the server's log of those that a reader of many pipes writes; none of several."""
    opened = {file.path for file in files if file.reader == pid and file.descriptor > 2}
    paths = {told} if told else opened or {file.path for file in files if file.reader == pid}
    return paths if len(paths) == 1 else set()


def _whole(pid: int, known: Mapping[int, Reader]) -> bool:
    """No program on the way to this one, nor itself, drops anything."""
    passed: set[int] = set()
    while pid in known and pid not in passed:
        program = program_of(known[pid].title)
        if program is None or not program.passes:
            return False
        passed.add(pid)
        pid = known[pid].nearer
    return pid == 0


def program_of(title: str) -> Program | None:
    """Return what is known of the program with a command line; None where it is any other one."""
    return next((each for each in load_programs() if each.program.search(clean_text(title))), None)


@cache
def load_programs() -> tuple[Program, ...]:
    """Return the programs that bringup knows."""
    table = tomllib.loads(resources.files(__package__).joinpath("readers.toml").read_text("utf-8"))
    return tuple(
        Program(
            re.compile(entry["program"]),
            passes=bool(entry.get("passes", False)),
            packs=bool(entry.get("packs", False)),
            own=re.compile(entry["not"]) if "not" in entry else None,
            shows=entry.get("shows", ""),
            samples=tuple(entry.get("samples", ())),
        )
        for entry in table["reader"]
    )
