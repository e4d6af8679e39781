"""A server in a container of the fake docker, and a clock for what waits for its next start."""

from __future__ import annotations

from engineserver import Place, make_docker
from placedhost import Placed

from bringup.core.events import Server


class Hasty:
    """A clock that is far ahead at every look: what is waited for is given up after a few of them."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 7.0
        return self.now


async def contained(host: Placed, place: Place) -> Server:
    """Start one and find it."""
    make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    return await place.see(host, await place.one(), within=None)
