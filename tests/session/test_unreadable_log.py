"""A log that may not be read any more: the pane says so where it happened, and when it can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from troubled import TroubledHost, no_trouble, watching
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Completed
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.ui.paint.log import LogLook, paint_log_heading
from bringup.ui.paint.row import plain
from bringup.ui.picture import Picture

PATIENCE = 60.0


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again soon."""
    monkeypatch.setattr("bringup.session.logs.AGAIN", 0.05)


def denied(what: str) -> Completed | None:
    """Let nobody open a file."""
    if what == "open":
        raise ChannelRefused("It may not be read.", reason="denied")
    return None


def heading(session: Session) -> str:
    return plain(paint_log_heading(Picture(session.state, session.verdict(), "box"), 120, LogLook()))


async def test_it_is_told_in_the_pane_and_in_its_heading(tmp_path: Path, knowledge: Knowledge) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"first words\n")
    host = TroubledHost()
    lines: list[bytes] = []

    async with watching(host, knowledge, log=str(log)) as session:

        def shown(words: bytes) -> int:
            lines.extend(session.take_lines())
            return sum(words in line for line in lines)

        await eventually(lambda: shown(b"first words") == 1, PATIENCE)
        assert "following" in heading(session)
        host.trouble = denied
        log.rename(f"{log}.1")
        log.write_bytes(b"words that nobody may read yet\n")
        await eventually(lambda: shown(b"server.log cannot be read now; it is tried again: The log ") == 1, PATIENCE)
        assert "following" not in heading(session)
        assert "waiting for the log" in heading(session)
        host.trouble = no_trouble
        await eventually(lambda: shown(b"words that nobody may read yet") == 1, PATIENCE)
        await eventually(lambda: "following" in heading(session), PATIENCE)
        told = [line for line in lines if line.startswith(b"--- bringup")]
        assert [b"cannot be read now" in told[0], b"can be read again" in told[1], len(told)] == [True, True, 3]


async def test_a_log_that_has_nothing_new_can_be_read_again_as_well(tmp_path: Path, knowledge: Knowledge) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"first words\n")
    host = TroubledHost()
    async with watching(host, knowledge, log=str(log)) as session:
        await eventually(lambda: session.state.log.size > 0, PATIENCE)
        host.trouble = denied
        aside = log.rename(f"{log}.1")
        log.write_bytes(b"")
        await eventually(lambda: "log" in dict(session.state.closed), PATIENCE)
        aside.rename(log)
        host.trouble = no_trouble
        await eventually(lambda: "log" not in dict(session.state.closed), PATIENCE)
