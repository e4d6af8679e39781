"""Where to read a log that is too large to be read whole: from its last launch, and at its end.

The host itself searches it, backwards and block by block, so that a launch of today in the log of a month is found at
once and one a week ago costs one pass over the file. Needs `dd` and `grep`, of GNU or busybox.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bringup.hosts.base import Host, OpenFile

BIG = 32 << 20
"""Bytes from which on a log is not read whole."""
START = 8 << 20
"""Bytes read from the launch on: a start-up of many ranks has 2 MB at most."""
TAIL = 4 << 20
"""Bytes read at the end."""
_UNIT = 1 << 20
_GROUP = 64
"""Units that one grep is given at once."""
_TRIES = 8
"""Blocks that are looked into for a launch that was not only spoken of (a prompt, a quoted command)."""
_PATIENCE = 900.0
_BEFORE = 2048
"""Bytes before a launch that are read, too: the lines in which a server names its version come first."""
# $1 is the path, $2 the unit below which is searched; the rest are options of grep. Of two units each, since a line
# can begin in one and end in the next; prints the first of the two.
_SCRIPT = """export LC_ALL=C
path=$1 last=$2
shift 2
echo x | grep -a x >/dev/null 2>&1 && set -- -a "$@"
while [ "$last" -gt 0 ]; do
    from=$((last > {group} ? last - {group} : 0))
    if dd if="$path" bs={unit} skip=$from count=$((last - from + 1)) 2>/dev/null | grep -q -F "$@"; then
        while [ "$last" -gt "$from" ]; do
            last=$((last - 1))
            if dd if="$path" bs={unit} skip=$last count=2 2>/dev/null | grep -q -F "$@"; then
                echo $last
                exit 0
            fi
        done
    fi
    last=$from
done
echo none
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which parts of a log are read: from `launch` to `until`, then from `tail` on."""

    launch: int
    until: int
    tail: int
    found: bool
    """A launch was found; else the beginning of the file stands in for it."""

    @property
    def skipped(self) -> int:
        """Bytes between the two parts."""
        return self.tail - self.until


async def make_plan(
    host: Host, path: str, file: OpenFile, size: int, words: Sequence[str], is_launch: Callable[[bytes], bool]
) -> Plan:
    """Search a log of `size` bytes for its last launch, whose line holds one of `words` and satisfies `is_launch`.

    Raises ChannelRefused where the host cannot search it, and ConnectionLost.
    """
    launch = await _find(host, path, file, size, words, is_launch)
    start = launch or 0
    tail = await _line_start(file, max(start, size - TAIL))
    until = await _line_start(file, min(start + START, tail))
    if until >= tail:
        return Plan(start, tail, tail, launch is not None)
    return Plan(start, until, tail, launch is not None)


async def _find(
    host: Host, path: str, file: OpenFile, size: int, words: Sequence[str], is_launch: Callable[[bytes], bool]
) -> int | None:
    """Return where the last launch begins, with a few lines before it."""
    last = size // _UNIT + 1
    options = " ".join(f"-e {shlex.quote(word)}" for word in words)
    for _ in range(_TRIES):
        script = _SCRIPT.format(unit=_UNIT, group=_GROUP)
        given = f"set -- {shlex.quote(path)} {last} {options}\n"
        answer = (await host.run(given + script, timeout=_PATIENCE)).stdout.strip()
        if not answer.isdigit():
            return None
        last = int(answer)
        begin = max(0, last * _UNIT - _BEFORE)
        look = await file.look(begin, 2 * _UNIT + _BEFORE)
        place = _last_launch(look.data, [word.encode() for word in words], is_launch)
        if place is not None:
            return begin + _some_lines_before(look.data, place, whole=begin == 0)
    return None


def _last_launch(data: bytes, words: Sequence[bytes], is_launch: Callable[[bytes], bool]) -> int | None:
    """Return where the last line that is a launch begins."""
    end = len(data)
    while (found := max(data.rfind(word, 0, end) for word in words)) >= 0:
        begin = data.rfind(b"\n", 0, found) + 1
        stop = data.find(b"\n", found)
        if is_launch(data[begin : stop if stop >= 0 else len(data)]):
            return begin
        end = found
    return None


def _some_lines_before(data: bytes, place: int, *, whole: bool) -> int:
    """Return the beginning of a line not far before a place."""
    if place <= _BEFORE and whole:
        return 0
    newline = data.find(b"\n", max(0, place - _BEFORE), place)
    return newline + 1 if 0 <= newline < place else place


async def _line_start(file: OpenFile, offset: int) -> int:
    """Return the beginning of the first line behind an offset; the offset where no line ends soon."""
    if offset == 0:
        return 0
    data = (await file.look(offset - 1, 1 << 16)).data
    newline = data.find(b"\n")
    return offset + newline if newline >= 0 else offset
