from __future__ import annotations

import io
import json
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from rich.console import Console

from bringup.report.listing import listing, to_json
from bringup.report.own_rules import Rules, load_rules, own_folder
from bringup.report.shapes import read_shape

RULE = """name = "sglang"

[[rules]]
name = "own-good"
match = '^Our own line of '
samples = ["Our own line of text"]
"""
WRAPPER = """[[wrappers]]
name = "own"
match = '^<<(?P<origin>\\w+)>> '
sure = true
samples = ["<<a>> "]
"""
ENGINE = RULE.replace('"sglang"', '"ours"\ntitle = "Our engine"', 1)
BROKEN = {
    "syntax": ('name = "sglang"\nrules = [\n\n', 3, "not valid TOML"),
    "stray": ('name = "sglang"\n\n= 3\n', 3, "not valid TOML"),
    "no-rules": ('name = "sglang"\n', None, "missing required field `rules`"),
    "empty": ("", None, "missing required field"),
    "list-name": ('name = ["sglang"]\nrules = []\n', 1, "Expected `str`"),
    "rules-number": ('name = "sglang"\nrules = 3\n', 2, "Expected `array`"),
    "rule-text": ('name = "sglang"\nrules = ["a"]\n', 2, "Expected `object`"),
    "set-number": (
        f'{RULE}\n[[rules]]\nname = "b"\nmatch = "^abcdefg"\nsamples = []\nset = 3\n',
        8,
        "Expected `object`",
    ),
    "limit-text": (f'{RULE}limit = "many"\n', 3, "Expected `int`"),
    "bad-pattern": (RULE.replace("Our own line of ", "Our own line (of "), 4, "pattern is not valid"),
    "bad-sample": (RULE.replace('["Our', '["Not our'), 4, "does not match its sample"),
    "bad-event": (f'{RULE}emit = "Nothing"\n', 4, "there is no event 'Nothing'"),
    "headers-number": ('name = "sglang"\nrules = []\nheaders = 3\n', 3, "Expected `array`"),
    "no-title": ('name = "new"\nrules = []\n', None, "needs a 'title'"),
}


def load(folder: Path, **files: str) -> Rules:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return load_rules(folder)


def told(rules: Rules) -> str:
    console = Console(width=300, file=io.StringIO())
    with console.capture() as captured:
        console.print(listing(rules))
    return captured.get()


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_with_its_line_and_the_rest_works(tmp_path: Path, name: str) -> None:
    text, line, problem = BROKEN[name]
    rules = load(tmp_path, **{f"a-{name}": text, "good": RULE})
    (broken,) = rules.broken
    assert broken.path.name == f"a-{name}.toml"
    assert broken.line == line
    assert problem in broken.problem
    assert "own-good" in {rule.name for engine in rules.engines for rule in engine.rules}
    assert f"a-{name}.toml" in told(rules)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"\n')
    (tmp_path / "folder.toml").mkdir()
    problems = {file.path.name: file.problem for file in load_rules(tmp_path).broken}
    assert "not UTF-8" in problems["latin.toml"]
    assert "cannot be read" in problems["folder.toml"]


def test_a_broken_wrapper_is_told(tmp_path: Path) -> None:
    rules = load(tmp_path, wrappers=WRAPPER.replace('"<<a>> "', '"a"'))
    assert rules.broken[0].line == 2
    assert load(tmp_path, wrappers="wrappers = 3\n").broken[0].line == 1


def test_own_rules_come_before_those_of_a_known_engine(tmp_path: Path) -> None:
    sglang = next(engine for engine in load(tmp_path, mine=RULE).engines if engine.name == "sglang")
    assert sglang.rules[0].name == "own-good"
    assert len(sglang.rules) > 50


def test_an_own_engine_and_own_wrappers_are_listed(tmp_path: Path) -> None:
    rules = load(tmp_path, ours=ENGINE, wrappers=WRAPPER)
    page = told(rules)
    assert "Our engine" in page
    assert "1 rule for ours" in page
    assert "1 wrapper, 0 rules for every engine" in page
    listed = json.loads(to_json(rules))
    sources = {engine["name"]: engine["from"] for engine in listed["engines"]}
    assert sources["ours"] == ["ours.toml"]
    assert sources["sglang"] == ["built in"]
    assert rules.wrappers.wrappers[0].name == "own"


def test_without_a_folder_there_is_what_ships(tmp_path: Path) -> None:
    rules = load_rules(tmp_path / "none")
    assert rules.files == ()
    assert "there is no such folder" in told(rules)
    assert {engine.name for engine in rules.engines} == set(rules.shipped)


def test_the_folder_can_be_moved() -> None:
    assert own_folder({"BRINGUP_CONFIG_DIR": "/etc/ours"}) == Path("/etc/ours/engines")
    assert own_folder({}).parts[-2:] == ("bringup", "engines")


@pytest.mark.parametrize("name", ["sglang.toml", "wrappers.toml"])
def test_what_ships_has_the_shape_that_is_asked_of_others(name: str) -> None:
    text = resources.files("bringup.engines").joinpath(name).read_text("utf-8")
    assert read_shape(name, tomllib.loads(text)).rules
