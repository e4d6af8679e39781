"""Shorter waits: Textual's pilot looks every 20 ms whether the application has come to rest. And words that stay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual import _wait
from textual.notifications import Notification

LOOK_EVERY = 0.008


@pytest.fixture(autouse=True, scope="session")
def short_waits() -> Iterator[None]:
    """Look more often, with the same share of idle time as proof of rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_wait, "SLEEP_GRANULARITY", LOOK_EVERY)
        patch.setattr(_wait, "SLEEP_IDLE", LOOK_EVERY / 20)
        yield


@pytest.fixture
def words_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said for some seconds is said for an hour: however slow the machine is, a test comes to see it."""
    monkeypatch.setattr(Notification, "time_left", 3600.0)
