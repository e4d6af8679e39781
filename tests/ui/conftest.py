"""Shorter waits: Textual's pilot looks every 20 ms whether the application has come to rest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual import _wait

LOOK_EVERY = 0.008


@pytest.fixture(autouse=True, scope="session")
def short_waits() -> Iterator[None]:
    """Look more often, with the same share of idle time as proof of rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_wait, "SLEEP_GRANULARITY", LOOK_EVERY)
        patch.setattr(_wait, "SLEEP_IDLE", LOOK_EVERY / 20)
        yield
