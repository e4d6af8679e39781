"""The line of every key, in whatever way TOML lets it be written."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bringup.config.positions import Path, lines_of

TEXT = '''# a comment with = and [brackets]
theme = "dark"  # [not.a.table]
"quoted key" = 'a # b'
a.b . c = 1
text = """
x = 1
[no]
""\\"" """
raw = \'\'\'
y = 2\'\'\'\'
list = [
    1,  # one
    [2, 3],
    { inner = "}", other = [ "]" ] },
]

[targets.a]
port = 1
env = { X = "1", "Y Z" = "2" }
[targets."b.c"]
port = 2
[[many]]
n = 1
[[many]]
n = 2
[many.sub]
m = 3
'''
LINES: dict[Path, int] = {
    (): 1,
    ("theme",): 2,
    ("quoted key",): 3,
    ("a",): 4,
    ("a", "b"): 4,
    ("a", "b", "c"): 4,
    ("text",): 5,
    ("raw",): 9,
    ("list",): 11,
    ("list", 0): 12,
    ("list", 1): 13,
    ("list", 1, 0): 13,
    ("list", 1, 1): 13,
    ("list", 2): 14,
    ("list", 2, "inner"): 14,
    ("list", 2, "other"): 14,
    ("list", 2, "other", 0): 14,
    ("targets",): 17,
    ("targets", "a"): 17,
    ("targets", "a", "port"): 18,
    ("targets", "a", "env"): 19,
    ("targets", "a", "env", "X"): 19,
    ("targets", "a", "env", "Y Z"): 19,
    ("targets", "b.c"): 20,
    ("targets", "b.c", "port"): 21,
    ("many",): 22,
    ("many", 0): 22,
    ("many", 0, "n"): 23,
    ("many", 1): 24,
    ("many", 1, "n"): 25,
    ("many", 1, "sub"): 26,
    ("many", 1, "sub", "m"): 27,
}


def paths(value: Any, path: Path = ()) -> set[Path]:
    """Every key and place of a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path}.union(*(paths(entry, (*path, key)) for key, entry in inner))


def test_every_key_has_its_line() -> None:
    assert lines_of(TEXT) == LINES


def test_no_key_that_the_reader_finds_is_missed() -> None:
    assert set(lines_of(TEXT)) == paths(tomllib.loads(TEXT))


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# only this", "a=1", "a = -1.5e3 # x", "a = 2026-01-02 03:04:05\nb = [\n]"]
)
def test_small_files(text: str) -> None:
    assert set(lines_of(text)) == paths(tomllib.loads(text))


KEY = st.text("ab.\"'\\#[]={ \té", min_size=1, max_size=4)
LEAF = st.one_of(st.integers(), st.booleans(), st.text("a\"'\\#[]{},=\n\té", max_size=6))


def quoted(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(letter, letter) for letter in text) + '"'


def literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {literal(entry)}" for key, entry in value.items()) + "}"
    return quoted(value) if isinstance(value, str) else str(value)


VALUE = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEY, VALUE, max_size=5))
def test_any_table_is_walked_through_as_the_reader_reads_it(table: dict[str, Any]) -> None:
    text = "".join(f"{quoted(key)} = {literal(value)}\n" for key, value in table.items())
    assert tomllib.loads(text) == table
    lines = lines_of(text)
    assert set(lines) == paths(table)
    assert [lines[(key,)] for key in table] == list(range(1, len(table) + 1))
