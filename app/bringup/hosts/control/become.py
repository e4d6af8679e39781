"""Becomes the program whose command line (argv) and environment (environ) lie in a folder, the argument.

It runs on the watched host under any Python 3. Each word is ended by NUL; both files are removed first.
"""

import os
import signal
import sys
from pathlib import Path


def main() -> None:
    """Read both files, remove them, and become that program."""
    words = {}
    for name in ("environ", "argv"):
        file = Path(sys.argv[1], name)
        words[name] = file.read_bytes().split(b"\0")[:-1]
        file.unlink()
    argv = words["argv"]
    environ = dict(pair.split(b"=", 1) for pair in words["environ"] if b"=" in pair[1:] and pair[:1] != b"=")
    if not argv or not argv[0]:
        sys.stderr.write("This command line cannot be launched: it is empty.\n")
        sys.exit(126)
    # A shell makes what it starts in the background deaf for the first two, Python itself ignores the others.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, environ)
    except OSError as exc:
        sys.stderr.write("{}: {}\n".format(os.fsdecode(argv[0]).encode("ascii", "replace").decode(), exc.strerror))
        sys.exit(127 if isinstance(exc, FileNotFoundError) else 126)


if __name__ == "__main__":
    main()
