"""A report from the screen: one page of what was seen so far, in a file of the operator's own."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from ui.screen import MIDDLE, NARROW, opened, text_of, until

from bringup.report import saving


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRINGUP_DATA_DIR", str(tmp_path))
    return tmp_path / "reports"


async def test_it_is_kept_and_the_path_is_told(data: Path) -> None:
    async with opened("failed", NARROW) as (app, console, pilot):
        await pilot.press("ctrl+s")
        await until(pilot, lambda: data.is_dir() and any(path.stat().st_size for path in data.iterdir()))
        (path,) = data.iterdir()
        await until(pilot, lambda: path.name[:20] in text_of(app))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        text = path.read_text("utf-8")
        assert "<!DOCTYPE html>" in text
        assert 'class="hit"' in text, "the line of the cause, out of the log on the screen"
        assert "gpu-a" in text
        assert console.calls == [], "the host is not asked"


async def test_the_next_one_has_a_name_of_its_own_and_read_only_allows_it(data: Path) -> None:
    async with opened("stalled", MIDDLE) as (_, console, pilot):
        console.read_only = True
        for wanted in (1, 2):
            await pilot.press("ctrl+s")
            await until(pilot, lambda wanted=wanted: data.is_dir() and len(list(data.iterdir())) == wanted)


async def test_a_folder_that_cannot_be_written_is_said(data: Path) -> None:
    data.write_text("in the way")
    async with opened("stalled", MIDDLE) as (app, _, pilot):
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "The report cannot be written" in text_of(app))


def test_names_are_made_of_plain_letters(tmp_path: Path) -> None:
    paths = [saving.keep("x", tmp_path / "new", "../ro ot@gpu\x1b", 1_772_442_854.0) for _ in range(2)]
    assert [path.name for path in paths] == [
        "start-..-ro-ot-gpu-20260302-091414.html",
        "start-..-ro-ot-gpu-20260302-091414-2.html",
    ]
    assert all(path.parent == tmp_path / "new" for path in paths)
