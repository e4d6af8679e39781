"""What is wrong with one of two logs is told beside the other, and the channel is closed only where neither is read."""

from __future__ import annotations

from bringup.session.clock import HostClock
from bringup.session.log_channel import LogChannel
from bringup.session.picture import Picture


def made() -> tuple[LogChannel, Picture]:
    picture = Picture("box")
    channel = LogChannel(picture, HostClock())
    channel.follow(["/a", "/b"])
    return channel, picture


def test_one_of_two() -> None:
    channel, picture = made()
    channel.open("/a")
    channel.close("/b", "denied")
    channel.open("/a")
    assert dict(picture.state.closed) == {"log /b": "denied"}
    channel.open("/b")
    assert picture.state.closed == ()


def test_both() -> None:
    channel, picture = made()
    channel.close("/b", "denied")
    channel.close("/a", "gone")
    assert dict(picture.state.closed) == {"log": "denied gone"}
    channel.open("/a")
    assert dict(picture.state.closed) == {"log /b": "denied"}


def test_other_logs_begin_anew() -> None:
    channel, picture = made()
    channel.close("/b", "denied")
    channel.follow(["/c"])
    assert picture.state.closed == ()
    channel.close("/c", "denied")
    assert dict(picture.state.closed) == {"log": "denied"}


def test_what_may_not_be_read_any_more_is_told_once_in_the_pane() -> None:
    channel, picture = made()
    channel.refuse("/a", "It may not be read.", was_read=True)
    channel.refuse("/a", "It may not be read.", was_read=True)
    (line,) = picture.take_lines()
    assert b"a cannot be read now; it is tried again: It may not be read." in line
    channel.follow(["/a", "/b"])
    channel.open("/a")
    channel.open("/a")
    (line,) = picture.take_lines()
    assert b"a can be read again" in line


def test_what_was_never_read_has_the_pane_s_own_sentence() -> None:
    channel, picture = made()
    channel.refuse("/a", "It may not be read.", was_read=False)
    channel.open("/a")
    assert picture.take_lines() == []
    assert picture.state.closed == ()
