"""Where to read a log that is too large to be read whole: from its last launch, and at its end.

The host itself searches it. GNU grep tells where in the file it found something, and costs one pass; where grep does
not (busybox), blocks are searched from the end, so that a launch of today in the log of a month is found early.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bringup.hosts.base import Host, OpenFile
from bringup.hosts.holes import find_hole

BIG = 32 << 20
"""Bytes from which on a log is not read whole."""
START = 8 << 20
"""Bytes read from the launch on: a start-up of many ranks has 2 MB at most."""
TAIL = 1 << 20
"""Bytes read at the end."""
_UNIT = 1 << 20
_GROUP = 64
"""Units that one grep is given at once."""
_TRIES = 8
"""Blocks that are looked into for a launch that was not only spoken of (a prompt, a quoted command)."""
_LINE = 1 << 16
"""Bytes that a launch's line has at most."""
_PATIENCE = 900.0
_BEFORE = 2048
"""Bytes before a launch that are read, too: the lines in which a server names its version come first."""
# $1 is the path, $2 the unit below which is searched and $3 the byte from which on; the rest are options of grep. One
# grep a word: grep is several times as fast with one as with two. Blocks are searched with the unit behind them: a
# line can begin in one and end in the next; of such a pair the first is printed.
_SCRIPT = """export LC_ALL=C
path=$1 last=$2 first=$3
shift 3
if [ "$(echo x | grep -a -b -o -F x 2>/dev/null)" = 0:x ]; then
    for word; do
        [ "$word" = -e ] && continue
        if [ "$first" -gt 0 ]; then
            tail -c +$((first + 1)) -- "$path" | grep -a -b -o -F -e "$word"
        else
            grep -a -b -o -F -e "$word" -- "$path"
        fi | tail -n {most} | sed 's/:.*//;s/^/at /'
    done
    echo end
    exit 0
fi
echo x | grep -a x >/dev/null 2>&1 && set -- -a "$@"
least=$((first / {unit}))
while [ "$last" -gt "$least" ]; do
    from=$((last > least + {group} ? last - {group} : least))
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
    nuls: int = 0
    """So many bytes at the beginning are NULs."""


async def make_plan(
    host: Host, path: str, file: OpenFile, size: int, words: Sequence[str], is_launch: Callable[[bytes], bool]
) -> Plan:
    """Search a log of `size` bytes for its last launch, whose line holds one of `words` and satisfies `is_launch`.

    Raises ChannelRefused where the host cannot search it, and ConnectionLost.
    """
    hole = await find_hole(host, path)
    if hole is not None and await _launch_in(file, 0, min(hole.begin, START), words, is_launch) is not None:
        # A server that was launched below a hole is newer than the one that wrote what is behind it.
        return Plan(0, hole.begin, hole.begin, found=True)
    first = hole.end if hole is not None else 0
    launch = await _find(host, path, file, (first, size), words, is_launch)
    start = launch if launch is not None else first
    tail = await _line_start(file, max(start, size - TAIL))
    until = await _line_start(file, min(start + START, tail))
    return Plan(start, min(until, tail), tail, launch is not None, nuls=first)


async def _find(
    host: Host,
    path: str,
    file: OpenFile,
    span: tuple[int, int],
    words: Sequence[str],
    is_launch: Callable[[bytes], bool],
) -> int | None:
    """Return where the last launch within a span of bytes begins, with a few lines before it."""
    first, size = span
    last = size // _UNIT + 1
    options = " ".join(f"-e {shlex.quote(word)}" for word in words)
    script = _SCRIPT.format(unit=_UNIT, group=_GROUP, most=_TRIES)
    for _ in range(_TRIES):
        given = f"set -- {shlex.quote(path)} {last} {first} {options}\n"
        answer = (await host.run(given + script, timeout=_PATIENCE)).stdout.decode("ascii", "replace").split()
        if answer[-1:] == ["end"]:
            places = sorted({first + int(word) for word in answer if word.isdigit()})
            return await _first_launch(file, places, words, is_launch)
        if not answer or not answer[0].isdigit():
            return None
        last = int(answer[0])
        launch = await _launch_in(file, last * _UNIT, 2 * _UNIT, words, is_launch)
        if launch is not None:
            return launch
    return None


async def _first_launch(
    file: OpenFile, places: Sequence[int], words: Sequence[str], is_launch: Callable[[bytes], bool]
) -> int | None:
    """Return where the launch at the last of the places begins that is one."""
    for place in reversed(places):
        launch = await _launch_in(file, place, _LINE, words, is_launch)
        if launch is not None:
            return launch
    return None


async def _launch_in(
    file: OpenFile, offset: int, size: int, words: Sequence[str], is_launch: Callable[[bytes], bool]
) -> int | None:
    """Return where the last launch within some bytes begins, with a few lines before it."""
    begin = max(0, offset - _BEFORE)
    data = (await file.look(begin, size + _BEFORE)).data
    place = _last_launch(data, [word.encode() for word in words], is_launch)
    return None if place is None else begin + _some_lines_before(data, place, whole=begin == 0)


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
