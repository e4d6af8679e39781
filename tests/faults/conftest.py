from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from faulttable import PROPERTY
from faultwatch import Run, longest, undisturbed
from faultwatch import knowledge as load

from bringup.hosts import hanging
from bringup.session.knowledge import Knowledge


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """Nothing of whoever runs the tests is used, and a file that does not answer is said to hang soon."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(hanging, "AFTER", 0.3)


@pytest.fixture(scope="session")
def known() -> Knowledge:
    return load()


@pytest.fixture(scope="session")
def reference(known: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same start, undisturbed."""
    return asyncio.run(undisturbed(tmp_path_factory.mktemp("undisturbed"), known))


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[str, list[Run]], None]:
    """Put a fault's longest times into the table."""

    def told(what: str, runs: list[Run]) -> None:
        record_property(PROPERTY, (what, len(runs), *longest(runs)))

    return told
