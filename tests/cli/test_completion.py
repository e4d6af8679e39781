"""What the shell completes: commands, options, targets, files, scenarios and themes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bringup.cli import run

KIMI = '[targets.kimi]\nhost = "root@gpu-a"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path))
    return tmp_path


def written(folder: Path, text: str) -> None:
    (folder / "config.toml").write_text(text, "utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_every_shell_names_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("watch", "status", "wait", "explain", "demo", "config", "completion", "timeout", "__complete"):
        assert word in script


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "tcsh"]) == 2
    assert "tcsh" in capsys.readouterr().err


def completed(*words: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "bringup", "__complete", *words], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.partition("\x1fbegin\n")[2].splitlines()


@pytest.mark.parametrize("command", ["watch", "status", "wait", "history", "record"])
def test_target_names_are_completed(command: str, folder: Path) -> None:
    written(folder, KIMI + '[targets.two]\nhosts = ["a", "b"]\n')
    assert completed(command, "") == ["kimi\troot@gpu-a", "two\ta, b"]


def test_a_report_is_about_a_target_or_a_file(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder, KIMI)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs" / "old").mkdir(parents=True)
    (tmp_path / "logs" / "old" / "kimi.log").touch()
    (tmp_path / ".hidden").touch()
    assert completed("report", "") == ["kimi\troot@gpu-a", "config.toml", "logs/"]
    assert completed("report", "logs/o") == ["kimi\troot@gpu-a", "logs/old/kimi.log"]
    assert completed("explain", "lo") == ["logs/old/kimi.log"]
    assert completed("replay", "logs/old/") == ["logs/old/kimi.log"]
    assert completed("report", "-o", "nowhere/") == []


def test_scenarios_and_themes_are_completed(folder: Path) -> None:
    scenarios = [line.partition("\t")[0] for line in completed("demo", "")]
    assert scenarios[0] == "healthy"
    assert {"stall", "oom", "list"} < set(scenarios)
    themes = completed("watch", "--theme", "")
    assert {"dark", "light", "ansi", "nord"} < set(themes)
    assert completed("demo", "--theme", "") == completed("replay", "--theme", "") == themes


def test_a_broken_configuration_completes_nothing_and_says_nothing(folder: Path) -> None:
    written(folder, "nope = 1\n")
    assert completed("watch", "") == []


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that finds this bringup."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "bringup").write_text(f'#!/bin/sh\nexec {sys.executable} -m bringup "$@"\n')
    (folder / "bringup").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def test_bash_completes_commands_and_targets(folder: Path, programs: dict[str, str]) -> None:
    written(folder, KIMI)
    script = """
eval "$(bringup completion bash)"
try() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
    _bringup; echo "${COMPREPLY[@]}"
}
try bringup wa
try bringup status ki
try bringup wait --time
try bringup history ki
try bringup demo sta
try bringup watch --theme no
"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True, env=programs)
    commands, targets, options, *more = done.stdout.splitlines()
    assert set(commands.split()) == {"wait", "watch"}
    assert targets.split() == ["kimi"]
    assert options.split() == ["--timeout"]
    assert more == ["kimi", "stall", "nord"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_the_same(folder: Path, programs: dict[str, str]) -> None:
    written(folder, KIMI)
    lines = ("history ki", "report ki", "demo sta", "watch --theme nor")
    script = "bringup completion fish | source\n" + "\n".join(f"complete -C 'bringup {line}'" for line in lines)
    done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, timeout=60, check=True, env=programs)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["kimi", "kimi", "stall", "nord"]
