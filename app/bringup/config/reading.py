"""The configuration read from its file: all of it is right, or it is told what is not, where, and what was expected."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bringup.config.among import among_themselves
from bringup.config.check import Mistake, mistakes
from bringup.config.positions import lines_of
from bringup.config.shapes import Config, decode
from bringup.core.errors import UsageError
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text

MORE = "`bringup config check` lists all that is wrong in it."
_LINE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_LARGEST = 1 << 20

Further = Callable[[Config], Iterable[Mistake]]
"""A further check, of what only others know (the names of keys and themes)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake with its place in the file."""

    file: Path
    line: int | None
    what: str
    expected: str

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line is not None else ""
        return mask(clean_text(f"{self.file}{where}: {self.what} {self.expected}".strip()))


@dataclass(frozen=True, slots=True)
class Read:
    """What became of reading a file."""

    file: Path
    config: Config
    """What it says; the defaults where it is broken or not there."""
    problems: tuple[Problem, ...] = ()
    exists: bool = True


def read_config(file: Path, further: Further | None = None) -> Read:
    """Read and check a file; one that is not there is an empty one."""
    try:
        text = _text(file)
    except FileNotFoundError:
        return Read(file, Config(), exists=False)
    except OSError as error:
        return _broken(file, None, f"It cannot be read: {error.strerror or error}.", "Expected a readable file.")
    except UnicodeDecodeError as error:
        return _broken(file, error.object.count(b"\n", 0, error.start) + 1, "It is not UTF-8 text.", "")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + (not text.endswith("\n"))
        return _broken(file, line, f"It is not valid TOML: {_LINE.sub('', str(error))}.", "")
    return _checked(file, text, table, further)


def load_config(file: Path, further: Further | None = None) -> Config:
    """Return the configuration; raises UsageError with the first thing that is wrong in it."""
    read = read_config(file, further)
    if read.problems:
        others = len(read.problems) - 1
        more = f"{others} more {'is' if others == 1 else 'are'} wrong. " if others else ""
        raise UsageError(str(read.problems[0]), f"{more}{MORE}")
    return read.config


def lines_in(file: Path) -> Mapping[tuple[str | int, ...], int]:
    """Return the line of every key of a configuration that was read before; nothing where it is no more as it was."""
    try:
        return lines_of(_text(file))
    except (OSError, ValueError, IndexError):
        return {}


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        raw = opened.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise OSError("it is larger than 1 MiB")
    return raw.decode("utf-8").replace("\r\n", "\n")


def _checked(file: Path, text: str, table: Mapping[str, Any], further: Further | None) -> Read:
    found = [*mistakes(table, Config)]
    config = Config()
    if not found:
        config = msgspec.convert(table, Config, dec_hook=decode)
        found = [*among_themselves(config), *(further(config) if further is not None else ())]
    if not found:
        return Read(file, config)
    lines = lines_of(text)
    problems = [Problem(file, _line(lines, mistake.path), mistake.what, mistake.expected) for mistake in found]
    return Read(file, Config(), tuple(sorted(problems, key=lambda problem: problem.line or 0)))


def _line(lines: Mapping[tuple[str | int, ...], int], path: tuple[str | int, ...]) -> int:
    while path not in lines:
        path = path[:-1]
    return lines[path]


def _broken(file: Path, line: int | None, what: str, expected: str) -> Read:
    return Read(file, Config(), (Problem(file, line, what, expected),))
