"""A drain is a part of the ways to stop that kill what is left after it; with another one it is refused."""

from __future__ import annotations

import pytest

from bringup.cli import run


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("GENTLE", "it kills nothing; `patient` in the configuration is what it waits."),
        ("KILL", "it kills at once."),
    ],
)
def test_a_way_without_a_drain(way: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stop", "nowhere.invalid", "--yes", "--signal", way, "--drain", "20s"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"--drain and --signal {way} contradict each other: {why}" in " ".join(told.err.split())


@pytest.mark.parametrize("more", [["--signal", "TERM"], ["--signal", "INT"], []])
def test_a_way_with_one_goes_on(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    # Without a terminal a yes is asked for: what the options say is taken by then.
    assert run(["stop", "nowhere.invalid", *more, "--drain", "20s"]) == 2
    assert "Give --yes" in capsys.readouterr().err
