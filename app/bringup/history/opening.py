"""Opening the file of the history: makes it, sets a damaged one aside, and refuses one that is newer than we are."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from bringup.core.errors import BringupError
from bringup.history.place import FILE
from bringup.recordings.private import make_private

SCHEMA = 1
BUSY_S = 5.0
"""Seconds that a writer waits for another one."""
_LOCK = "history.lock"
_BESIDE = ("-wal", "-shm")
_TABLES = """
CREATE TABLE starts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    host TEXT NOT NULL, engine TEXT NOT NULL, model TEXT NOT NULL, draft TEXT NOT NULL,
    tp INTEGER NOT NULL, pp INTEGER NOT NULL, dp INTEGER NOT NULL, ep INTEGER NOT NULL, nnodes INTEGER NOT NULL,
    target TEXT NOT NULL, identity TEXT NOT NULL, version TEXT NOT NULL,
    began_at REAL NOT NULL, outcome TEXT NOT NULL, cause TEXT NOT NULL, seconds REAL NOT NULL, whole INTEGER NOT NULL,
    recorded_at REAL NOT NULL
);
CREATE UNIQUE INDEX starts_once ON starts (host, identity) WHERE identity <> '';
CREATE INDEX starts_alike ON starts (host, model, engine, draft);
CREATE TABLE phases (
    start INTEGER NOT NULL REFERENCES starts (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    phase TEXT NOT NULL, role TEXT NOT NULL, part TEXT NOT NULL,
    began REAL NOT NULL, seconds REAL NOT NULL, ended INTEGER NOT NULL, ranks INTEGER NOT NULL,
    PRIMARY KEY (start, place)
) WITHOUT ROWID;
"""


class HistoryRefused(BringupError):
    """The history cannot be read or written; nothing else is wrong."""


class DamagedHistory(HistoryRefused):
    """The file is no database, or a broken one."""


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection inside a write transaction, committed at the end; raises HistoryRefused with a sentence."""
    with told(folder):
        _make(folder)
        with contextlib.closing(_connect(folder / FILE, "mode=rw")) as connection:
            # Every write-ahead log but the first is there already; where it cannot be had, the usual journal does.
            with contextlib.suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            if _version(connection, folder) == 0:
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
            yield connection
            connection.execute("COMMIT")


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Give a connection that only reads, or None where there is no history yet; raises HistoryRefused."""
    with told(folder):
        if not (folder / FILE).exists():
            yield None
            return
        with contextlib.closing(_readable(folder / FILE)) as connection:
            yield connection if _version(connection, folder) else None


@contextlib.contextmanager
def told(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into a sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None) or 0
        if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise DamagedHistory(f"The history in {folder / FILE} is damaged ({error}).") from error
        raise HistoryRefused(f"The history in {folder / FILE} cannot be used: {error}.", _hint()) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise HistoryRefused(f"The history in {folder} cannot be used: {reason}.", _hint()) from error


def set_aside(folder: Path) -> Path | None:
    """Move a damaged file out of the way and return where it is now; None where another process has done so."""
    with told(folder), open(folder / _LOCK, "a", opener=_private) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_damaged(folder / FILE):
            return None
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        moved = folder / f"{FILE}.damaged-{stamp}"
        (folder / FILE).rename(moved)
        for ending in _BESIDE:
            (folder / f"{FILE}{ending}").unlink(missing_ok=True)
        return moved


def _hint() -> str:
    return "Nothing else depends on it; BRINGUP_DATA_DIR names another folder, BRINGUP_HISTORY=0 turns it off."


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _make(folder: Path) -> None:
    """Make the folder and an empty file that nobody else can read."""
    make_private(folder)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(folder / FILE, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=BUSY_S, isolation_level=None)


def _readable(path: Path) -> sqlite3.Connection:
    """Where the folder cannot be written, a write-ahead log cannot be opened: the file itself is read then."""
    for mode in ("mode=ro", "immutable=1"):
        connection = _connect(path, mode)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            if mode == "immutable=1":
                raise
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise AssertionError("one of the two modes returned or raised")


def _version(connection: sqlite3.Connection, folder: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA:
        raise HistoryRefused(
            f"The history in {folder / FILE} is of a newer bringup: schema {version}, this one knows {SCHEMA}.",
            "It is left as it is; update this bringup, or set BRINGUP_DATA_DIR to another folder.",
        )
    return version


def _is_damaged(path: Path) -> bool:
    if not path.exists():
        return False
    with contextlib.closing(_connect(path, "mode=rw")) as connection:
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", None) or 0
            return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
