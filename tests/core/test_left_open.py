"""A server that was killed in the middle of its bar leaves it open in the log; the next one writes to the same file."""

from __future__ import annotations

from timeline import ROOT, loading

from bringup.core.decode import Decoder
from bringup.core.events import ServerGone
from bringup.engines import load_engines, load_wrappers

BAR = b"\rLoading safetensors checkpoint shards:  39% Completed | 25/64 [00:03<00:05,  7.77it/s]"


def test_the_bar_that_was_open_is_not_counted_to_the_next_launch() -> None:
    decoder = Decoder(load_engines(), load_wrappers(), engine="sglang")
    line = loading(2).found().spawn(2)
    line.add(*decoder.feed(BAR, line.now), *decoder.peek(line.now))
    assert line.verdict().bar == (25, 64)
    line.wait(5).add(ServerGone(at=line.now, pid=ROOT))
    line.wait(5).found(pid=ROOT + 500, start=9, started_at=line.now)
    line.add(
        *decoder.feed(b"/opt/x.py:1: FutureWarning: the old way is going away\n", line.now), *decoder.peek(line.now)
    )
    verdict = line.wait(1).verdict()
    assert verdict.attempt == 2
    assert (verdict.phase, verdict.bar) == ("launch", None)
