"""The terminal while the console runs: bytes that are no text, and a state that is given back whatever happens."""

from __future__ import annotations

import contextlib
import sys
import termios
from collections.abc import Iterator

from textual.drivers.linux_driver import LinuxDriver

_BACK = (
    "\x1b[<u"  # kitty's keyboard protocol off
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # mouse off
    "\x1b[?2004l\x1b[?2048l\x1b[?1004l\x1b[?7h"  # pastes unmarked, no reports of size and focus, lines wrap
    "\x1b[?1049l\x1b[?25h\x1b[0m"  # the screen from before, cursor on, no colours
)
"""Everything that Textual's driver turns on (textual/drivers/linux_driver.py, 8.2), turned off."""


class Driver(LinuxDriver):
    """Textual's driver; bytes that are no UTF-8 (a paste, a terminal of another encoding) are passed over."""

    def _run_input_thread(self) -> None:
        while not self.exit_event.is_set():
            try:
                self.run_input_thread()
            except UnicodeDecodeError:
                continue
            except Exception as error:  # noqa: BLE001 - the edge of a thread: the console ends with a sentence
                self._app.call_later(self._app._handle_exception, error)
            return


@contextlib.contextmanager
def given_back() -> Iterator[None]:
    """Give the terminal back as it was: where the driver could not (it failed half way), this does."""
    before = _modes()
    whole = False
    try:
        yield
        whole = True
    finally:
        if before is not None and (not whole or _modes() != before) and sys.__stderr__ is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.__stderr__.write(_BACK)
                sys.__stderr__.flush()
            with contextlib.suppress(termios.error, OSError, ValueError):
                termios.tcsetattr(sys.__stderr__.fileno(), termios.TCSANOW, before)


def _modes() -> list[int | list[bytes | int]] | None:
    try:
        return termios.tcgetattr(sys.__stderr__.fileno()) if sys.__stderr__ is not None else None
    except (termios.error, OSError, ValueError):
        return None
