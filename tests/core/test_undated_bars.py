"""A bar carries no time. Of one that was in the file before, it is known only where it is what was written last."""

from timeline import loading

from bringup.core.decode import Decoder
from bringup.core.events import Bar, Event, LinesRead, LogWritten
from bringup.core.fold import fold
from bringup.core.state import State
from bringup.engines import load_engines, load_wrappers

ENGINES, WRAPPERS = load_engines(), load_wrappers()
BEGIN = b"[2026-03-02 09:14:29 TP0] Load weight begin. avail mem=78.30 GB\n"
TITLE = "\rMulti-thread loading shards:  {}% Completed | {}/14 [00:{:02}<00:10,  1.83s/it]"
WRITTEN = 111.0
"""Seconds after the last stamp."""


def bars(last: int) -> bytes:
    return "".join(TITLE.format(done * 100 // 14, done, done) for done in range(last + 1)).encode()


def read(data: bytes) -> list[Event]:
    """Return what a log that was there already tells, and when it was written to last."""
    decoder = Decoder(ENGINES, WRAPPERS, engine="sglang")
    events = [*decoder.feed(data, None), *decoder.peek(None)]
    stamp = max(event.at for event in events)
    return [*events, LogWritten(at=stamp + WRITTEN)]


def told(events: list[Event], after: float = 5.0) -> tuple[str, float | None]:
    """Return what is said of the bar, and when it moved by the list of channels."""
    line = loading(1)
    line.state = fold(State(), events)
    line.t = events[-1].at + after - (line.now - line.t)
    verdict = line.verdict()
    moved = next(view.moved_s for view in verdict.channels if view.channel == "bar")
    return next(text for text in verdict.evidence if text.startswith("bar of")), moved


def test_the_bar_that_was_written_last_is_as_old_as_the_file():
    assert told(read(BEGIN + bars(12))) == ("bar of rank 0: 12 of 14, last step 5 s ago", 5)


def test_so_is_one_whose_line_has_ended():
    assert told(read(BEGIN + bars(12) + b"\n")) == ("bar of rank 0: 12 of 14, last step 5 s ago", 5)


def test_of_one_before_other_lines_no_age_is_told():
    later = b"\n/opt/venv/lib/python3.12/site-packages/x.py:1: UserWarning: something else\n"
    assert told(read(BEGIN + bars(12) + later)) == ("bar of rank 0: 12 of 14", None)


def test_nor_of_one_that_was_drawn_once():
    once = TITLE.format(7, 1, 1).encode() + b"\nsomething else\n"
    assert told(read(BEGIN + once)) == ("bar of rank 0: 1 of 14", None)


def test_nor_of_one_with_another_ranks_line_glued_to_it():
    later = b"[2026-03-02 09:15:40 TP1] Something that no rule knows\n"
    assert told(read(BEGIN + bars(12) + later)) == ("bar of rank 0: 12 of 14", None)


def test_nor_where_the_host_does_not_tell_when_the_file_was_written():
    events = read(BEGIN + bars(12))[:-1]
    assert told(events) == ("bar of rank 0: 12 of 14", None)


def test_a_log_without_any_stamp_gives_no_steps():
    state = fold(State(), read(bars(12))[:-1])
    assert [(bar.dated, bar.steps) for bar in state.attempt.bars] == [(False, ())]


def test_steps_that_were_there_before_are_no_pace():
    line = loading(1)
    line.state = fold(State(), read(BEGIN + bars(12)))
    assert line.state.attempt.bars[-1].steps == ()
    assert line.verdict().eta_s is None


def test_a_step_that_is_seen_live_has_its_time():
    line = loading(1)
    line.state = fold(State(), read(BEGIN + bars(11))[:-1])
    at = line.state.attempt.bars[-1].drawn_at + 300
    line.add(Bar(at=at, stamp=at - 300, kind="shards", done=12, total=14))
    line.add(LinesRead(at=at, size=9, lines=0, unknown=0), LogWritten(at=at + 50))
    (bar,) = line.state.attempt.bars
    assert (bar.dated, bar.moved_at) == (True, at)
