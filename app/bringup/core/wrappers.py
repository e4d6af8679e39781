"""What transports put before every line of a log (compose, kubectl, journald, srun …): peeled off, never thrown away.

Wrappers stand in any order and number. A sequence that proved itself once is tried first from then on. Some beginnings
prove themselves (`engine-1  | `); others (`0: `, `[gpu-a] `) look like text of the log itself and count only after an
engine's own header has followed them at least once for the same place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.headers import without_names
from bringup.core.leads import Span
from bringup.core.rule import Rule
from bringup.core.rules import parse_rules
from bringup.core.sanitize import clean, without_colours

_DEEPEST = 8
_MOST_ORIGINS = 4096
_MOST_EXACT = 8
_LONGEST = 64 * 1024
"""Bytes of a line that is put together of partial ones."""


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
    exact: bool = False
    """It counts only where the same letters stood before a header once (indentation)."""
    partial: bool = False
    """The line is cut by the transport and goes on in the next one of the same place."""
    joins: bool = False
    """The line may be the end of one that was cut."""
    json: str = ""
    """Key under which a mapping holds the line; "" for wrappers that are no mapping."""
    stamp: str = ""
    """Key of the mapping's time."""
    tail: bool = False
    """It stands at the end of the line."""


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
    partial: bool = False
    """It is not whole yet: the rest comes with the next line of the same place."""
    size: int = field(default=0, compare=False)
    """Bytes of the beginning that was taken off, 0 where more was done than that."""
    places: tuple[Span, ...] = field(default=(), compare=False)
    """Where in it the place stands."""
    clock: Span = field(default=(0, 0), compare=False)
    """Where in it the stamp stands."""


Layer = tuple[Wrapper, "re.Match[bytes]"]


class Peeler:
    """Takes the wrappers off; learns which ones a log has."""

    def __init__(self, wrappers: Wrappers) -> None:
        heads = [wrapper for wrapper in wrappers.wrappers if not wrapper.tail]
        self._wrappers = tuple(wrapper for wrapper in heads if not wrapper.json)
        self._mappings = tuple(wrapper for wrapper in heads if wrapper.json)
        self._tails = tuple(wrapper.pattern for wrapper in wrappers.wrappers if wrapper.tail)
        self._any = _any_of(self._wrappers)
        self._proven: set[tuple[str, str]] = set()
        self._exact: dict[bytes, re.Pattern[bytes]] = {}
        self._parts: dict[str, bytes] = {}

    @property
    def waits(self) -> bool:
        """The rest of a line that the transport has cut is still to come."""
        return bool(self._parts)

    def peel(self, record: bytes, has_header: Callable[[bytes], bool], *, whole: bool = True) -> Peeled:
        """Return what is under the wrappers; `has_header` tells whether text begins with an engine's own header.

        A record that is not `whole` yet will come again.
        """
        peeled = self._unpack(record, has_header) if record[:1] == b"{" else None
        if peeled is not None:
            inner = self._peel(peeled.text, has_header, whole=whole)
            inner = replace(inner, stamp=inner.stamp or peeled.stamp, size=0)
        else:
            inner = self._peel(record, has_header, whole=whole)
        for tail in self._tails if inner.text[-1:] in (b"]", b")") else ():
            inner = replace(inner, text=tail.sub(b"", inner.text), size=0)
        return inner

    def _peel(self, record: bytes, has_header: Callable[[bytes], bool], *, whole: bool) -> Peeled:
        """Take off what stands before the text."""
        layers: list[Layer] = []
        start = 0
        while len(layers) < _DEEPEST:
            layer = self._layer(record, start)
            if layer is None:
                break
            layers.append(layer)
            start = layer[1].end()
            if whole and (layer[0].partial or layer[0].joins):
                joined = self._joined(record[start:], layers)
                if joined is not None:
                    inner = self._peel(joined, has_header, whole=whole) if joined else Peeled(b"", partial=True)
                    return _under(layers, inner)
        return self._accept(record, layers, has_header)

    def _layer(self, record: bytes, start: int) -> Layer | None:
        """Return the wrapper that stands at `start`: the first that matches."""
        which = self._any.match(record, start) if self._any is not None else None
        if which is None or which.lastgroup is None:
            return None
        wrapper = self._wrappers[int(which.lastgroup[1:])]
        for pattern in (*self._exact.values(), wrapper.pattern) if wrapper.exact else (wrapper.pattern,):
            found = pattern.match(record, start)
            if found is not None and found.end() > start:
                return wrapper, found
        return None

    def _accept(self, record: bytes, layers: list[Layer], has_header: Callable[[bytes], bool]) -> Peeled:
        """Keep the layers up to the last that is sure, proven before, or proven now by the header that follows."""
        kept = 0
        for count, (wrapper, found) in enumerate(layers, 1):
            if wrapper.sure or self._is_proven(wrapper, found):
                kept = count
            elif has_header(record[found.end() :]):
                kept = count
                self._prove(layers[:count])
        if not kept:
            return Peeled(record)
        used = layers[:kept]
        peeled = _under(used, Peeled(record[used[-1][1].end() :]))
        if self._parts or any(wrapper.partial for wrapper, _ in used):
            return peeled
        spans = [found.span("stamp") for _, found in used if found.groupdict().get("stamp")]
        places = tuple(found.span("origin") for _, found in used if found.groupdict().get("origin"))
        return replace(peeled, size=used[-1][1].end(), places=places, clock=spans[-1] if spans else (0, 0))

    def _is_proven(self, wrapper: Wrapper, found: re.Match[bytes]) -> bool:
        if wrapper.exact:
            return found[0] in self._exact
        return (wrapper.name, _origin(found)) in self._proven

    def _prove(self, layers: Sequence[Layer]) -> None:
        """Remember that these beginnings are wrappers."""
        for wrapper, found in layers:
            if wrapper.exact:
                if len(self._exact) < _MOST_EXACT:
                    self._exact[found[0]] = re.compile(re.escape(found[0]))
            elif len(self._proven) < _MOST_ORIGINS:
                self._proven.add((wrapper.name, _origin(found)))

    def _unpack(self, record: bytes, has_header: Callable[[bytes], bool]) -> Peeled | None:
        """Return the text of a line that is a mapping, or None where it is none that is known."""
        for wrapper in self._mappings:
            if wrapper.pattern.match(record) is None:
                continue
            try:
                values = json.loads(record)
            except ValueError:
                return None
            text = values.get(wrapper.json) if isinstance(values, dict) else None
            if not isinstance(text, str):
                continue
            line = without_colours(text.rstrip("\r\n").encode("utf-8", "replace"))
            stamp = values.get(wrapper.stamp)
            proven = wrapper.sure or (wrapper.name, "") in self._proven
            if not proven and not has_header(self._peel(line, has_header, whole=False).text):
                continue
            self._proven.add((wrapper.name, ""))
            return Peeled(line, stamp=stamp.encode("utf-8", "replace") if isinstance(stamp, str) else b"")
        return None

    def _joined(self, text: bytes, layers: Sequence[Layer]) -> bytes | None:
        """Put a line together that the transport has cut: b"" while it goes on, None where it never was cut."""
        place = "/".join(_origin(found) for _, found in layers)
        earlier = self._parts.pop(place, None)
        if layers[-1][0].partial:
            if len(self._parts) < _MOST_ORIGINS:
                self._parts[place] = ((earlier or b"") + text)[:_LONGEST]
            return b""
        # The cut may have gone through a colour: neither half had a whole one to be taken out.
        return None if earlier is None else without_colours((earlier + text)[:_LONGEST])


def _any_of(wrappers: Sequence[Wrapper]) -> re.Pattern[bytes] | None:
    """Return one pattern for all: its last group names the wrapper that matched, the first of the file's order."""
    parts = [b"(?P<w%d>%s)" % (index, without_names(known.pattern.pattern)) for index, known in enumerate(wrappers)]
    return re.compile(b"|".join(parts)) if parts else None


def _under(layers: Sequence[Layer], inner: Peeled) -> Peeled:
    """Return what is under layers, with what they say of place and time; the innermost time counts."""
    origins = [_origin(found) for _, found in layers]
    stamps = [found.groupdict().get("stamp") or b"" for _, found in layers]
    return Peeled(
        inner.text,
        "/".join(filter(None, [*origins, inner.origin])),
        inner.stamp or next(filter(None, reversed(stamps)), b""),
        inner.process or any(wrapper.process for wrapper, _ in layers),
        inner.partial,
    )


def _origin(found: re.Match[bytes]) -> str:
    """Return the place that a wrapper names."""
    return clean(found.groupdict().get("origin") or b"").strip()


def parse_wrappers(mapping: Mapping[str, Any], source: str) -> Wrappers:
    """Make the wrappers of the contents of their file; raises UsageError with one sentence naming file and wrapper."""
    found = [_parse_wrapper(table, source) for table in mapping.get("wrappers", ())]
    return Wrappers(tuple(found), parse_rules(mapping.get("rules", ()), source))


def _parse_wrapper(table: Mapping[str, Any], source: str) -> Wrapper:
    where = f"{source}: wrapper '{table.get('name', '?')}'"
    try:
        pattern = re.compile(str(table["match"]).removeprefix("^").encode())
    except KeyError:
        raise UsageError(f"{where}: it needs a pattern in 'match'.") from None
    except re.error as error:
        raise UsageError(f"{where}: the pattern is not valid: {error}.") from error
    samples, tail = tuple(table.get("samples", ())), bool(table.get("tail", False))
    call = pattern.search if tail else pattern.match
    if not samples or not all(call(sample.encode()) for sample in samples):
        raise UsageError(f"{where}: it has no sample, or does not match it.")
    return Wrapper(
        name=str(table.get("name", "")),
        pattern=pattern,
        sure=bool(table.get("sure", False)),
        samples=samples,
        process=bool(table.get("process", False)),
        exact=bool(table.get("exact", False)),
        partial=bool(table.get("partial", False)),
        joins=bool(table.get("joins", False)),
        json=str(table.get("json", "")),
        stamp=str(table.get("stamp", "")),
        tail=tail,
    )
