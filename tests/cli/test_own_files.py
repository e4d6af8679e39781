"""The console loads the user's own rule files as `explain` does, and says afterwards which are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from bringup.cli.own_files import tell_broken
from bringup.report.own_rules import load_rules


def test_a_broken_file_is_named_and_the_rest_is_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.toml").write_text('name = "sglang"\nrules = 3\n')
    rules = load_rules(tmp_path)
    tell_broken(rules)
    said = capsys.readouterr().err
    assert str(tmp_path / "broken.toml") in said
    assert "left out" in said
    assert {engine.name for engine in rules.knowledge.engines} >= {"sglang", "vllm"}
