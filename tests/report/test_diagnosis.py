"""The file for whoever is asked for help."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from bringup.core.assess import assess
from bringup.core.errors import BringupError
from bringup.core.state import State
from bringup.core.verdict import Cause, RankView
from bringup.engines.patience import load_policy
from bringup.hosts.diagnose import Section
from bringup.report import stems
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


@pytest.mark.parametrize(
    ("lines", "title"),
    [((), "== no line of the log"), ((b"a",), "== the last line of the log"), ((b"a", b"b"), "== the last 2 lines")],
)
def test_the_lines_of_the_log_are_counted(lines: tuple[bytes, ...], title: str) -> None:
    assert title in diagnosis("gpu-a", assess(State(), NOW, load_policy()), Findings((), lines))


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
    assert save(text(), tmp_path, "gpu-a", NOW).name == f"{first.stem}-2.txt"
    assert (tmp_path / "victim").read_text() == "mine"


def test_two_at_the_same_second_are_two_files(tmp_path: Path) -> None:
    assert save("one", tmp_path, "gpu-a", NOW) != save("two", tmp_path, "gpu-a", NOW)
    assert sorted(path.read_text() for path in tmp_path.iterdir()) == ["one", "two"]


def test_nothing_is_left_of_one_that_a_full_disk_has_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str, *, new: bool = False) -> None:
        path.write_text(text[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(stems, "write_private", full)
    with pytest.raises(BringupError, match=r"cannot be written to .*: No space left on device"):
        save(text(), tmp_path, "gpu-a", NOW)
    assert list(tmp_path.iterdir()) == []


def test_the_ranks_stand_at_its_head() -> None:
    rank = RankView(3, "gpu-a", (), 77, 5, "weights", "target", 0.25, "maps", 12.4, trouble="uninterruptible")
    verdict = replace(assess(State(), NOW, load_policy()), ranks=(rank,))
    told = diagnosis("gpu-a", verdict, FINDINGS)
    line = "rank 3, gpu-a, PID 77, GPU 5, weights, 25% by maps, quiet for 12 s, uninterruptible"
    assert told.index("== verdict") < told.index(line) < told.index("== process 7")


def test_a_line_without_an_end_is_cut() -> None:
    told = diagnosis("gpu-a", assess(State(), NOW, load_policy()), Findings((), (b"x" * 5_000_000, b"the next")))
    assert len(told) < 10_000
    assert "x… (4996000 characters more)\nthe next" in told
