"""What the pane is told where lines come faster than they are shown: never nothing."""

from __future__ import annotations

from bringup.core.redact import mask_lines
from bringup.session.picture import PENDING_LINES, Picture, left_out


def test_lines_that_a_stalled_screen_did_not_take_are_told_before_the_others() -> None:
    picture = Picture("box")
    picture.add_lines([b"%d" % number for number in range(PENDING_LINES + 1500)])
    told, *lines = picture.take_lines()
    assert b"1,500 lines came too fast" in told
    assert lines[0] == b"1500"


def test_what_was_left_out_is_told_once() -> None:
    picture = Picture("box")
    picture.skip(20_000)
    picture.add_lines([b"the newest"])
    assert [b"20,000" in line for line in picture.take_lines()] == [True, False]
    picture.add_lines([b"one more"])
    assert picture.take_lines() == [b"one more"]


def test_lines_that_differ_by_numbers_only_hide_no_secret() -> None:
    lines = [b"2026-11-29 12:00:%02d key sk-4-abcdefgh%d" % (number, number) for number in range(9)]
    assert all(b"abcdefgh" not in line for line in mask_lines(lines))
    plain = [b"[2026-11-29 12:00:%02d TP0] load %d" % (number, number) for number in range(9)]
    assert mask_lines(plain) is plain


def test_one_line_that_was_left_out_is_one() -> None:
    assert b"1 line came too fast to be shown here; it was read all the same" in left_out(1)
