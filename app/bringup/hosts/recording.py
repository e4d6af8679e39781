"""A recording as a timed stream: log bytes as they arrived and events as a console could have seen them.

Both formats are JSON lines, plain or packed, with a header first. Format 2 is what bringup writes; a row of it that
cannot be read is passed over. Format 1 has rows with `t` (seconds since exec) and one of `log`, `proc`, `gpu`, `http`,
`event`. Signals, kills and exit codes are what a harness knew; they are passed over.
A file that was cut short, or is damaged further down, is read up to there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.events import Event, Gpu, GpuApp, GpusSeen, HttpAnswered, Server, ServerFound
from bringup.core.words import count
from bringup.hosts.logfile import LogFile, open_log
from bringup.hosts.recorded_tree import Tree
from bringup.recordings.encoder import Item
from bringup.recordings.reader import LONGEST, read_began, read_row
from bringup.recordings.writer import FORMAT as OWN_FORMAT

FORMAT = 1
READINESS = "/health"
"""The path whose answers are used: /v1/models answers 200 long before the server is ready."""
_LARGEST = 256 << 20
"""Bytes of a recording, unpacked, beyond which nothing more of it is read."""
_STATUS = re.compile(r"(\d{3})\b")

CommandReader = Callable[[str, Sequence[str]], Mapping[str, Any]]
"""Reads a launcher's arguments, with the flags of the engine of that name, into the names of Server's fields."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a recording says of itself."""

    engine: str
    version: str
    hardware: str
    what: str
    host: str = ""
    """What the operator called it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded start."""

    header: Header
    items: tuple[tuple[float, bytes | Item], ...]
    """(seconds since the begin, bytes of the only log, or what else was seen), in order of time."""
    wall: float
    """Epoch seconds of the begin, which in format 1 is the exec; 0 where the recording does not tell."""
    end: float = 0.0
    """Seconds since the begin at which the last row happened, whatever it held."""
    trouble: str = ""
    """Why not all of it was read, as a sentence; empty where it was."""


def load_recording(path: Path, command: CommandReader | None = None) -> Recording:
    """Return the recording in a file; raises UsageError where it is none or cannot be read at all."""
    with open_log(path) as log:
        return read_recording(log, command)


def read_recording(log: LogFile, command: CommandReader | None = None) -> Recording:
    """Return the recording in a stream, as far as it can be read; raises UsageError where it is none."""
    found = _parse(_lines(log), log.name, command)
    if not log.trouble:
        return found
    return replace(found, trouble=f"{log.trouble} What came before was read.")


def parse_recording(lines: Iterable[str], command: CommandReader | None = None, source: str = "recording") -> Recording:
    """Return the recording in JSON lines; raises UsageError where its first line is no header of one."""
    return _parse(((line.encode(), True) for line in lines), source, command)


def _lines(log: LogFile) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a stream, each with whether it came with its end."""
    rest, size = b"", 0
    for chunk in log.chunks():
        size += len(chunk)
        if size > _LARGEST:
            log.trouble = f"{log.name} is larger than {_LARGEST >> 20} MiB unpacked."
            return
        *whole, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
        yield from ((line, True) for line in whole)
    if rest.strip():
        yield rest, False


def _parse(lines: Iterable[tuple[bytes, bool]], source: str, command: CommandReader | None) -> Recording:
    numbered = ((number, line, whole) for number, (line, whole) in enumerate(lines, 1) if line.strip())
    head = _head(next(numbered, (0, b"", True))[1], source)
    header = Header(*(str(head.get(name) or "") for name in ("engine", "version", "hardware", "what", "host")))
    if head["recording"] == OWN_FORMAT:
        return _own(numbered, header, read_began(head), source)
    rows: list[tuple[int, dict[str, Any]]] = []
    trouble = ""
    for number, line, whole in numbered:
        try:
            rows.append((number, _row(line)))
        except (ValueError, RecursionError) as error:
            what = f"is no row of a recording ({error})" if whole else "is cut short"
            trouble = f"{source}, line {number}, {what}. What came before was read."
            break
    found = _Reader(header, _wall(row for _, row in rows), command)
    for number, row in rows:
        try:
            found.take(row)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            trouble = f"{source}, line {number}, is a row not of its format ({error!r}). What came before was read."
            break
    items = tuple(sorted(found.items, key=lambda item: item[0]))
    end = max([found.end, *(t for t, _ in items[-1:])])
    return Recording(header, items, found.wall, end, trouble)


def _wall(rows: Iterable[Mapping[str, Any]]) -> float:
    """Return the epoch seconds of the exec, which the start's own row tells; 0 where it does not."""
    starts = (row["event"].get("wall") for row in rows if isinstance(row.get("event"), dict))
    return next((float(wall) for wall in starts if isinstance(wall, int | float) and math.isfinite(wall)), 0.0)


def _own(numbered: Iterable[tuple[int, bytes, bool]], header: Header, began: float, source: str) -> Recording:
    """Read format 2. A row that is none is passed over: each is worth something without those before it."""
    items: list[tuple[float, Item]] = []
    end, broken, trouble = 0.0, 0, ""
    for number, line, whole in numbered:
        try:
            t, item = read_row(line)
        except ValueError as error:
            if not whole:
                trouble = f"{source}, line {number}, is cut short. What came before was read."
                break
            broken += 1
            passed = count(broken, "row was", "rows were")
            trouble = f"{source}, line {number}, cannot be read ({error}). {passed} passed over."
            continue
        end = max(end, t)
        if item is not None:
            items.append((t, item))
    items.sort(key=lambda pair: pair[0])
    # A session of many hours counts on: what is recorded of its last start begins with that start.
    first = items[0][0] if items else 0.0
    moved = tuple((t - first, item) for t, item in items)
    return Recording(header, moved, began + first, max(0.0, end - first), trouble)


def _head(line: bytes, source: str) -> dict[str, Any]:
    try:
        head = json.loads(line)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("recording") not in (FORMAT, OWN_FORMAT):
        what = f"{source} is not a recording of format {FORMAT} or {OWN_FORMAT}."
        raise UsageError(what, "Give a file that holds a recorded start.")
    return head


def _row(line: bytes) -> dict[str, Any]:
    """Return a row; raises ValueError where it is none."""
    row = json.loads(line)
    if not isinstance(row, dict) or not _is_time(row.get("t")):
        raise ValueError("it has no time, or an impossible one")
    return row


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -LONGEST < value < LONGEST


class _Reader:
    """Turns rows into items; samples of the processes are taken once a second, as a console takes them."""

    def __init__(self, header: Header, wall: float, command: CommandReader | None) -> None:
        self.items: list[tuple[float, bytes | Event]] = []
        self.wall = wall
        self.end = 0.0
        self._engine = header.engine
        self._command = command
        self._tree = Tree()
        self._tick = 1.0

    def take(self, row: Mapping[str, Any]) -> None:
        """Read one row."""
        t = float(row["t"])
        self.end = max(self.end, t)
        while self._tree.root and self._tick <= t:
            self.items += [(self._tick, event) for event in self._tree.sample(self.wall + self._tick)]
            self._tick += 1.0
        if "log" in row:
            self.items.append((t, row["log"].encode("latin-1")))
        elif "proc" in row:
            self._tree.see(row["proc"], t)
        elif "gpu" in row:
            self.items.append((t, _gpus(row["gpu"], self.wall + t, self._tree)))
        elif "http" in row:
            self._http(row["http"], t)
        elif "event" in row:
            self._event(row["event"], t)

    def _http(self, row: Mapping[str, Any], t: float) -> None:
        """An answer counts when it came: a row with `took` carries the time at which was asked."""
        if row["path"] != READINESS:
            return
        took = row.get("took", 0.0)
        if not _is_time(took):
            raise ValueError(f"took {took!r}")
        self.items.append((t + took, _answer(row, self.wall + t + took, took)))

    def _event(self, row: Mapping[str, Any], t: float) -> None:
        match row["ev"]:
            case "start":
                self._tree.root = int(row["pid"])
                self._tick = math.floor(t) + 1.0
                server = _server(row, self._engine, self.wall + t, self._command)
                self.items.append((t, ServerFound(at=self.wall + t, server=server)))
            case "proc+":
                self._tree.see({**row, "state": "R"}, t)
            case "proc-":
                self._tree.forget(int(row["pid"]))
            case "title":
                self._tree.rename(int(row["pid"]), str(row.get("cmd", "")), str(row.get("comm", "")))
            case "zombie":
                self._tree.rest(int(row["pid"]))


def _server(row: Mapping[str, Any], engine: str, at: float, command: CommandReader | None) -> Server:
    argv = tuple(str(word) for word in row.get("cmd", ()))
    known = {field.name for field in fields(Server)} - {"pid", "start", "engine", "argv", "started_at"}
    read = {name: value for name, value in (command(engine, argv) if command else {}).items() if name in known}
    return Server(pid=int(row["pid"]), start=0, engine=engine, argv=argv, started_at=at, **read)


def _answer(row: Mapping[str, Any], at: float, took: float) -> HttpAnswered:
    said = str(row.get("status", ""))
    code = _STATUS.match(said)
    if code is not None:
        return HttpAnswered(at=at, path=row["path"], status=int(code[1]), took=took)
    lower = said.lower()
    for word, name in (("refused", "refused"), ("timeout", "timeout"), ("timed out", "timeout"), ("reset", "reset")):
        if word in lower:
            return HttpAnswered(at=at, path=row["path"], error=name, took=took)  # type: ignore[arg-type]
    return HttpAnswered(at=at, path=row["path"], error="other", took=took)


def _gpus(row: Mapping[str, Any], at: float, tree: Tree) -> GpusSeen:
    gpus = tuple(_gpu(str(line)) for line in row.get("gpus", ()))
    apps = []
    for line in row.get("apps", ()):
        cells = [cell.strip() for cell in str(line).split(",")]
        pid = _whole(cells[0]) or 0
        used = _whole(cells[-1])
        index = tree.gpu_of(pid) if len(gpus) > 1 else 0
        if index is not None:
            apps.append(GpuApp(pid=pid, gpu=index, used=used, title=", ".join(cells[1:-1])))
    return GpusSeen(at=at, gpus=gpus, apps=tuple(apps))


def _gpu(line: str) -> Gpu:
    """Read a row: index, memory total, reserved, used, free, two utilisations, power, temperature, state."""
    cells = [cell.strip() for cell in line.split(",")]
    cells += [""] * (10 - len(cells))
    power = _number(cells[7])
    return Gpu(
        index=_whole(cells[0]) or 0,
        total=_whole(cells[1]),
        used=_whole(cells[3]),
        utilization=_whole(cells[5]),
        power=power,
        temperature=_whole(cells[8]),
    )


def _number(text: str) -> float | None:
    try:
        value = float(text.split()[0]) if text else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) else None


def _whole(text: str) -> int | None:
    value = _number(text)
    return None if value is None else int(value)
