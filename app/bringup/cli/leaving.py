"""Leaving at once, whatever a thread still waits for.

A name server that does not answer holds a thread for half a minute, a dead network file system for ever. Both asyncio
and the interpreter would wait for such a thread before the shell has its prompt back.
"""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn


class Threads(ThreadPoolExecutor):
    """Threads for an event loop that does not wait for them when it is closed."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work, and wait for none."""
        super().shutdown(wait=False, cancel_futures=True)


def leave(code: int) -> NoReturn:
    """End the process, without its threads where some are still there."""
    if threading.active_count() == 1:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)
