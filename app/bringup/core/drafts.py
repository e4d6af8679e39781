"""Draft models: which weight names a draft class of an engine takes, and how a checkpoint's names fit.

A class that meets a name it does not know leaves the weight out, some without a word: the draft keeps what its memory
held and is never accepted. The names are known while the draft still loads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.versions import is_within

_KEYS = frozenset({
    "name", "engine", "since", "until", "architectures", "algorithms", "takes", "leaves", "needs", "silent", "samples",
    "strangers",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class DraftClass:
    """What one class of drafts of an engine takes, in the versions of the engine for which that was read."""

    name: str
    """The engine's name of the class."""
    engine: str
    architectures: tuple[str, ...]
    """As the draft's config.json names them."""
    takes: re.Pattern[str]
    """Names that it loads."""
    leaves: re.Pattern[str]
    """Names that it leaves out on purpose."""
    needs: tuple[tuple[str, re.Pattern[str]], ...]
    """What it cannot do without: in words, and the names of which at least one must be there."""
    algorithms: tuple[str, ...] = ()
    """Speculative algorithms with which the architecture means this class; empty for any."""
    since: str = ""
    until: str = ""
    silent: bool = True
    """It says nothing of names that it does not know."""

    def knows(self, name: str) -> bool:
        """Tell whether a name is taken, or left out on purpose."""
        return bool(self.takes.fullmatch(name) or self.leaves.fullmatch(name))


@dataclass(frozen=True, slots=True)
class Fit:
    """How the weight names of a draft fit its class."""

    model_class: str
    silent: bool
    total: int
    unknown: tuple[str, ...]
    """Names that are not taken."""
    lacking: tuple[str, ...]
    """What it needs and is not there, in words."""


def classes_for(
    drafts: Iterable[DraftClass], engine: str | None, version: str | None, architectures: Sequence[str], algorithm: str
) -> tuple[DraftClass, ...]:
    """Return the classes that a draft may be loaded with: one, or several where the version does not tell.

    A version between two that were read may be either.
    """
    alike = [
        draft
        for draft in drafts
        if draft.engine == engine
        and any(name in draft.architectures for name in architectures[:1])
        and (not draft.algorithms or algorithm.lower() in draft.algorithms)
    ]
    held = [draft for draft in alike if version and is_within(version, draft.since, draft.until)]
    return tuple(held or alike)


def fit(names: Sequence[str], classes: Sequence[DraftClass]) -> Fit | None:
    """Return how names fit the best of some classes; None where there is no class or no name."""
    fits = [
        Fit(
            model_class=draft.name,
            silent=draft.silent,
            total=len(names),
            unknown=tuple(name for name in names if not draft.knows(name)),
            lacking=tuple(words for words, wanted in draft.needs if not any(map(wanted.fullmatch, names))),
        )
        for draft in classes
        if names
    ]
    return min(fits, key=lambda one: (len(one.unknown), len(one.lacking)), default=None)


def parse_drafts(table: Mapping[str, Any], source: str) -> tuple[DraftClass, ...]:
    """Make the draft classes of a file; raises UsageError with the file, the class and what is wrong.

    `<part>` in a pattern stands for the text of that name in the table [parts].
    """
    parts = {f"<{name}>": str(text) for name, text in table.get("parts", {}).items()}
    return tuple(_parse(entry, parts, source) for entry in table.get("drafts", ()))


def _parse(entry: Mapping[str, Any], parts: Mapping[str, str], source: str) -> DraftClass:
    where = f"{source}: draft class '{entry.get('name', '?')}'"
    if unknown := sorted(set(entry) - _KEYS):
        raise UsageError(f"{where}: unknown key '{unknown[0]}'.", f"A draft class has {', '.join(sorted(_KEYS))}.")
    if missing := [key for key in ("name", "engine", "architectures", "takes", "samples") if not entry.get(key)]:
        raise UsageError(f"{where}: it has no {missing[0]}.")
    found = DraftClass(
        name=str(entry["name"]),
        engine=str(entry["engine"]),
        architectures=tuple(entry["architectures"]),
        algorithms=tuple(str(name).lower() for name in entry.get("algorithms", ())),
        takes=_pattern(entry["takes"], parts, where),
        leaves=_pattern(entry.get("leaves", ()), parts, where),
        needs=tuple((words, _pattern([text], parts, where)) for words, text in entry.get("needs", {}).items()),
        since=str(entry.get("since", "")),
        until=str(entry.get("until", "")),
        silent=bool(entry.get("silent", True)),
    )
    _check_samples(found, entry, where)
    return found


def _check_samples(found: DraftClass, entry: Mapping[str, Any], where: str) -> None:
    """Check that the samples are known and complete, and that the strangers are not known."""
    for name in entry["samples"]:
        if not found.knows(name):
            raise UsageError(f"{where}: its sample '{name}' is not taken.")
    for name in entry.get("strangers", ()):
        if found.knows(name):
            raise UsageError(f"{where}: '{name}' is taken, and should be a stranger.")
    sampled = fit(entry["samples"], [found])
    if sampled is not None and sampled.lacking:
        raise UsageError(f"{where}: among its samples nothing is there for '{sampled.lacking[0]}'.")


def _pattern(texts: Iterable[str], parts: Mapping[str, str], where: str) -> re.Pattern[str]:
    """Return one pattern for several; of none, one that matches nothing."""
    joined = "|".join(f"(?:{text})" for text in texts) or "(?!)"
    for name, text in parts.items():
        joined = joined.replace(name, text)
    try:
        return re.compile(joined)
    except re.error as error:
        raise UsageError(f"{where}: a pattern is not valid: {error}.") from error
