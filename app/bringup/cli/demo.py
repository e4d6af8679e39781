"""`bringup demo [SCENARIO]`: the console on a simulated host, over real SSH on loopback."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bringup.cli.console import refuse_without_terminal
from bringup.core.errors import UsageError

if TYPE_CHECKING:
    from bringup.demo.scenarios import Scenario


def demo(scenario: str = "healthy", /, *, speed: float = 1.0, theme: str = "") -> int:
    """Watch a simulated 8-GPU host start a server: no GPU, no server and no configuration needed (Linux).

    Parameters
    ----------
    scenario
        What happens: see `bringup demo list`.
    speed
        How many times faster than life; the healthy start takes about a minute at 1.
    theme
        Colours: dark, light, ansi (the terminal's own 16), or any theme of Textual; else what the terminal suggests.
    """
    from bringup.demo import scenarios

    if scenario == "list":
        for name in scenarios.names():
            known = scenarios.load(name)
            print(f"{name:14} {known.title}")  # noqa: T201 - the answer to a question on the command line
        return 0
    if speed <= 0:
        raise UsageError(f"A speed of {speed:g} goes nowhere.", "Give --speed a number above 0; 1 is life.")
    chosen = scenarios.load(scenario)
    refuse_without_terminal()
    return asyncio.run(_run(chosen, speed, theme))


async def _run(scenario: Scenario, speed: float, theme: str) -> int:
    from bringup.cli.console import make_console
    from bringup.demo.host import DemoHost
    from bringup.session.target import Target

    async with DemoHost(scenario, speed=speed) as host:
        target = Target(name=f"demo {scenario.name}", within=host.within)
        app, opener = make_console("demo", target, theme=theme, options=host.options)
        try:
            await app.run_async()
        finally:
            await opener.close()
        return app.return_code or 0
