"""What transports put before every line of a log (compose, kubectl, journald, srun …): peeled off, never thrown away.

Wrappers stand in any order and number. A sequence that proved itself once is tried first from then on. Some beginnings
prove themselves (`engine-1  | `); others (`0: `, `[gpu-a] `) look like text of the log itself and count only after an
engine's own header has followed them at least once for the same place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.headers import without_names
from bringup.core.rule import Rule
from bringup.core.rules import parse_rules
from bringup.core.sanitize import clean

_DEEPEST = 4
_MOST_ORIGINS = 4096


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One beginning, with the groups `origin` (the place) and `stamp` (the transport's own time)."""

    name: str
    pattern: re.Pattern[bytes]
    sure: bool
    """It proves itself; nothing but this transport begins a line so."""
    samples: tuple[str, ...]
    process: bool = False
    """The origin names one process, not a place in which several run (Ray's actors)."""


@dataclass(frozen=True, slots=True)
class Wrappers:
    """The wrappers, and the rules for lines that no engine prints: shells, job schedulers, the kernel."""

    wrappers: tuple[Wrapper, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Peeled:
    """A record without its wrappers."""

    text: bytes
    origin: str = ""
    stamp: bytes = b""
    process: bool = False
    """The origin names the process that wrote the line."""


class Peeler:
    """Takes the wrappers off; learns which ones a log has."""

    def __init__(self, wrappers: Wrappers) -> None:
        self._wrappers = wrappers.wrappers
        whole = b"|".join(wrapper.pattern.pattern for wrapper in self._wrappers)
        self._any = re.compile(without_names(whole)) if whole else None
        self._proven: set[tuple[str, str]] = set()

    def peel(self, record: bytes, has_header: Callable[[bytes], bool]) -> Peeled:
        """Return what is under the wrappers; `has_header` tells whether text begins with an engine's own header."""
        if self._any is None or self._any.match(record) is None:
            return Peeled(record)
        layers: list[tuple[Wrapper, re.Match[bytes]]] = []
        start = 0
        while len(layers) < _DEEPEST:
            layer = self._layer(record, start)
            if layer is None:
                break
            layers.append(layer)
            start = layer[1].end()
        return self._accept(record, layers, has_header)

    def _layer(self, record: bytes, start: int) -> tuple[Wrapper, re.Match[bytes]] | None:
        """Return the wrapper that stands at `start`."""
        for wrapper in self._wrappers:
            found = wrapper.pattern.match(record, start)
            if found is not None and found.end() > start:
                return wrapper, found
        return None

    def _accept(
        self,
        record: bytes,
        layers: list[tuple[Wrapper, re.Match[bytes]]],
        has_header: Callable[[bytes], bool],
    ) -> Peeled:
        """Keep the layers up to the last that is sure, proven before, or proven now by the header that follows."""
        kept = 0
        for count, (wrapper, found) in enumerate(layers, 1):
            if wrapper.sure or (wrapper.name, _origin(found)) in self._proven:
                kept = count
            elif has_header(record[found.end() :]):
                kept = count
                self._prove(layers[:count])
        if not kept:
            return Peeled(record)
        used = layers[:kept]
        origins = [_origin(found) for _, found in used]
        stamps = [found.groupdict().get("stamp") or b"" for _, found in used]
        end = used[-1][1].end()
        process = any(wrapper.process for wrapper, _ in used)
        stamp = next(filter(None, reversed(stamps)), b"")
        return Peeled(record[end:], "/".join(filter(None, origins)), stamp, process)

    def _prove(self, layers: Sequence[tuple[Wrapper, re.Match[bytes]]]) -> None:
        """Remember that these beginnings are wrappers."""
        if len(self._proven) < _MOST_ORIGINS:
            self._proven.update((wrapper.name, _origin(found)) for wrapper, found in layers)


def _origin(found: re.Match[bytes]) -> str:
    """Return the place that a wrapper names."""
    return clean(found.groupdict().get("origin") or b"").strip()


def parse_wrappers(mapping: Mapping[str, Any], source: str) -> Wrappers:
    """Make the wrappers of the contents of their file; raises UsageError with one sentence naming file and wrapper."""
    found = []
    for table in mapping.get("wrappers", ()):
        where = f"{source}: wrapper '{table.get('name', '?')}'"
        try:
            pattern = re.compile(str(table["match"]).removeprefix("^").encode())
        except KeyError:
            raise UsageError(f"{where}: it needs a pattern in 'match'.") from None
        except re.error as error:
            raise UsageError(f"{where}: the pattern is not valid: {error}.") from error
        samples, process = tuple(table.get("samples", ())), bool(table.get("process", False))
        if not samples or not all(pattern.match(sample.encode()) for sample in samples):
            raise UsageError(f"{where}: it has no sample, or does not match it.")
        found.append(Wrapper(str(table.get("name", "")), pattern, bool(table.get("sure", False)), samples, process))
    return Wrappers(tuple(found), parse_rules(mapping.get("rules", ()), source))
