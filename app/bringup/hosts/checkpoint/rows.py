"""What the script that looks at a model's files said, made into a record. Rows are as look.sh describes them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Literal

from bringup.core.events import Checkpoint, Role
from bringup.core.sanitize import clean_text

MOST_NAMES = 8192
"""Weight names of a draft that are kept."""
_MOST_FILES = 4096
_FAMILIES = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
"""Kinds of weight files; where there are several, the engines take the first of these."""
_NUMBERED = re.compile(r"(.*-)(\d{1,6})(-of-)(\d{1,6})(\.[A-Za-z0-9.]+)")


@dataclass(slots=True)
class Rows:
    """The rows by what they say."""

    folder: str = ""
    filesystem: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    pointers: set[str] = field(default_factory=set)
    indexed: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    architectures: list[str] = field(default_factory=list)
    whole: bool = False
    """The end came."""


def read_rows(output: bytes) -> Rows:
    """Sort the rows; one that makes no sense is passed over."""
    rows = Rows()
    for line in output.decode("utf-8", "replace").split("\n"):
        kind, _, text = line.partition("\t")
        if kind in _TAKE:
            _TAKE[kind](rows, text)
    return rows


def _take_file(rows: Rows, text: str) -> None:
    size, _, name = text.partition("\t")
    if size.isdecimal() and name and len(rows.sizes) < _MOST_FILES:
        rows.sizes[clean_text(name)] = int(size)


def _take_folder(rows: Rows, text: str) -> None:
    rows.folder = clean_text(text)


def _take_filesystem(rows: Rows, text: str) -> None:
    rows.filesystem = clean_text(text)


def _take_indexed(rows: Rows, text: str) -> None:
    if len(rows.indexed) < _MOST_FILES:
        rows.indexed.append(_unescaped(text))


def _take_name(rows: Rows, text: str) -> None:
    if len(rows.names) < MOST_NAMES:
        rows.names.add(_unescaped(text))


def _take_end(rows: Rows, text: str) -> None:
    rows.whole = True


_TAKE: Mapping[str, Callable[[Rows, str], None]] = {
    "D": _take_folder,
    "M": _take_filesystem,
    "F": _take_file,
    "L": lambda rows, text: rows.pointers.add(clean_text(text)),
    "I": _take_indexed,
    "N": _take_name,
    "O": lambda rows, text: rows.unread.append(clean_text(text)),
    "A": lambda rows, text: rows.architectures.append(_unescaped(text)),
    "E": _take_end,
}


def checkpoint(rows: Rows, role: Role, model: str, at: float) -> Checkpoint:
    """Return what the rows say of one model's files."""
    family = _family(rows.sizes)
    broken = sorted({name for name, size in rows.sizes.items() if not size} | rows.pointers)
    present = sorted(name for name in rows.sizes if name.endswith(family) and name not in broken)
    expected, basis = _expected(rows, [name for name in rows.sizes if name.endswith(family)])
    return Checkpoint(
        role=role,
        folder=rows.folder,
        present=tuple(present),
        expected=expected,
        basis=basis,
        broken=tuple(name for name in broken if name.endswith(family)),
        architectures=tuple(rows.architectures[:8]),
        # A part of the names proves nothing of the rest.
        names=tuple(sorted(rows.names)) if not rows.unread and len(rows.names) < MOST_NAMES else (),
        size=sum(rows.sizes[name] for name in present),
        filesystem=rows.filesystem,
        remote=rows.filesystem in remote_filesystems(),
        model=model,
        seen_at=at,
    )


def remote_filesystems() -> frozenset[str]:
    """Return the types of file systems that go over a network."""
    text = resources.files(__package__).joinpath("filesystems.toml").read_text("utf-8")
    return frozenset(tomllib.loads(text)["remote"])


def _family(names: Iterable[str]) -> str:
    """Return the ending of the files that an engine takes."""
    return next((ending for ending in _FAMILIES if any(name.endswith(ending) for name in names)), _FAMILIES[0])


def _expected(rows: Rows, names: Sequence[str]) -> tuple[tuple[str, ...], Literal["index", "numbering", ""]]:
    """Return which files there should be: by the index, else by the numbers in the names.

    A name with a character that did not come through proves nothing; neither does an index that leads to other folders.
    """
    if any("?" in name or "\ufffd" in name for name in (*names, *rows.indexed)):
        return (), ""
    if rows.indexed:
        outside = any("/" in name for name in rows.indexed)
        return ((), "") if outside else (tuple(sorted(rows.indexed)), "index")
    series = _series(names)
    whole = [numbered for numbered in series if numbered <= set(names)]
    expected = set().union(*(whole or series))
    return (tuple(sorted(expected)), "numbering") if 0 < len(expected) <= _MOST_FILES else ((), "")


def _series(names: Sequence[str]) -> list[set[str]]:
    """Return the whole series of each file that is numbered 3 of 24; a folder can hold an old download as well."""
    found: dict[tuple[str, ...], set[str]] = {}
    for name in names:
        parts = _NUMBERED.fullmatch(name)
        if parts is None or int(parts[4]) > _MOST_FILES:
            continue
        head, number, of, total, ending = parts.groups()
        if (head, of, total, ending) not in found:
            first = 0 if f"{head}{'0' * len(number)}{of}{total}{ending}" in names else 1
            numbers = range(first, first + int(total))
            series = {f"{head}{n:0{len(number)}}{of}{total}{ending}" for n in numbers}
            found[head, of, total, ending] = series
    return list(found.values())


def _unescaped(text: str) -> str:
    """Return what a JSON string means."""
    try:
        meant = json.loads(f'"{text}"', strict=False)
    except json.JSONDecodeError:
        meant = text
    return clean_text(str(meant))
