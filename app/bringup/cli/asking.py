"""Questions of a connection, put in the terminal: for commands that have no screen."""

from __future__ import annotations

import getpass
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bringup.core.sanitize import clean_text
from bringup.hosts.ask import Question

HOST_KEY = "host-key"
_YES = frozenset({"yes", "y"})


class TerminalAsk:
    """Asks on the terminal; where there is none, says so once and declines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told = False

    async def __call__(self, question: Question) -> str | None:
        """Put a question to the operator; None means that they declined, or that there is nobody to ask."""
        if not is_terminal():
            self._tell(question)
            return None
        # The loop stands still meanwhile, on purpose: nothing else is to be done, and Ctrl+C must end the question.
        return _interruptible(lambda: _asked(question))

    def _tell(self, question: Question) -> None:
        if not self._told:
            _say(f"bringup: {self._name} asks something, and there is no terminal to answer at: {question.text}")
            _say("         Use a key or an agent, put the host's key into known_hosts, or run this in a terminal.")
        self._told = True


def is_terminal() -> bool:
    """Say whether there is somebody to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _asked(question: Question) -> str | None:
    if question.detail:
        _say(question.detail)
    try:
        if question.kind == HOST_KEY:
            _say(question.text)
            sys.stderr.write("Accept this key, now and in future? (yes/no) ")
            sys.stderr.flush()
            return "yes" if sys.stdin.readline().strip().lower() in _YES else None
        with warnings.catch_warnings():
            # It cannot hide what is typed: then nothing is typed.
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(_prompt(question.text), sys.stderr)
    except (EOFError, getpass.GetPassWarning):
        return None


def _prompt(text: str) -> str:
    """Return a question as a prompt; the host's own ones often bring their colon."""
    shown = clean_text(text).rstrip()
    return f"{shown} " if shown.endswith((":", "?", ">")) else f"{shown}: "


@contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl+C raise KeyboardInterrupt at once within, as it does where there is no event loop."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interruptible(ask: Callable[[], str | None]) -> str | None:
    """Ask with Ctrl+C as it is without an event loop: the question ends at once, and typing is shown again.

    The event loop then hears of it as if nothing had been asked, and ends the command.
    """
    try:
        with interruptible():
            return ask()
    except KeyboardInterrupt:
        _say("")
        before = signal.getsignal(signal.SIGINT)
        if not callable(before):
            raise
        before(signal.SIGINT, None)
        return None


def _say(text: str) -> None:
    from bringup.cli.output import tell

    tell(clean_text(text) + os.linesep)
