"""Looks into a whole log on its host, for what is not held here: nothing but the answer is moved.

grep keeps a line in memory, and a hole of NULs would be part of one: what is before and behind it is searched apart.
"""

from __future__ import annotations

import re
import shlex

from bringup.core.errors import ChannelRefused
from bringup.core.redact import mask_excerpt
from bringup.hosts.base import Host
from bringup.hosts.holes import Hole, find_hole

TIMEOUT = 60.0
"""Seconds that one question may take: 10 GB that are not in the host's memory take most of them."""
MOST_ROWS = 400
"""Rows of an answer, the newest of them."""
CONTEXT = 2
"""Lines shown before and after each that was found."""
NEAR = 64 << 20
"""Bytes before a place that are searched first for what was last before it."""
_LONGEST = 2000
"""Bytes of a row that are shown."""
_NOTHING = 1
"""What grep ends with where no line matches (POSIX grep)."""
_ROW = re.compile(rb"(\d+)([:-])(\d+)\2")
"""What grep prints before a line with -n and -b."""


async def search(host: Host, path: str, words: str) -> list[bytes]:
    """Return the newest lines with these words and what stands around them, each as "line:byte:text"; [] for none.

    Capital letters matter where the words hold one. Secrets are masked, nothing is made harmless. Raises
    ChannelRefused where the file cannot be searched, and ConnectionLost.
    """
    hole = await find_hole(host, path)
    grep = f"LC_ALL=C grep -a -n -b -F {_case(words)} -C {CONTEXT} -e {shlex.quote(words)}"
    rows: list[bytes] = []
    for begin, end in _parts(0, None, hole):
        found = await _ask(host, path, _within(path, begin, end, grep))
        # grep counts from where it begins to read; nothing before that is a line where a hole is.
        rows += [_moved(row, begin) for row in found]
    return mask_excerpt(rows[-MOST_ROWS:])


async def find(host: Host, path: str, words: str, offset: int, step: int) -> int | None:
    """Return where the next line with these words begins, from the begin of a line on (`step` 1) or before it (-1).

    None for none; raises as `search` does.
    """
    hole = await find_hole(host, path)
    grep = f"LC_ALL=C grep -a -n -b -F {_case(words)} -e {shlex.quote(words)}"
    if step > 0:
        parts, one = _parts(offset, None, hole), "-m 1"
    else:
        # What was last is looked for nearby first: the rest of 10 GB takes its time.
        near = max(0, offset - NEAR)
        parts, one = [*_parts(near, offset, hole)[::-1], *_parts(0, near, hole)[::-1]], ""
    for begin, end in parts:
        rows = await _ask(host, path, _within(path, begin, end, f"{grep} {one}"), most=1)
        place = _ROW.match(rows[-1]) if rows else None
        if place is not None:
            return begin + int(place[3])
    return None


def place_of(row: bytes) -> tuple[int, bool] | None:
    """Return where the line of a row that `search` found begins, and whether it is one with the words itself."""
    place = _ROW.match(row)
    return None if place is None else (int(place[3]), place[2] == b":")


def _case(words: str) -> str:
    return "" if any(letter.isupper() for letter in words) else "-i"


def _parts(begin: int, end: int | None, hole: Hole | None) -> list[tuple[int, int | None]]:
    """Return the parts of a range that are no hole; the end None is that of the file."""
    if hole is None:
        cut = [(begin, end)]
    else:
        before = hole.begin if end is None else min(end, hole.begin)
        cut = [(begin, before), (max(begin, hole.end), end)]
    return [(first, last) for first, last in cut if last is None or first < last]


def _within(path: str, begin: int, end: int | None, grep: str) -> str:
    """Return the command that searches a part of a file."""
    if not begin and end is None:
        return f"{grep} -- {shlex.quote(path)}"
    cut = "" if end is None else f" | head -c {end - begin}"
    # By name, not by standard input: tail seeks in a file that it has opened itself.
    return f"tail -c +{begin + 1} -- {shlex.quote(path)}{cut} | {grep}"


def _moved(row: bytes, begin: int) -> bytes:
    place = _ROW.match(row)
    if place is None or not begin:
        return row
    return b"%s%s%d%s%s" % (place[1], place[2], begin + int(place[3]), place[2], row[place.end() :])


async def _ask(host: Host, path: str, command: str, most: int = MOST_ROWS) -> list[bytes]:
    # The status of a pipe is that of its last command: grep's own is told behind the rows.
    told = f"[ -r {shlex.quote(path)} ] || echo there is no such file, or it may not be read"
    script = f"{{ {told}; {command}; echo status $?; }} 2>&1 | LC_ALL=C cut -b 1-{_LONGEST} | tail -n {most + 1}"
    answer = await host.run(script, timeout=TIMEOUT, limit=(most + 2) * (_LONGEST + 1))
    *rows, status = answer.stdout.removesuffix(b"\n").split(b"\n")
    why = next((row for row in rows if not _ROW.match(row) and row != b"--"), b"")
    if status not in (b"status 0", b"status %d" % _NOTHING) or (why and not any(_ROW.match(row) for row in rows)):
        said = why.decode("utf-8", "replace") or "no answer"
        raise ChannelRefused(f"{path} on {host.name} cannot be searched: {said}.", "Look whether it can be read there.")
    return rows
