"""The application: themes, keys of every screen, the connection that is made after the first frame, and a clean end."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import SystemCommand
from textual.binding import BindingType
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.worker import WorkerFailed

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.ui.css import css
from bringup.ui.driving import Driver as TerminalDriver
from bringup.ui.driving import given_back
from bringup.ui.hearing import Hearing
from bringup.ui.keyed_app import KeyedApp
from bringup.ui.keys import LEAVING, Key, bindings, shown
from bringup.ui.own_keys import renamed
from bringup.ui.screens.opening import OpeningScreen
from bringup.ui.sizes import SMALLEST
from bringup.ui.theme import THEMES, stand_ins
from bringup.ui.voice import MUTE, Voice

if TYPE_CHECKING:
    # All of it is loaded once the first frame is drawn.
    from bringup.session.console import Console
    from bringup.ui.operator import Connect
    from bringup.ui.screens.watch import WatchScreen

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_GOODBYE = 3.0
"""Seconds that the end of the connection may take when the console is left."""
_LATER = ("bringup.ui.screens.watch", "bringup.ui.operator")
"""What the first frame does not need."""


class BringupApp(KeyedApp):
    """The console over one session, given ready made or made by `connect` once the first frame is drawn."""

    CSS_PATH = css("app", "opening")
    TITLE = "bringup"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    HORIZONTAL_BREAKPOINTS = [(0, "-thin"), (SMALLEST[0], "-roomy")]  # noqa: RUF012  (Textual's declaration)
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (SMALLEST[1], "-high")]  # noqa: RUF012

    def __init__(
        self,
        console: Console | None = None,
        *,
        title: str,
        connect: Connect | None = None,
        disconnect: Callable[[], Awaitable[None]] | None = None,
        theme: str = "bringup-dark",
        voice: Voice = MUTE,
    ) -> None:
        super().__init__()
        self.host_title = title
        self._voice = voice
        self._watch_screen: WatchScreen | None = None
        self._given = console
        self._connect = connect
        self._disconnect = disconnect
        self._half_done_told = False
        self.failure: BringupError | None = None
        """Why the console ended, where it ended by a defect."""
        self._early: list[events.Key] | None = None
        """Keys pressed before there was a screen for them; None once there is one."""
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme if theme in self.available_themes else "bringup-dark"

    @property
    def watch_screen(self) -> WatchScreen:
        """The main screen; loads all that it is made of."""
        if self._watch_screen is None:
            from bringup.ui.screens.watch import WatchScreen

            self._watch_screen = WatchScreen(self.host_title, self._voice, self.send)
        return self._watch_screen

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return values for our variables under themes that do not know them."""
        return stand_ins(self.available_themes.get(self.theme))

    def get_default_screen(self) -> Screen[None]:
        """Begin with a screen that is drawn at once, where the session is still to be made."""
        if self._given is not None:
            return super().get_default_screen()
        self._early = []
        return OpeningScreen(self.host_title, self._greeting)

    @property
    def _greeting(self) -> str:
        return f"Connecting to {self.host_title}."

    def on_load(self) -> None:
        """Mind signals from before the terminal is changed."""
        self._catch_signals()

    async def on_mount(self) -> None:
        """Show the session; where there is none yet, load the rest after the first frame was drawn."""
        if self._given is not None:
            await self.push_screen(self.watch_screen)
            self.watch_screen.attach(self._given)
        else:
            self.screen.call_after_refresh(self.run_worker, self._load, name="load")

    async def _load(self) -> None:
        """Load the main screen in a thread, so that keys are heard; put it in place of the first frame, and connect."""
        for module in _LATER:
            await asyncio.to_thread(import_module, module)
        self.say(self._greeting)
        # The first frame stays until all panels are in their places.
        with self.batch_update():
            await self.push_screen(self.watch_screen)
        early, self._early = self._early or [], None
        for key in early:
            self.post_message(key)
        self.open_session()

    async def on_unmount(self) -> None:
        """End the connection; the server is not touched."""
        for number in _SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
        if self._disconnect is not None:
            # A host that does not answer must not keep the operator from their shell.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._disconnect(), _GOODBYE)

    async def on_event(self, event: events.Event) -> None:
        """Keep keys from a dialog that cannot have been read yet, and for a screen that is not there yet."""
        if isinstance(event, events.Key):
            if isinstance(self.screen, Hearing) and not self.screen.hears(event):
                return
            if self._early is not None and event.key not in LEAVING:
                self._early.append(event)
                return
        await super().on_event(event)

    # --- the connection ---

    def open_session(self) -> None:
        """Begin to connect."""
        if self._connect is None:
            return
        self.say(self._greeting)
        self.run_worker(self._open(self._connect), name="connect", group="connect", exclusive=True)

    async def _open(self, connect: Connect) -> None:
        from bringup.ui.operator import Operator

        try:
            console = await connect(Operator(self, self.say, self.fail))
        except BringupError as error:
            self.fail(error)
        else:
            self.watch_screen.attach(console)
            # What is loaded by now stays to the end: to look through it for garbage took 60 ms again and again.
            gc.freeze()

    def send(self, sequence: str) -> None:
        """Send the terminal a sequence that moves nothing; between two frames, for the driver writes in order."""
        if self._driver is not None:
            self._driver.write(sequence)

    def say(self, text: str) -> None:
        """Tell how far the connection is."""
        self.watch_screen.show_opening(text)

    def fail(self, error: BringupError) -> None:
        """Tell that there is no session, why, and what can be done."""
        self.watch_screen.detach()
        self.watch_screen.show_opening(error.what, error.hint, failed=True)

    def on_watch_screen_retry(self) -> None:
        """Connect again after a failure."""
        if self._connect is not None and self.watch_screen.console is None:
            self.open_session()

    # --- leaving ---

    def action_leave(self) -> None:
        """Leave the console; never touches the server, but warns when it was about to be changed by the operator."""
        each = self._watch_screen.each if self._watch_screen is not None else None
        half_done = each.under_way if each is not None else ()
        if half_done and not self._half_done_told:
            self._half_done_told = True
            told = " ".join(f"A {doing.named} is under way." for doing in half_done)
            text = f"{told} Press q again to leave {'it' if len(half_done) == 1 else 'them'} half done."
            self.notify(clean_text(text), severity="warning", markup=False)
            return
        if half_done:
            # As text: brackets in it are no markup.
            self.exit(message=Text("\n".join(clean_text(doing.parting) for doing in half_done)))
            return
        self.exit(message="The server was not touched." if each is not None and each.untouched else None)

    def action_record(self) -> None:
        """Begin to record what is seen, or end it."""
        if (console := self._console) is not None:
            self.run_worker(self._record(console), name="record", group="record", exclusive=True)

    async def _record(self, console: Console) -> None:
        try:
            self.notify(clean_text(await console.record()), title="recording", markup=False, timeout=10)
        except BringupError as error:
            self.notify(clean_text(str(error)), severity="error", markup=False, timeout=10)

    async def action_quit(self) -> None:
        """Leave as `q` does: Textual binds its own key to this."""
        self.action_leave()

    def action_help_quit(self) -> None:
        """Leave as `q` does: Textual would only explain."""
        self.action_leave()

    @property
    def _console(self) -> Console | None:
        """The session, without loading anything to find out that there is none."""
        return self._watch_screen.console if self._watch_screen is not None else None

    def get_driver_class(self) -> type[Driver]:
        """Choose the driver that Textual chooses, but ours where that is the one for POSIX terminals."""
        chosen = super().get_driver_class()
        return TerminalDriver if chosen is LinuxDriver else chosen

    async def run_async(self, **options: Any) -> None:
        """Run on the terminal, and give it back as it was even where Textual itself fails."""
        with given_back():
            # Textual's own tools end an application with a value, whatever it says that it returns.
            return await super().run_async(**options)

    def _handle_exception(self, error: Exception) -> None:
        """Fail, unless the console is being left: a screen that is left while it is built misses its own widgets."""
        if not self._exit:
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Leave with a sentence: what Textual prints here shows all our variables, and with them what the host told."""
        if self._exception is not None:
            from bringup.core.defects import failure_of

            error = self._exception
            # A worker's error comes in a cover that has no traceback.
            self.failure = failure_of(error.error if isinstance(error, WorkerFailed) else error)
        self.panic()

    def _catch_signals(self) -> None:
        """Leave the terminal as it was when the process is told to end."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, partial(self.exit, return_code=128 + number))

    def keys_shown(self, *, read_only: bool) -> tuple[Key, ...]:
        """Return the keys that can be used here."""
        keys = shown(read_only=read_only, several=self.watch_screen.has_several)
        left = self.watch_screen.orders.left_over.left
        return renamed(tuple(key for key in keys if left is not None or key.id != "unfinished"), self.own_keys)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer the same actions as the keys, and the themes."""
        console = self.watch_screen.console
        for key in self.keys_shown(read_only=console is not None and console.read_only):
            if key.palette:
                target = self if key.scope == "app" else self.watch_screen
                run = partial(self.run_action, key.action, target)
                yield SystemCommand(f"{key.does}  ({key.shown.split()[0]})", key.tooltip, run)
        yield SystemCommand("theme", "Choose other colours.", self.action_change_theme)


def run(app: BringupApp) -> int:
    """Run the console to its end and return the exit status of the program."""
    app.run()
    return app.return_code or 0
