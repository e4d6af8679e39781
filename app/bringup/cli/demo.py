"""`bringup demo [SCENARIO]`: the console on a simulated host, over real SSH on loopback."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.console import refuse_unknown_theme, refuse_without_terminal
from bringup.cli.naming import Theme, scenario_names
from bringup.cli.output import emit
from bringup.core.errors import UsageError
from bringup.ui.voice import Voice, voice_for

if TYPE_CHECKING:
    from bringup.demo.scenarios import Scenario

SLOWEST, FASTEST = 0.01, 1000.0


def demo(
    scenario: Annotated[str, Parameter(completer=scenario_names)] = "healthy",
    /,
    *,
    speed: float = 1.0,
    theme: Theme = None,
    bell: Annotated[bool, Parameter(show_default=False)] = True,
    notify: Annotated[bool, Parameter(show_default=False)] = True,
) -> int:
    """Watch a simulated 8-GPU host start a server: no GPU, no server and no configuration needed (Linux).

    Parameters
    ----------
    scenario
        What happens: see `bringup demo list`.
    speed
        How many times faster than life; the healthy start takes about a minute at 1.
    theme
        Colours: dark, light, ansi (the terminal's own 16), or any theme of Textual; else what the terminal suggests.
    bell
        Ring the terminal's bell when the server becomes ready, fails, stalls or degrades.
    notify
        Show a notification then, where the terminal can (OSC 9).
    """
    from bringup.demo import scenarios

    if scenario == "list":
        emit("".join(f"{name:14} {scenarios.load(name).title}\n" for name in scenarios.names()))
        return 0
    if not SLOWEST <= speed <= FASTEST:
        hint = f"Give --speed a number from {SLOWEST:g} to {FASTEST:g}; 1 is life."
        raise UsageError(f"The demo cannot run at a speed of {speed:g}.", hint)
    chosen = scenarios.load(scenario)
    refuse_without_terminal()
    refuse_unknown_theme(theme or "")
    return asyncio.run(_run(chosen, speed, theme or "", voice_for(os.environ, bell=bell, notify=notify)))


async def _run(scenario: Scenario, speed: float, theme: str, voice: Voice) -> int:
    from bringup.cli.console import make_console
    from bringup.demo.home import make_root

    # asyncssh cannot even be imported where no temporary file can be made: told before.
    make_root().rmdir()
    from bringup.demo.host import DemoHost
    from bringup.session.target import Target

    async with DemoHost(scenario, speed=speed) as host:
        target = Target(name=f"demo {scenario.name}", within=host.within)
        app, opener = make_console("demo", target, theme=theme, options=host.options, voice=voice)
        try:
            await app.run_async()
        finally:
            await opener.close()
        return opener.end(app)
