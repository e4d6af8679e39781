"""Orphans of what a test starts: this process adopts them, so that a search below it finds them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from simulated import family, title

from bringup.demo.prctl import adopt_orphans


@contextmanager
def adopting(mark: str) -> Iterator[None]:
    """Be the parent of all that loses its own one, and end at last what has `mark` in its title."""
    adopt_orphans()
    try:
        yield
    finally:
        for pid in family(os.getpid()):
            if mark in title(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        adopt_orphans(adopt=False)


def bury() -> None:
    """Take all below this process that has ended unawaited: each such zombie slows every look at /proc."""
    with suppress(ChildProcessError):
        while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG) is not None:
            continue
