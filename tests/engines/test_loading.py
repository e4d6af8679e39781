from __future__ import annotations

from pathlib import Path

import pytest

from bringup.core.decode import Decoder
from bringup.core.errors import UsageError
from bringup.core.events import Fact
from bringup.engines import load_engines, load_wrappers

OWN = """
name = "sglang"
title = "SGLang, ours"
[[rules]]
name = "our-build"
emit = "Fact"
set = { name = "build" }
match = '^Our build (?P<value>\\S+)'
samples = ["Our build 7"]
"""
OTHER = """
name = "other"
title = "Other"
[[headers]]
match = '\\[(?P<stamp>\\d\\d:\\d\\d:\\d\\d)\\] '
samples = ["[09:14:29] "]
[[rules]]
name = "up"
emit = "Reached"
set = { milestone = "ready" }
match = '^All is well'
samples = ["All is well"]
"""


def test_the_shipped_files_are_right() -> None:
    assert "sglang" in [engine.name for engine in load_engines()]
    assert len({wrapper.name for wrapper in load_wrappers().wrappers}) == len(load_wrappers().wrappers) > 8


def test_a_file_of_the_users_adds_rules_to_an_engine_before_its_own(tmp_path: Path) -> None:
    Path(tmp_path, "mine.toml").write_text(OWN, "utf-8")
    (sglang,) = [engine for engine in load_engines(tmp_path) if engine.name == "sglang"]
    assert (sglang.title, sglang.rules[0].name) == ("SGLang, ours", "our-build")
    decoder = Decoder([sglang], load_wrappers())
    events = decoder.feed(b"[2026-03-02 09:14:29] Our build 7\n", 1.0)
    assert ("build", "7") in [(event.name, event.value) for event in events if isinstance(event, Fact)]


def test_a_file_of_the_users_can_bring_an_engine(tmp_path: Path) -> None:
    Path(tmp_path, "other.toml").write_text(OTHER, "utf-8")
    decoder = Decoder(load_engines(tmp_path), load_wrappers(tmp_path))
    decoder.feed(b"[09:14:29] All is well\n", 1.0)
    assert decoder.engine == "other"


@pytest.mark.parametrize(
    ("text", "word"),
    [("name = [", "cannot be read"), (OTHER.replace("Reached", "Reach"), "rule 'up': there is no event 'Reach'")],
)
def test_a_wrong_file_is_told_and_the_rest_works(tmp_path: Path, text: str, word: str) -> None:
    Path(tmp_path, "wrong.toml").write_text(text, "utf-8")
    problems: list[UsageError] = []
    names = [engine.name for engine in load_engines(tmp_path, problems)]
    assert "sglang" in names
    assert "other" not in names
    assert len(problems) == 1
    assert "wrong.toml" in str(problems[0])
    assert word in str(problems[0])
    with pytest.raises(UsageError):
        load_engines(tmp_path)


def test_wrappers_of_the_users_come_first_and_wrong_ones_are_told(tmp_path: Path) -> None:
    path = Path(tmp_path, "wrappers.toml")
    path.write_text(
        "[[wrappers]]\nname = 'mine'\nmatch = '^<(?P<origin>\\w+)> '\nsure = true\nsamples = ['<a> ']\n", "utf-8"
    )
    assert load_wrappers(tmp_path).wrappers[0].name == "mine"
    path.write_text("[[wrappers]]\nname = 'mine'\nmatch = '('\nsamples = ['<a> ']\n", "utf-8")
    problems: list[UsageError] = []
    assert load_wrappers(tmp_path, problems).wrappers == load_wrappers().wrappers
    assert "wrappers.toml" in str(problems[0])


def test_a_folder_that_is_not_there_adds_nothing(tmp_path: Path) -> None:
    assert load_engines(tmp_path / "missing") == load_engines()
