"""The probe: its script for the watched host, and its rows turned into events.

Rows are fields separated by TAB and ended by LF, the first field says what a row is:

    K epoch uptime              the host's clock; all other times are uptimes in seconds
    H system ticks page zone user node
    X channel reason            a channel that cannot be had
    C uptime pids               looking for a server: who may be one
    B uptime                    a sample begins
    P numbers rchar read_bytes uid wchan comm     a process that changed (process_rows.py names the numbers)
    S pids                      processes as in the sample before
    U uid name · T pid title · M pid ! | = | + path | - path      checkpoint files in the maps; `!`: unreadable
    L port pid title            who listens on the port (hexadecimal): `-` nobody, 0 somebody who cannot be seen
    E count                     the sample is complete
    G uptime · g line · t pid title · a parent/session/start user line · Q uptime     an answer of nvidia-smi

Nothing that a host sends raises: a row that makes no sense is counted and passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from bringup.core.events import ChannelClosed, ChannelOpened, Event, GpusSeen, HostSeen, PortSeen, ServerGone
from bringup.core.redact import mask
from bringup.core.sanitize import clean
from bringup.hosts.probe.gpus import MOST_APPS, Answer
from bringup.hosts.probe.process_rows import Samples
from bringup.hosts.shipped import grep_pattern, read_script, with_arguments

LONGEST_ROW = 4096
PATTERNS = ("sglang", "vllm")
"""Words in the command line of what may be a server."""
_SECONDS = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
_ZONE = re.compile(r"([+-])(\d\d)(\d\d)")


def script(
    root: int | None,
    *,
    within: int | None = None,
    patterns: Sequence[str] = PATTERNS,
    port: int | None = None,
    interval: float = 1.0,
    patience: int = 10,
) -> str:
    """Return the script that watches the tree of process `root`, or looks for a server where it is None.

    `patterns` are words in a command line; `within` confines the search to the descendants of a process; `port` is the
    one whose listener is named; `interval` is in seconds, and so is `patience`, after which nvidia-smi is ended (0: it
    is not asked). To be run with `Host.stream`.
    """
    arguments = (str(root or ""), f"{port:04X}" if port else "", f"{interval:g}", str(patience), str(within or ""))
    return with_arguments("probe/probe.sh", read_script("probe/probe.awk"), *arguments, *map(grep_pattern, patterns))


class ProbeDecoder:
    """Turns the bytes of the script into events; `root` is the process that it was made for."""

    def __init__(self, root: int | None = None) -> None:
        self._root = root
        self._rest = b""
        self._cut = False
        self._anchor: tuple[float, float] | None = None
        self._samples = Samples()
        self._answer: Answer | None = None
        self._told: dict[str, str] = {}
        self._gone: tuple[int, ...] | None = None
        self._kinds: Mapping[str, Callable[[list[str]], list[Event]]] = {
            "K": self._clock,
            "H": self._host,
            "X": self._closed,
            "C": self._candidates,
            "B": self._begin,
            "E": self._end,
            "L": self._port,
            "G": self._asked,
            "g": self._gpu_line,
            "t": self._app_title,
            "a": self._app_line,
            "Q": self._answered,
        }
        self.candidates: frozenset[int] = frozenset()
        """Processes that may be a server, while none is watched."""
        self.now: float | None = None
        """The host's clock in the newest row, epoch seconds."""
        self.skipped = 0
        """Rows that made no sense."""

    def feed(self, data: bytes) -> list[Event]:
        """Return what the rows in the next bytes mean; a row may come in pieces."""
        rows = (self._rest + data).split(b"\n")
        self._rest = rows.pop()
        events: list[Event] = []
        for row in rows:
            if self._cut or len(row) > LONGEST_ROW:
                self._cut = False
                self.skipped += 1
                continue
            events += self._row(row)
        if len(self._rest) > LONGEST_ROW:
            self._rest, self._cut = b"", True
        return events

    def _row(self, row: bytes) -> list[Event]:
        kind, *fields = row.split(b"\t")
        try:
            take = self._kinds.get(kind.decode("ascii", "replace"))
            if take is not None:
                return take([field.decode("utf-8", "replace") for field in fields])
            self._samples.take(kind, fields)
        except (ValueError, IndexError, KeyError):
            self.skipped += 1
        return []

    # --- the host ---

    def _epoch(self, uptime: str) -> float:
        if self._anchor is None:
            raise ValueError(uptime)
        epoch, base = self._anchor
        self.now = max(self.now or 0.0, epoch + (_seconds(uptime) - base))
        return epoch + (_seconds(uptime) - base)

    def _clock(self, fields: list[str]) -> list[Event]:
        self._anchor = _seconds(fields[0]), _seconds(fields[1])
        self.now = self._anchor[0]
        return []

    def _host(self, fields: list[str]) -> list[Event]:
        system, ticks, page, zone, user, node = (clean(field.encode()) for field in fields[:6])
        if self._anchor is None:
            raise ValueError("no clock")
        epoch, uptime = self._anchor
        self._samples.units(int(ticks or 100), int(page or 4096))
        return [
            HostSeen(
                at=epoch,
                node=node,
                system=system,
                ticks=self._samples.ticks,
                boot=epoch - uptime,
                utc_offset=_offset(zone),
                user=user,
            )
        ]

    def _closed(self, fields: list[str]) -> list[Event]:
        channel, reason = fields[0], clean(fields[1].encode())
        if channel == "processes":
            return self._tell(channel, f"This host runs {reason}: processes can be watched on Linux only.")
        if reason == "missing":
            return self._tell("gpus", "There is no nvidia-smi on this host: what its GPUs hold cannot be seen.")
        seconds = int(reason.split()[-1])
        return self._tell("gpus", f"nvidia-smi did not answer within {seconds} s and was ended: the driver may hang.")

    def _tell(self, channel: str, why: str) -> list[Event]:
        if self._told.get(channel) == why:
            return []
        self._told[channel] = why
        return [ChannelClosed(at=self.now or 0.0, channel=channel, why=why)]

    def _candidates(self, fields: list[str]) -> list[Event]:
        self._epoch(fields[0])
        self.candidates = frozenset(int(pid) for pid in fields[1].split()[:1024])
        return []

    # --- the server's tree ---

    def _begin(self, fields: list[str]) -> list[Event]:
        self._samples.begin(self._epoch(fields[0]))
        return []

    def _end(self, fields: list[str]) -> list[Event]:
        seen = self._samples.end(int(fields[0]), self._root or 0)
        events: list[Event] = [seen]
        if self._samples.denied:
            events += self._tell("maps", self._samples.denied)
        alive = {process.pid for process in seen.processes if process.state not in ("Z", "X")}
        if self._root is not None and self._root not in alive:
            orphans = tuple(sorted(alive))
            if self._gone != orphans:
                self._gone = orphans
                events.append(ServerGone(at=seen.at, pid=self._root, orphans=orphans))
        return events

    def _port(self, fields: list[str]) -> list[Event]:
        port, pid = int(fields[0], 16), None if fields[1] == "-" else int(fields[1])
        title = "" if not pid else self._samples.title(pid) or mask(clean(fields[2].encode()).strip())
        at = self._samples.at if self._root is not None else self.now or 0.0
        return [PortSeen(at=at, port=port, pid=pid, title=title)]

    # --- its GPUs ---

    def _asked(self, fields: list[str]) -> list[Event]:
        self._answer = Answer(_seconds(fields[0]))
        return []

    def _gpu_line(self, fields: list[str]) -> list[Event]:
        if self._answer is not None:
            self._answer.take_gpu("\t".join(fields))
        return []

    def _app_title(self, fields: list[str]) -> list[Event]:
        if self._answer is not None and len(self._answer.titles) < MOST_APPS:
            self._answer.titles[int(fields[0])] = mask(clean(fields[1].encode()).strip())
        return []

    def _app_line(self, fields: list[str]) -> list[Event]:
        if self._answer is not None:
            self._answer.take_app(fields[0], fields[1], "\t".join(fields[2:]))
        return []

    def _answered(self, fields: list[str]) -> list[Event]:
        answer, self._answer = self._answer, None
        if answer is None:
            raise ValueError("no question")
        at, end = self._epoch(f"{answer.asked:.2f}"), self._epoch(fields[0])
        events: list[Event] = []
        if answer.gpus:
            tree = self._samples.pids if self._gone is None else frozenset()
            apps = answer.resolve(tree, self._root, self._samples.title, self._started)
            events.append(GpusSeen(at=at, gpus=tuple(answer.gpus), apps=apps, took=max(0.0, end - at)))
        if answer.said:
            return events + self._tell("gpus", f"nvidia-smi says: {answer.said}")
        if answer.gpus and self._told.get("gpus") != "":
            self._told["gpus"] = ""
            events.append(ChannelOpened(at=at, channel="gpus"))
        return events

    def _started(self, ticks: int) -> float:
        """When a process was started, epoch seconds."""
        if self._anchor is None:
            return 0.0
        epoch, uptime = self._anchor
        return epoch - uptime + ticks / self._samples.ticks


def _seconds(text: str) -> float:
    """Read seconds; `date` without %N leaves letters behind the point."""
    found = _SECONDS.match(text)
    if found is None:
        raise ValueError(text)
    return float(found[0])


def _offset(zone: str) -> float:
    found = _ZONE.fullmatch(zone)
    if found is None:
        return 0.0
    return (-1 if found[1] == "-" else 1) * (int(found[2]) * 3600.0 + int(found[3]) * 60.0)
