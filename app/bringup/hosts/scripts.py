"""How a POSIX sh script travels to a machine whose login shell may be anything, and ends when we do."""

from __future__ import annotations

import re
import secrets

NOISE_KEPT = 400


def wire(text: str) -> bytes:
    """Return text as the bytes that it is on a host, whatever the locale here: what is no UTF-8 stays as it is."""
    return text.encode("utf-8", "surrogateescape")


def new_mark() -> bytes:
    """Return a line that no login shell prints by itself: what comes before it is the noise of its start files."""
    return f"bringup-{secrets.token_hex(12)}".encode()


def remote_command(script: str) -> str:
    """Return the command line that runs `script` under /bin/sh, for a login shell of any kind.

    Inside single quotes only `'`, a backslash, `!` and a line end mean something to some shell (csh expands `!`, fish
    reads backslashes). Where a script has one of these, they travel as octal escapes that printf undoes.
    """
    if not re.search(r"['\\!\r\n]", script):
        return f"exec /bin/sh -c '{script}'"
    escaped = re.sub(r"['\\!\r\n]", lambda match: f"\\0{ord(match[0]):03o}", script)
    return f"""exec /bin/sh -c 'eval "$(printf %b "$1")"' sh '{escaped}'"""


def marked(script: str, mark: bytes) -> str:
    """Let the script announce itself on both outputs."""
    word = mark.decode()
    return f"echo {word}; echo {word} >&2\n{script}"


def guarded(script: str) -> str:
    """Make a script end with its standard input, that is with the channel or the process that started it.

    The script itself reads from /dev/null. When our side goes away, its whole process group is ended; sshd makes every
    command the leader of a group, and where something else did not, the script's own shell is ended. A script that ends
    by itself keeps its exit status and whatever it left running.

    Signals over SSH are no substitute: OpenSSH refuses them for root ("requires privilege separation").
    """
    return f"""exec 3<&0
(
{script}
) </dev/null 3<&- &
script=$!
{{ cat <&3; kill -- -$$ || kill -TERM $script; }} >/dev/null 2>&1 &
guard=$!
exec 3<&-
wait $script
status=$?
kill $guard 2>/dev/null
exit $status"""


def guarded_with_input(script: str, size: int) -> str:
    """Like `guarded`, for a script that reads the first `size` bytes of the standard input.

    The feeder names itself on the pipe's first line, passes the bytes on, closes the pipe, and is the guard from then.
    """
    return f"""exec 3<&0
{{ sh -c 'echo $PPID'; head -c {size} <&3 2>/dev/null; exec >/dev/null 2>&1; cat <&3; kill -- -$$; }} | {{
exec 3<&-
read -r guard
(
{script}
)
status=$?
kill $guard 2>/dev/null
exit $status
}}"""


class Output:
    """Collects one output of a script: drops everything up to the mark, keeps at most `limit` bytes after it."""

    def __init__(self, mark: bytes, limit: int) -> None:
        self._line = mark + b"\n"
        self._limit = limit
        self._before = bytearray()
        self._noise = b""
        self._kept = bytearray()
        self.begun = not mark

    def take(self, chunk: bytes) -> bytes:
        """Return the part of a chunk that comes after the mark."""
        if self.begun:
            return chunk
        self._before += chunk
        if not self._noise or len(self._noise) < NOISE_KEPT:
            self._noise = bytes(self._before[:NOISE_KEPT])
        found = self._before.find(self._line)
        if found < 0:
            del self._before[: -len(self._line)]
            return b""
        self.begun = True
        rest = bytes(self._before[found + len(self._line) :])
        self._before.clear()
        return rest

    def keep(self, chunk: bytes) -> None:
        """Take a chunk and keep what fits."""
        data = self.take(chunk)
        room = self._limit - len(self._kept)
        if room > 0:
            self._kept += data[:room]

    @property
    def kept(self) -> bytes:
        """What was kept."""
        return bytes(self._kept)

    @property
    def noise(self) -> str:
        """The beginning of what came before the mark, for a message."""
        return self._noise.decode("utf-8", "replace")
