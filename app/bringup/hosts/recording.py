"""A recording as a timed stream: log bytes as they arrived and events as a console could have seen them.

The format is gzip'd or plain JSON lines: a header with `recording`, then rows with `t` (seconds since exec) and one of
`log`, `proc`, `gpu`, `http`, `event`. Signals, kills and exit codes are what a harness knew; they are passed over.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bringup.core.errors import UsageError
from bringup.core.events import Event, Gpu, GpuApp, GpusSeen, HttpAnswered, Server, ServerFound
from bringup.hosts.recorded_tree import Tree

FORMAT = 1
READINESS = "/health"
"""The path whose answers are used: /v1/models answers 200 long before the server is ready."""
_LARGEST = 256 << 20
"""Bytes of a recording, unpacked, beyond which it is refused."""
_STATUS = re.compile(r"(\d{3})\b")

CommandReader = Callable[[Sequence[str]], Mapping[str, Any]]
"""Reads a launcher's arguments into the names of Server's fields."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a recording says of itself."""

    engine: str
    version: str
    hardware: str
    what: str


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded start."""

    header: Header
    items: tuple[tuple[float, bytes | Event], ...]
    """(seconds since exec, log bytes or event), in order of time; events carry epoch seconds."""
    wall: float
    """Epoch seconds of the exec."""


def load_recording(path: Path, command: CommandReader | None = None) -> Recording:
    """Return the recording in a file; raises UsageError where it is none or cannot be read."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            stream = gzip.GzipFile(fileobj=file) if packed else file
            data = stream.read(_LARGEST + 1)
    except (OSError, EOFError) as error:
        raise UsageError(f"The recording {path} cannot be read: {error}.") from error
    if len(data) > _LARGEST:
        raise UsageError(f"The recording {path} is larger than {_LARGEST >> 20} MiB unpacked.")
    return parse_recording(data.decode("utf-8", "replace").splitlines(), command, str(path))


def parse_recording(lines: Iterable[str], command: CommandReader | None = None, source: str = "recording") -> Recording:
    """Return the recording in JSON lines; raises UsageError with the line that is not as it should be."""
    rows = [row for number, line in enumerate(lines, 1) if (row := _row(line, f"{source}, line {number}"))]
    if not rows or rows[0].get("recording") != FORMAT:
        raise UsageError(f"{source} is not a recording of format {FORMAT}.", "Record one with `bringup record`.")
    head, rest = rows[0], rows[1:]
    start: dict[str, Any] = next((row["event"] for row in rest if _kind(row) == "start"), {})
    wall = float(start.get("wall", 0.0))
    header = Header(*(str(head.get(name, "")) for name in ("engine", "version", "hardware", "what")))
    found = _Reader(header, wall, command)
    try:
        for row in rest:
            found.take(row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{source} has a row that is not of its format: {error!r}.") from error
    return Recording(header, tuple(sorted(found.items, key=lambda item: item[0])), wall)


def _row(line: str, where: str) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where} is not JSON: {error}.") from error
    if not isinstance(row, dict) or ("recording" not in row and not _is_time(row.get("t"))):
        raise UsageError(f"{where} is not a row of a recording.")
    return row


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _kind(row: Mapping[str, Any]) -> str:
    event = row.get("event")
    return str(event.get("ev", "")) if isinstance(event, dict) else ""


class _Reader:
    """Turns rows into items; samples of the processes are taken once a second, as a console takes them."""

    def __init__(self, header: Header, wall: float, command: CommandReader | None) -> None:
        self.items: list[tuple[float, bytes | Event]] = []
        self._engine = header.engine
        self._wall = wall
        self._command = command
        self._tree = Tree()
        self._tick = 1.0

    def take(self, row: Mapping[str, Any]) -> None:
        """Read one row."""
        t = float(row["t"])
        while self._tree.root and self._tick <= t:
            self.items += [(self._tick, event) for event in self._tree.sample(self._wall + self._tick)]
            self._tick += 1.0
        if "log" in row:
            self.items.append((t, row["log"].encode("latin-1")))
        elif "proc" in row:
            self._tree.see(row["proc"], t)
        elif "gpu" in row:
            self.items.append((t, _gpus(row["gpu"], self._wall + t, self._tree)))
        elif "http" in row:
            self._http(row["http"], t)
        elif "event" in row:
            self._event(row["event"], t)

    def _http(self, row: Mapping[str, Any], t: float) -> None:
        """An answer counts when it came: a row with `took` carries the time at which was asked."""
        if row["path"] != READINESS:
            return
        took = float(row.get("took", 0.0))
        self.items.append((t + took, _answer(row, self._wall + t + took, took)))

    def _event(self, row: Mapping[str, Any], t: float) -> None:
        match row["ev"]:
            case "start":
                self._tree.root = int(row["pid"])
                self._tick = math.floor(t) + 1.0
                server = _server(row, self._engine, self._wall + t, self._command)
                self.items.append((t, ServerFound(at=self._wall + t, server=server)))
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
    read = {name: value for name, value in (command(argv) if command else {}).items() if name in known}
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
