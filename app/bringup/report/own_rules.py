"""The rules in use: those that ship with bringup, and a user's own files, each with what it adds or what is wrong."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bringup.config.folder import config_folder
from bringup.core.errors import UsageError
from bringup.core.rules import Engine
from bringup.core.wrappers import Wrappers
from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy
from bringup.report.shapes import EngineShape, WrappersShape, read_shape
from bringup.session.knowledge import Knowledge

_LINE = re.compile(r"at line (\d+)")
_NAMED = re.compile(r"(rule|wrapper) '([^']*)'")
_QUOTED = re.compile(r"'([^']+)'")
_PLACE = re.compile(r"`\$\.(\w+)(?:\[(\d+)\])?")


@dataclass(frozen=True, slots=True)
class OwnFile:
    """One of the user's files."""

    path: Path
    adds: str = ""
    """What it adds, in words; empty where it is broken."""
    extends: str | None = None
    """Name of the engine that it adds to or is; None for wrappers."""
    problem: str = ""
    line: int | None = None
    """Where the problem stands; None where no line can be named."""


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules in use and where they come from."""

    engines: tuple[Engine, ...]
    wrappers: Wrappers
    folder: Path
    """Where the user's own files are looked for."""
    files: tuple[OwnFile, ...]
    shipped: tuple[str, ...]
    """Names of the engines that come with bringup."""

    @property
    def knowledge(self) -> Knowledge:
        """What a log is read with."""
        return Knowledge(self.engines, self.wrappers, load_policy())

    @property
    def broken(self) -> tuple[OwnFile, ...]:
        """The files that could not be used."""
        return tuple(file for file in self.files if file.problem)


def own_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the user's own files: `engines` in the configuration folder."""
    return config_folder(environ) / "engines"


def load_rules(folder: Path | None = None) -> Rules:
    """Load all rules; a file of the user's that is broken is told and left out, the rest works."""
    folder = own_folder(os.environ) if folder is None else folder
    files = {path.name: _look(path) for path in _found(folder)}
    good = [file.path for file in files.values() if not file.problem]
    problems: list[UsageError] = []
    # The loaders take a folder and trust the shape of its files: they get those whose shape was found right.
    with tempfile.TemporaryDirectory(prefix="bringup-rules-") as copies:
        for path in good:
            shutil.copy(path, copies)
        chosen = Path(copies) if good else None
        engines, wrappers = load_engines(chosen, problems), load_wrappers(chosen, problems)
    for problem in problems:
        name = next((path.name for path in good if problem.what.startswith(path.name)), "")
        if name:
            files[name] = _broken(
                folder / name, str(problem).removeprefix(f"{name}: "), _line_of(folder / name, problem)
            )
    shipped = tuple(engine.name for engine in load_engines()) if good else tuple(engine.name for engine in engines)
    return Rules(engines, wrappers, folder, tuple(files.values()), shipped)


def _found(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.toml")) if folder.is_dir() else []
    except OSError:
        return []


def _look(path: Path) -> OwnFile:
    """Read one file as far as its shape."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        return _broken(path, f"it cannot be read: {reason}.", None)
    try:
        shape = read_shape(path.name, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + (not text.endswith("\n"))
        return _broken(path, f"it is not valid TOML: {error}.", line)
    except msgspec.ValidationError as error:
        place = _PLACE.search(str(error))
        where = _line_of_table(text, place[1], int(place[2] or 0)) if place else None
        return _broken(path, f"{str(error).replace(' - at `$.', ' in `').replace('`$`', 'the file')}.", where)
    return OwnFile(path, _adds(shape), shape.name if isinstance(shape, EngineShape) else None)


def _broken(path: Path, problem: str, line: int | None) -> OwnFile:
    return OwnFile(path, problem=problem, line=line)


def _adds(shape: EngineShape | WrappersShape) -> str:
    if isinstance(shape, WrappersShape):
        return f"{_count(len(shape.wrappers), 'wrapper')}, {_count(len(shape.rules), 'rule')} for every engine"
    more = f", {_count(len(shape.headers), 'header')}" if shape.headers else ""
    return f"{_count(len(shape.rules), 'rule')}{more} for {shape.name}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _line_of_table(text: str, key: str, index: int) -> int | None:
    """Return the line on which the table of an array begins, or the key."""
    tables = [found.start() for found in re.finditer(rf"(?m)^[ \t]*\[\[?\s*{key}[\].]", text)]
    keys = [found.start() for found in re.finditer(rf"(?m)^[ \t]*{key}\s*=", text)]
    starts = tables[index : index + 1] or keys[:1]
    return text.count("\n", 0, starts[0]) + 1 if starts else None


def _line_of(path: Path, problem: UsageError) -> int | None:
    """Return the line that a loader's complaint is about: that of the rule or the text it names."""
    text = path.read_text("utf-8")
    named = _NAMED.search(problem.what)
    pattern = rf"name\s*=\s*[\"']{re.escape(named[2])}[\"']" if named else ""
    if not pattern:
        quoted = _QUOTED.search(problem.what)
        pattern = re.escape(quoted[1]) if quoted else ""
    found = [match.start() for match in re.finditer(pattern, text)] if pattern else []
    return text.count("\n", 0, found[-1]) + 1 if found else None
