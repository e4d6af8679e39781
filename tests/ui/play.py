"""Play a scene in a real terminal, or a whole start: python tests/ui/play.py [SCENE] [THEME]."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from ui.fakes import FakeConsole
from ui.scenes import HISTORY, SCENES

from bringup.ui.app import BringupApp
from bringup.ui.operator import Operator
from bringup.ui.terminal import theme_for

START = ("searching", "launching", "distributed", "mixed", "weights", "draft_weights", "graphs", "warmup", "ready")


class Playing(FakeConsole):
    """A console that goes from one scene to the next, and lets time pass in between."""

    def __init__(self, names: Sequence[str]) -> None:
        first = SCENES[names[0]]()
        super().__init__(first.state, first.moment, first.lines, first.tail)
        self.remember(HISTORY)
        self._names = names

    async def play(self, each: float = 5.0) -> None:
        for name in self._names:
            scene = SCENES[name]()
            known = self.lines
            self.moment, self.tail = scene.moment, scene.tail
            self.lines = [*known, *scene.lines]
            self.change(scene.state)
            for _ in range(int(each)):
                await asyncio.sleep(1)
                self.wait(1)


def main() -> None:
    names = [sys.argv[1]] if len(sys.argv) > 1 and sys.argv[1] in SCENES else START
    console = Playing(names)

    async def connect(operator: Operator) -> FakeConsole:
        operator.say("Logging in to gpu-a as root.")
        await asyncio.sleep(0.5)
        player.append(asyncio.create_task(console.play(3600 if len(names) == 1 else 5)))
        return console

    player: list[asyncio.Task[None]] = []
    app = BringupApp(title="root@gpu-a", connect=connect, theme=theme_for(os.environ, *sys.argv[2:3]))
    app.run()
    sys.exit(app.return_code or 0)


if __name__ == "__main__":
    main()
