"""The file for whoever is asked for help."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bringup.core.assess import assess
from bringup.core.errors import BringupError
from bringup.core.state import State
from bringup.core.verdict import Cause
from bringup.engines.patience import load_policy
from bringup.hosts.diagnose import Section
from bringup.report.diagnosis import diagnosis, save
from bringup.session.console import Findings

NOW = 1_780_000_000.0
FINDINGS = Findings((Section("process 7", "State: D (disk sleep)"),), (b"last \x1b[31mline", b"and one more"))


def text() -> str:
    verdict = replace(
        assess(State(), NOW, load_policy()),
        evidence=("maps: TP3 reads shard 2/9",),
        cause=Cause("oom", "CUDA out of memory", 3, 1, secondary=False, advice="Use more GPUs."),
    )
    return diagnosis("gpu-a", verdict, FINDINGS)


def test_it_holds_everything_in_the_order_in_which_it_is_read() -> None:
    told = text()
    parts = [
        "bringup diagnosis of gpu-a",
        "== verdict",
        "waiting:",
        "== evidence",
        "TP3 reads shard",
        "== cause",
        "CUDA out of memory",
        "== process 7",
        "State: D",
        "== the last 2 lines",
        "last line",
        "== verdict as JSON",
    ]
    places = [told.index(part) for part in parts]
    assert places == sorted(places)
    assert "\x1b" not in told


def test_it_is_written_for_its_owner_only_and_never_beside_its_folder(tmp_path: Path) -> None:
    path = save(text(), tmp_path / "new" / "folder", "root@../gpu a:22", NOW)
    assert path.parent == tmp_path / "new" / "folder"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.name.startswith("diagnosis-root-..-gpu-a-22-2026")
    assert path.read_text() == text()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BringupError, match="cannot be written to"):
        save(text(), tmp_path / "file" / "below", "gpu-a", NOW)


def test_a_link_that_lies_in_wait_is_not_followed(tmp_path: Path) -> None:
    first = save(text(), tmp_path, "gpu-a", NOW)
    first.unlink()
    (tmp_path / "victim").write_text("mine")
    first.symlink_to(tmp_path / "victim")
    with pytest.raises(BringupError):
        save(text(), tmp_path, "gpu-a", NOW)
    assert (tmp_path / "victim").read_text() == "mine"
