"""Reads and writes earlier starts. Every call opens the file and closes it: several consoles share it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TypeVar, cast

from bringup.core.policy import PastStart
from bringup.history.opening import DamagedHistory, HistoryRefused, reading, set_aside, writing
from bringup.history.records import GOOD, Ended, PhaseRow, StartKey, StartRow, kept_key

FOR_AN_ESTIMATE = 5
"""Newest starts that an estimate rests on: older ones ran with other data in the page cache and other releases."""
_SAME = 5.0
"""Seconds between two begins of what is one start, where only the log tells when it began."""
_DAY = 86400.0
_KEY = tuple(field.name for field in fields(StartKey))
_COLUMNS = (*_KEY, "target", "identity", "version", "began_at", "outcome", "cause", "seconds", "whole")
_PHASE = tuple(field.name for field in fields(PhaseRow))
_ALIKE = " AND ".join(f"{name} = ?" for name in _KEY)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retention:
    """How much is kept."""

    starts: int = 500
    days: float = 366.0


class Store:
    """The history in a folder. All methods block on the disk and raise HistoryRefused with a sentence."""

    def __init__(self, folder: Path, retention: Retention | None = None, wall: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self._retention = retention or Retention()
        self._wall = wall
        self.notice = ""
        """A sentence to be told once: a damaged file was set aside."""

    def record(self, start: StartRow) -> int:
        """Keep a start, or what more is known of one that is kept already; return its number."""
        return self._mended(lambda: self._record(start.harmless()))

    def earlier(self, key: StartKey, *, but: str = "", limit: int = FOR_AN_ESTIMATE) -> tuple[PastStart, ...]:
        """Return the newest starts of a key that became ready and were seen whole, newest last, without one of them."""
        wanted = kept_key(key)
        where = f"{_ALIKE} AND whole = 1 AND outcome IN (?, ?) AND (identity = '' OR identity <> ?)"
        rows = self._mended(lambda: self._select(where, (*astuple(wanted), *GOOD, but), limit))
        return tuple(row.as_past() for row in rows)

    def alike(self, start: StartRow) -> tuple[StartRow, ...]:
        """Return all starts of the same key, oldest first."""
        return self._mended(lambda: self._select(_ALIKE, astuple(kept_key(start.key)), self._retention.starts))

    def starts(self, target: str = "", limit: int = 20) -> tuple[StartRow, ...]:
        """Return the newest starts, oldest first; of one host where it is named, as the operator or itself calls it."""
        where, values = _of(target)
        return self._mended(lambda: self._select(where, values, limit))

    def start(self, number: int) -> StartRow | None:
        """Return a start by its number, or None."""
        return next(iter(self._mended(lambda: self._select("number = ?", (number,), 1))), None)

    def count(self, target: str = "") -> int:
        """Return how many starts are kept, of all hosts or of one."""
        where, values = _of(target)

        def number() -> int:
            with reading(self.folder) as connection:
                if connection is None:
                    return 0
                return int(connection.execute(f"SELECT count(*) FROM starts WHERE {where}", values).fetchone()[0])

        return self._mended(number)

    def clear(self, target: str = "") -> int:
        """Forget all starts, or those of one host; return how many they were."""
        where, values = _of(target)

        def forget() -> int:
            with writing(self.folder) as connection:
                return connection.execute(f"DELETE FROM starts WHERE {where}", values).rowcount

        return self._mended(forget)

    def _mended(self, action: Callable[[], T]) -> T:
        """Do something with the file; a damaged one is set aside, and the same done with a new one."""
        try:
            return action()
        except DamagedHistory as damaged:
            moved = set_aside(self.folder)
            if moved is not None:
                self.notice = f"{damaged.what} It was set aside as {moved.name}, and a new one is begun."
            try:
                return action()
            except DamagedHistory as again:
                raise HistoryRefused(again.what, "It could not be set aside.") from again

    def _record(self, start: StartRow) -> int:
        with writing(self.folder) as connection:
            number, keep = self._known(connection, start)
            if not keep:
                if number is not None:
                    connection.execute("DELETE FROM starts WHERE number = ?", (number,))
                number = _insert(connection, start, number, self._wall())
                self._prune(connection)
            return cast(int, number)

    def _known(self, connection: sqlite3.Connection, start: StartRow) -> tuple[int | None, bool]:
        """Return the number under which a start is kept, and whether that says more than what is to be written."""
        # A log begins later than its process does, but both are ready at the same moment.
        same = "(abs(began_at - ?) <= ? OR abs(began_at + seconds - ?) <= ?)"
        near = f"({_ALIKE} AND {same} AND (identity = '' OR ? = ''))"
        found = connection.execute(
            "SELECT number, outcome, whole, identity FROM starts"
            f" WHERE (identity <> '' AND host = ? AND identity = ?) OR {near}"
            " ORDER BY identity <> '' DESC, number LIMIT 1",
            (
                *(start.key.host, start.identity),
                *astuple(start.key),
                *(start.began_at, _SAME, start.began_at + start.seconds, _SAME),
                start.identity,
            ),
        ).fetchone()
        if found is None:
            return None, False
        number, outcome, whole, identity = found
        better = start.outcome in GOOD and (start.whole or not whole) and (bool(start.identity) or not identity)
        return number, outcome in GOOD and not better

    def _prune(self, connection: sqlite3.Connection) -> None:
        """Forget what is too old and too much."""
        oldest = self._wall() - self._retention.days * _DAY
        connection.execute("DELETE FROM starts WHERE recorded_at < ?", (oldest,))
        connection.execute(
            "DELETE FROM starts WHERE number NOT IN (SELECT number FROM starts ORDER BY number DESC LIMIT ?)",
            (self._retention.starts,),
        )

    def _select(self, where: str, values: Iterable[object], limit: int) -> tuple[StartRow, ...]:
        with reading(self.folder) as connection:
            if connection is None:
                return ()
            found = connection.execute(
                f"SELECT number, {', '.join(_COLUMNS)} FROM starts WHERE {where} ORDER BY began_at DESC, number DESC"
                " LIMIT ?",
                (*values, limit),
            ).fetchall()
            return tuple(_row(connection, values) for values in reversed(found))


def _of(target: str) -> tuple[str, tuple[str, ...]]:
    """The condition that a start is of a host, by either of its names; of any where none is named."""
    return ("host = ? OR target = ?", (target, target)) if target else ("1", ())


def _insert(connection: sqlite3.Connection, start: StartRow, number: int | None, now: float) -> int:
    names = ("number", *_COLUMNS, "recorded_at")
    values = (number, *astuple(start.key), *(getattr(start, name) for name in _COLUMNS[len(_KEY) :]), now)
    added = connection.execute(
        f"INSERT INTO starts ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", values
    )
    given = cast(int, added.lastrowid)
    connection.executemany(
        f"INSERT INTO phases (start, place, {', '.join(_PHASE)}) VALUES ({', '.join('?' * (2 + len(_PHASE)))})",
        [(given, place, *astuple(phase)) for place, phase in enumerate(start.phases)],
    )
    return given


def _row(connection: sqlite3.Connection, values: tuple[object, ...]) -> StartRow:
    number, *rest = values
    told = dict(zip(_COLUMNS, rest, strict=True))
    phases = connection.execute(f"SELECT {', '.join(_PHASE)} FROM phases WHERE start = ? ORDER BY place", (number,))
    return StartRow(
        key=StartKey(**{name: told[name] for name in _KEY}),  # type: ignore[arg-type]
        target=str(told["target"]),
        identity=str(told["identity"]),
        began_at=cast(float, told["began_at"]),
        outcome=cast(Ended, told["outcome"]),
        seconds=cast(float, told["seconds"]),
        version=str(told["version"]),
        cause=str(told["cause"]),
        whole=bool(told["whole"]),
        phases=tuple(
            PhaseRow(phase, role, part, began, seconds, bool(ended), ranks)
            for phase, role, part, began, seconds, ended, ranks in phases
        ),
        number=cast(int, number),
    )
