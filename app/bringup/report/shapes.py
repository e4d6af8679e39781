"""The shapes of a user's own files: which keys hold what, checked before anything is made of them."""

from __future__ import annotations

from typing import Any

import msgspec

WRAPPERS = "wrappers.toml"
"""Name of the file that adds wrappers; any other adds to an engine or is one."""


class RuleShape(msgspec.Struct):
    """One of [[rules]]."""

    name: str
    match: str
    samples: list[str]
    emit: str = ""
    set: dict[str, Any] = {}
    since: str = ""
    until: str = ""
    scope: str = ""
    limit: int = 0
    shared: bool = False
    traceback: str = ""
    kind: str = ""


class HeaderShape(msgspec.Struct):
    """One of [[headers]]."""

    match: str
    samples: list[str]
    close: str = ""
    record: bool = True
    glued: bool = False


class TitleShape(msgspec.Struct):
    """One of [[titles]]."""

    part: str
    match: str
    samples: list[str]


class CommandShape(msgspec.Struct):
    """[command]: fields of a launch, and the words that set them."""

    flags: dict[str, list[str]] = {}
    switches: dict[str, list[str]] = {}
    model_after: list[str] = []


class EngineShape(msgspec.Struct):
    """A file of an engine."""

    name: str
    rules: list[RuleShape]
    title: str = ""
    package: str = ""
    label: str = ""
    headers: list[HeaderShape] = []
    titles: list[TitleShape] = []
    command: CommandShape = msgspec.field(default_factory=CommandShape)
    launch: dict[str, list[str]] = {}


class WrapperShape(msgspec.Struct):
    """One of [[wrappers]]."""

    name: str
    match: str
    samples: list[str]
    sure: bool = False


class WrappersShape(msgspec.Struct):
    """The file of wrappers."""

    wrappers: list[WrapperShape] = []
    rules: list[RuleShape] = []


def read_shape(name: str, table: dict[str, Any]) -> EngineShape | WrappersShape:
    """Return a file's contents in their shape; raises msgspec.ValidationError with the place of what does not fit."""
    return msgspec.convert(table, WrappersShape) if name == WRAPPERS else msgspec.convert(table, EngineShape)
