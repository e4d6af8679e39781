"""A server that is started anew with another log: the pane says where that begins, live and played."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from waiting import eventually

from bringup.core.events import LogTarget, Server, ServerFound, ServerGone
from bringup.hosts.local import LocalHost
from bringup.hosts.recording import load_recording
from bringup.recordings.encoder import Encoder
from bringup.recordings.writer import Writer
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.player import Player

PATIENCE = 60.0
LAUNCH = b"[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/models/tiny', tp_size=2, port=30000)\n"


async def followed(logs: Logs, picture: Picture, target: LogTarget, size: int) -> None:
    task = asyncio.create_task(logs.follow(LocalHost(), [target]))
    try:
        await eventually(lambda: (picture.state.log.path, picture.state.log.size) == (target.path, size), PATIENCE)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_another_log_is_marked_in_the_pane_and_counted_by_itself(tmp_path: Path, knowledge: Knowledge) -> None:
    old, new = (LogTarget(str(tmp_path / name), "file") for name in ("old.log", "new.log"))
    Path(old.path).write_bytes(3 * LAUNCH)
    Path(new.path).write_bytes(LAUNCH)
    began = time.time()
    picture, encoder, rows = Picture("box"), Encoder(began), list[bytes]()
    picture.tap = lambda item: rows.extend(encoder.rows(item, time.time()))
    logs = Logs(picture, knowledge, HostClock())

    def found(pid: int, target: LogTarget) -> None:
        now = time.time()
        server = Server(pid=pid, start=pid, engine="sglang", argv=("python3",), started_at=now, logs=(target,))
        picture.apply([ServerFound(at=now, server=server)])

    found(7, old)
    await followed(logs, picture, old, 3 * len(LAUNCH))
    shown = picture.take_lines()
    assert (picture.state.attempt.number, shown) == (3, [LAUNCH.strip()] * 3)
    await followed(logs, picture, old, 3 * len(LAUNCH))
    assert picture.take_lines() == []
    picture.apply([ServerGone(at=time.time(), pid=7)])
    found(8, new)
    await followed(logs, picture, new, len(LAUNCH))
    mark, line = picture.take_lines()
    assert (picture.state.attempt.number, line) == (1, LAUNCH.strip())
    assert mark.endswith(f"here begins {new.path}; what stands above is of {old.path} ---".encode())

    writer = Writer(tmp_path / "a.bringup", {"host": "box"}, began)
    writer.add([*rows, *encoder.close(time.time())])
    writer.close()
    recording = load_recording(tmp_path / "a.bringup")
    player = Player(recording, knowledge)
    for t, item in recording.items:
        player.take(t, item)
    assert player.take_lines() == [*shown, mark, line]
    assert player.state.attempt.number == 1
