"""The host's clock, learned from rows that arrive late."""

from __future__ import annotations

from bringup.session.clock import HostClock


class Hands:
    """Two clocks that move only when told."""

    def __init__(self) -> None:
        self.monotonic = 50.0
        self.wall = 1_000.0

    def pass_seconds(self, seconds: float) -> None:
        self.monotonic += seconds
        self.wall += seconds


def clock(hands: Hands) -> HostClock:
    return HostClock(monotonic=lambda: hands.monotonic, wall=lambda: hands.wall)


def test_this_machines_clock_stands_in_until_a_row_tells() -> None:
    hands = Hands()
    told = clock(hands)
    assert told.now() == 1_000.0


def test_a_late_row_does_not_set_the_clock_back() -> None:
    hands = Hands()
    told = clock(hands)
    told.tell(5_000.0)
    hands.pass_seconds(10)
    told.tell(5_009.4)
    assert told.now() == 5_010.0
    hands.pass_seconds(1)
    told.tell(5_011.2)
    assert told.now() == 5_011.2


def test_a_clock_that_jumped_is_followed() -> None:
    hands = Hands()
    told = clock(hands)
    told.tell(5_000.0)
    hands.pass_seconds(1)
    told.tell(4_000.0)
    assert told.now() == 4_000.0
    told.tell(9_000.0)
    assert told.now() == 9_000.0
