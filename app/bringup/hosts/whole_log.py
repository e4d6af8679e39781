"""Looks into a whole log on its host, for what is not held here: nothing but the answer is moved."""

from __future__ import annotations

import shlex

from bringup.core.errors import ChannelRefused
from bringup.core.redact import mask_lines
from bringup.hosts.base import Host

TIMEOUT = 60.0
"""Seconds that one question may take: 10 GB that are not in the host's memory take most of them."""
MOST_ROWS = 400
"""Rows of an answer, the newest of them."""
CONTEXT = 2
"""Lines shown before and after each that was found."""
_LONGEST = 2000
"""Bytes of a row that are shown."""
_NOTHING = 1
"""What grep ends with where no line matches (POSIX grep)."""


async def search(host: Host, path: str, words: str) -> list[bytes]:
    """Return the newest lines with these words and what stands around them, each as "line:byte:text"; [] for none.

    Capital letters matter where the words hold one. Secrets are masked, nothing is made harmless. Raises
    ChannelRefused where the file cannot be searched, and ConnectionLost.
    """
    case = "" if any(letter.isupper() for letter in words) else "-i"
    grep = f"LC_ALL=C grep -a -n -b -F {case} -C {CONTEXT} -e {shlex.quote(words)} -- {shlex.quote(path)}"
    # The status of a pipe is that of its last command: grep's own is told behind the rows.
    return await _ask(host, path, f"{{ {grep}; echo status $?; }}")


async def beginning(host: Host, path: str) -> list[bytes]:
    """Return the first lines of a log; raises as `search` does."""
    head = f"LC_ALL=C head -c {MOST_ROWS * _LONGEST} -- {shlex.quote(path)} | head -n {MOST_ROWS - 1}"
    return await _ask(host, path, f"{{ {head}; echo; echo status $?; }}")


async def _ask(host: Host, path: str, command: str) -> list[bytes]:
    script = f"{command} 2>&1 | LC_ALL=C cut -b 1-{_LONGEST} | tail -n {MOST_ROWS + 1}"
    answer = await host.run(script, timeout=TIMEOUT, limit=(MOST_ROWS + 2) * (_LONGEST + 1))
    *rows, told = answer.stdout.removesuffix(b"\n").split(b"\n")
    if told not in (b"status 0", b"status %d" % _NOTHING):
        why = rows[-1].decode("utf-8", "replace") if rows else "no answer"
        raise ChannelRefused(f"{path} on {host.name} cannot be searched: {why}.", "Look whether it can be read there.")
    return mask_lines(rows)
