"""Which server is watched."""

from __future__ import annotations

from bringup.core.events import Server
from bringup.session.choice import choose


def server(pid: int, start: int = 1) -> Server:
    return Server(pid=pid, start=start, engine="sglang", argv=("python3", "-m", "sglang.launch_server"))


def test_the_newest_is_watched_first() -> None:
    assert choose([server(9, 30), server(5, 20)], None, None) == server(9, 30)


def test_a_watched_server_keeps_the_screen_while_it_lives() -> None:
    assert choose([server(9, 30), server(5, 20)], server(5, 20), None) == server(5, 20)


def test_the_operators_pick_wins() -> None:
    assert choose([server(9, 30), server(5, 20), server(3, 10)], server(5, 20), (3, 10)) == server(3, 10)


def test_the_same_pid_with_another_start_time_is_another_server() -> None:
    assert choose([server(9, 30), server(5, 20)], server(5, 10), None) == server(9, 30)


def test_the_end_of_a_server_stays_on_the_screen_until_a_newer_one_appears() -> None:
    ended = server(5, 20)
    assert choose([server(3, 10)], ended, None) is None
    assert choose([server(7, 40), server(3, 10)], ended, None) == server(7, 40)


def test_nothing_found_is_nothing_chosen() -> None:
    assert choose([], server(5), None) is None
