"""Puts a session under the screen: the terminal is looked at first, the connection made after the first frame."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from bringup.cli.own_files import tell_broken
from bringup.core.errors import BringupError, Unreachable, UsageError
from bringup.ui.terminal import OWN_THEME, theme_for, why_not
from bringup.ui.voice import MUTE, Voice

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.hosts.ssh.config import SshOptions
    from bringup.report.own_rules import Rules
    from bringup.session.console import Console
    from bringup.session.fleet import Fleet
    from bringup.session.knowledge import Knowledge
    from bringup.session.session import Session
    from bringup.session.target import Target
    from bringup.ui.app import BringupApp
    from bringup.ui.operator import Operator

    Over = Callable[[Knowledge], Knowledge]

_INSTEAD = "`bringup status HOST` and `bringup wait HOST` need none: they print how the server is."


def run_console(chosen: Chosen, *, theme: str = "", voice: Voice = MUTE) -> int:
    """Run the console until the operator leaves it; returns the exit code. Raises UsageError without a terminal."""
    refuse_without_terminal()
    refuse_unknown_theme(theme)
    config = chosen.config
    theme = theme or (config.theme if config is not None and config.theme else "")
    app, opener = make_console(chosen.host, chosen.target, theme=theme, over=chosen.over, voice=voice, chosen=chosen)
    if config is not None and config.keys:
        from bringup.cli.keymap import own_keys

        app.set_keymap(own_keys(config))
    app.run()
    return opener.end(app)


def refuse_without_terminal() -> None:
    """Raise UsageError where a full-screen console cannot run."""
    streams = (sys.stdin, sys.stdout, sys.__stderr__)
    is_tty = all(stream is not None and stream.isatty() for stream in streams)
    encoding = sys.__stderr__.encoding if sys.__stderr__ is not None else "utf-8"
    sentence = why_not(os.environ, is_tty=is_tty, encoding=encoding, instead=_INSTEAD)
    if sentence:
        raise UsageError(sentence)


def refuse_unknown_theme(theme: str) -> None:
    """Raise UsageError for a theme that nobody knows; empty leaves the choice to the terminal."""
    from bringup.ui.theme import NAMES

    if theme and theme_for({}, theme) not in NAMES:
        own = sorted(name.removeprefix(OWN_THEME) for name in NAMES if name.startswith(OWN_THEME))
        others = sorted(name for name in NAMES if not name.startswith(OWN_THEME))
        raise UsageError(f"There is no theme {theme!r}.", f"Give --theme one of: {', '.join([*own, *others])}.")


def make_console(
    host: str,
    target: Target,
    *,
    theme: str = "",
    options: SshOptions | None = None,
    over: Over | None = None,
    voice: Voice = MUTE,
    chosen: Chosen | None = None,
) -> tuple[BringupApp, Opener]:
    """Return the application and what opens its session; `over` lays the operator's thresholds over the loaded ones.

    `chosen` is told where it is more than a host: several nodes, or a way from the host.
    """
    from bringup.ui.app import BringupApp

    opener = Opener(host, target, options, over, chosen)
    app = BringupApp(
        title=target.name,
        connect=opener.open,
        disconnect=opener.close,
        theme=theme_for(os.environ, theme),
        voice=voice,
    )
    return app, opener


class Opener:
    """Makes the session when the screen asks for it, and ends it when the screen is left."""

    def __init__(
        self,
        host: str,
        target: Target,
        options: SshOptions | None,
        over: Over | None = None,
        chosen: Chosen | None = None,
    ) -> None:
        self._host = host
        self._target = target
        self._options = options
        self._over = over
        self._chosen = chosen
        self._session: Session | Fleet | None = None
        self._watch: asyncio.Task[None] | None = None
        self._failure: BringupError | None = None
        self._rules: Rules | None = None

    async def open(self, operator: Operator) -> Console:
        """Connect and return the session; raises BringupError when there is no way in."""
        try:
            session = await self._open(operator)
        except Exception as error:
            from bringup.core.defects import failure_of

            self._failure = failure_of(error)
            raise self._failure from error
        self._failure = None
        return session

    def end(self, app: BringupApp) -> int:
        """Return the exit code once the screen is left.

        Raises BringupError where there was no session to leave: the screen that told why is gone.
        """
        if self._rules is not None:
            tell_broken(self._rules)
        waits_for = self._session.retries.refused if self._session is not None else None
        failure = app.failure or self._failure or waits_for
        if app.failure is None and app.return_code:
            return app.return_code
        if failure is not None:
            raise failure
        if self._session is None:
            name = self._target.name
            raise Unreachable(f"The console was left before there was a connection to {name}.")
        return 0

    async def _open(self, operator: Operator) -> Session | Fleet:
        from bringup.cli.leaving import Threads

        asyncio.get_running_loop().set_default_executor(Threads())
        operator.say(f"Connecting to {self._target.name}.")
        # In a thread: loading the rules takes 100 ms, in which the screen should be drawn and keys answered.
        chosen, knowledge = await asyncio.to_thread(self._prepare)
        from bringup.cli.jobs import awaited
        from bringup.cli.sessions import make_session

        async for found in awaited(chosen, lambda _: operator, self._options):
            if isinstance(found, str):
                operator.say(found)
            else:
                chosen = found
        session = await make_session(chosen, lambda _: operator, knowledge, self._options, watches=True, stays=True)
        await session.open()
        self._session = session
        self._watch = asyncio.create_task(self._guard(session, operator), name="guard")
        return session

    def _prepare(self) -> tuple[Chosen, Knowledge]:
        import bringup.cli.sessions  # noqa: F401 - loaded here, where it holds up no key
        from bringup.cli.targets import Chosen
        from bringup.report.own_rules import load_rules

        self._rules = load_rules()
        knowledge = self._rules.knowledge
        if self._over is not None:
            knowledge = self._over(knowledge)
        return self._chosen or Chosen(self._host, self._target), knowledge

    async def close(self) -> None:
        """End the connection; the server is not touched."""
        if self._watch is not None:
            self._watch.cancel()
        if self._session is not None:
            await self._session.close()

    async def _guard(self, session: Session | Fleet, operator: Operator) -> None:
        try:
            await session.wait()
        except BringupError as error:
            self._failure = error
            operator.fail(error)
            await session.close()
