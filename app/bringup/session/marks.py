"""What the log pane shows where the log itself moved: a line of ours among the lines of the log."""

from __future__ import annotations

import posixpath
import time

from bringup.core.channels import is_another
from bringup.core.events import LogMoved, LogOpened
from bringup.core.sanitize import clean_text
from bringup.core.state import State

WORDS = {
    "rotated": "was rotated and read to its end; here begins the next file of this name",
    "truncated": "was truncated; here it begins again",
    "replaced": "was written anew; here it begins again",
    "gone": "has no file now; what still holds the old one is read on, and a new one waited for",
    "back": "is there again",
    "skipped": "was not read here: {size} were passed over",
}
READ_BESIDE = {
    "truncated": "was truncated, and a copy of it read to its end; here it begins again",
    "replaced": "was truncated, and a copy of it read to its end; here it begins again",
}
"""Where what was written last was found in a file beside it."""
MISSING = {
    "rotated": "goes on in a new file; what was written to the one before after byte {read} was not found "
    "(compressed or removed)",
    "truncated": "was truncated; here it begins again; what was written to it after byte {read} was not found",
    "replaced": "was written anew or is another file now; here it begins; what was written before after byte {read} "
    "was not found",
    "back": "is there again as another file; what was written to the one before after byte {read} was not found",
}
BETWEEN = (
    "was rotated more than once; files that came between may be missing (compressed or removed); "
    "here begins the present one"
)


def mark_of(path: str, moved: LogMoved, utc_offset: float) -> bytes:
    """Return the line for a move of the log at `path`, with the host's time of day."""
    words = _words_of(moved).format(size=_amount(moved.size), read=f"{moved.read:,}")
    return _line(moved.at, utc_offset, f"{_name(path)} {words}")


def _words_of(moved: LogMoved) -> str:
    if moved.rest == "between":
        return BETWEEN
    special = {"read": READ_BESIDE, "missing": MISSING}.get(moved.rest, {})
    return special.get(moved.how, WORDS[moved.how])


def another_of(before: State, opened: LogOpened) -> list[bytes]:
    """Return the line for a log that takes the place of another one, of which the pane shows lines; else none."""
    old = before.log
    if not old.size or not is_another(old, opened):
        return []
    text = f"here begins {clean_text(opened.path)}; what stands above is of {clean_text(old.path)}"
    return [_line(opened.at, before.utc_offset, text)]


def unread_of(path: str, why: str, at: float, utc_offset: float) -> bytes:
    """Return the line for a log that cannot be read from here on, with the reason."""
    return _line(at, utc_offset, f"{_name(path)} cannot be read now; it is tried again: {clean_text(why)}")


def read_again_of(path: str, at: float, utc_offset: float) -> bytes:
    """Return the line for a log that could not be read and can be again."""
    return _line(at, utc_offset, f"{_name(path)} can be read again")


def hole_of(path: str, size: int, at: float, utc_offset: float) -> bytes:
    """Return the line for `size` NUL bytes that were passed over."""
    text = (
        f"{size:,} NUL bytes of {_name(path)} are passed over: it was truncated while its writer went on further down"
    )
    return _line(at, utc_offset, text)


def room_of(mount: str, at: float, utc_offset: float, *, full: bool) -> bytes:
    """Return the line for a disk that is full from now on, or has room again."""
    disk = f"the disk of {clean_text(mount)}"
    text = f"{disk} is full; what is written to the log now is lost" if full else f"{disk} has room again"
    return _line(at, utc_offset, text)


def tail_of(path: str, size: int, at: float, utc_offset: float) -> bytes:
    """Return the line above the end of a large log, which is shown while its last launch is searched."""
    text = f"the end of {_name(path)}; {_amount(size)} before it are searched for the last launch"
    return _line(at, utc_offset, text)


def _amount(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _name(path: str) -> str:
    return clean_text(posixpath.basename(path)) or "the log"


def _line(at: float, utc_offset: float, text: str) -> bytes:
    clock = time.strftime("%H:%M:%S", time.gmtime(at + utc_offset))
    return f"--- bringup, {clock}: {text} ---".encode()
