"""vLLM prints no year: what was in its log before anybody looked is of the process that lives, over New Year too."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from waiting import eventually

from bringup.core.assess import assess
from bringup.core.events import HostSeen, LogTarget, Server, ServerFound
from bringup.core.verdict import Verdict
from bringup.engines.patience import load_policy
from bringup.hosts.local import LocalHost
from bringup.hosts.recording import load_recording
from bringup.recordings.encoder import Encoder
from bringup.recordings.writer import Writer
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.places import read_place, time_of
from bringup.session.player import Player

PATIENCE = 60.0
LINES = (
    "(APIServer pid=101) INFO {} [engine.py:97]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.18.1\n"
    "(APIServer pid=101) INFO {} [engine.py:97] non-default args: {{'model': '/models/m', 'tensor_parallel_size': 2}}\n"
)


def moment(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]


NOW = [moment(2026, 11, 30, 4, 18, 40), moment(2027, 1, 1, 0, 0, 12), moment(2028, 2, 29, 12)]


def stamped(at: float) -> bytes:
    """Return the arguments of a vLLM server as printed at a moment."""
    text = f"{datetime.fromtimestamp(at, UTC):%m-%d %H:%M:%S}"
    return LINES.format(text, text).encode()


class Watched:
    """A host whose clock stands at `now`, with a server that began 20 s ago and a log."""

    def __init__(self, log: Path, knowledge: Knowledge, now: float) -> None:
        self.log, self.now = log, now
        self.picture = Picture("box")
        self.encoder = Encoder(now)
        self.rows: list[bytes] = []
        self.picture.tap = lambda item: self.rows.extend(self.encoder.rows(item, now))
        self.logs = Logs(self.picture, knowledge, HostClock(monotonic=lambda: 0.0, wall=lambda: now))
        server = Server(pid=7, start=7, engine="vllm", argv=("python3",), started_at=now - 20)
        self.picture.apply([HostSeen(at=now, node="box", system="Linux"), ServerFound(at=now, server=server)])

    async def read(self) -> Verdict:
        os.utime(self.log, (self.now, self.now))
        task = asyncio.create_task(self.logs.follow(LocalHost(), [LogTarget(str(self.log), "file")]))
        try:
            await eventually(lambda: self.picture.state.log.grew_at is not None, PATIENCE)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return assess(self.picture.state, self.now, load_policy())


@pytest.fixture
def watched(tmp_path: Path, knowledge: Knowledge) -> Callable[[bytes, float], Watched]:
    def make(data: bytes, now: float) -> Watched:
        (tmp_path / "vllm.log").write_bytes(data)
        return Watched(tmp_path / "vllm.log", knowledge, now)

    return make


@pytest.mark.parametrize("now", NOW)
@pytest.mark.parametrize("east", [0.0, -8 * 3600.0, 9 * 3600.0])
async def test_its_own_arguments_are_its_own(
    watched: Callable[[bytes, float], Watched], now: float, east: float
) -> None:
    watch = watched(stamped(now - 12 + east), now)
    watch.picture.apply([HostSeen(at=now, node="box", system="Linux", utc_offset=east)])
    verdict = await watch.read()
    assert (verdict.attempt, verdict.version, verdict.ranks_expected) == (1, "0.18.1", 2)
    assert watch.picture.state.attempt.launched_at == now - 12


@pytest.mark.parametrize("ago", [300 * 86400, 86400, 600])
async def test_those_of_an_earlier_start_are_not(watched: Callable[[bytes, float], Watched], ago: int) -> None:
    now = NOW[0]
    verdict = await watched(stamped(now - ago), now).read()
    assert (verdict.attempt, verdict.ranks_expected) == (2, None)


async def test_nor_is_what_came_before_them(watched: Callable[[bytes, float], Watched]) -> None:
    """More than a year before, nine months before, and now."""
    now = NOW[1]
    verdict = await watched(stamped(now - 400 * 86400) + stamped(now - 270 * 86400) + stamped(now - 12), now).read()
    assert (verdict.attempt, verdict.ranks_expected) == (3, 2)


@pytest.mark.parametrize("now", NOW)
async def test_a_recording_of_it_says_the_same(
    watched: Callable[[bytes, float], Watched], knowledge: Knowledge, tmp_path: Path, now: float
) -> None:
    watch = watched(stamped(now - 12), now)
    seen = await watch.read()
    path = tmp_path / "a.bringup"
    writer = Writer(path, {"host": "box"}, now)
    writer.add([*watch.rows, *watch.encoder.close(now)])
    writer.close()
    recording = load_recording(path)
    player = Player(recording, knowledge)
    for t, item in recording.items:
        player.take(t, item)
    assert player.state.attempt.launched_at == now - 12
    assert assess(player.state, now, load_policy()).summary == seen.summary


def test_lines_and_places_without_a_year_are_of_the_last_one() -> None:
    now = moment(2026, 11, 30)
    assert time_of(b"INFO 03-02 09:14:14 [utils.py:233] x", now, 0.0) == moment(2026, 3, 2, 9, 14, 14)
    place = read_place("03-02 09:14", 100, now, 0.0)
    assert place is not None
    assert place.when == moment(2026, 3, 2, 9, 14)
