from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bringup.core.arguments import parse_arguments, pick

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 99999),
    st.text(alphabet="ab'\"\\,()[]{}=: \n", max_size=12),
    st.lists(st.integers(0, 9), max_size=3),
    st.dictionaries(st.sampled_from(["x", "y"]), st.text(alphabet="ab'\",", max_size=4), max_size=2),
)
ARGUMENTS = st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), VALUES, max_size=6)


def plain(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


@given(ARGUMENTS)
@settings(max_examples=150, deadline=None)
def test_both_ways_to_print_arguments_give_them_back(arguments: dict[str, object]) -> None:
    call = f"ServerArgs({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"
    expected = {name: plain(value).replace("\n", "n") for name, value in arguments.items()}
    assert parse_arguments(call) == expected
    assert parse_arguments(repr(arguments)) == expected


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text_is_survived(text: str) -> None:
    assert isinstance(parse_arguments(text), dict)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("server_args=ServerArgs(a='x', b=1)", {"a": "x", "b": "1"}),
        ("Namespace(host=None, port=8000)", {"host": "None", "port": "8000"}),
        ('{"a": "x", "b": [1, 2]}', {"a": "x", "b": "[1, 2]"}),
        ("{'a': 'it\\'s', 'b': True}", {"a": "it's", "b": "True"}),
        ("ServerArgs(a='x', b=Foo(c=1, d=2), e=3) and more, f=4", {"a": "x", "b": "Foo(c=1, d=2)", "e": "3"}),
        ("ServerArgs(a='x', b='cut of", {"a": "x", "b": "cut of"}),
        ("_size=8, nnodes=2, node_rank=1)", {"_size": "8", "nnodes": "2", "node_rank": "1"}),
        ("nothing to see", {}),
        ("", {}),
    ],
)
def test_printed_arguments(text: str, found: dict[str, str]) -> None:
    assert parse_arguments(text) == found


def test_the_first_name_with_a_value_is_picked() -> None:
    arguments = {"tp": "None", "tp_size": "8", "extra": '{"num_threads": 64}', "empty": "{}"}
    assert pick(arguments, ["tp", "tp_size"]) == "8"
    assert pick(arguments, ["extra.num_threads"]) == "64"
    assert pick(arguments, ["empty.num_threads"]) is None
    assert pick(arguments, ["missing"]) is None
