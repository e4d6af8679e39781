from __future__ import annotations

import pytest

from bringup.core.literals import head_of, needles_of
from bringup.core.matching import Matcher
from bringup.engines import load_engines, load_wrappers

RULES = [*(rule for engine in load_engines() for rule in engine.rules), *load_wrappers().rules]


@pytest.mark.parametrize(
    ("pattern", "head"),
    [
        (r"^Load weight begin\.", "Load weight begin."),
        (r"^INFO:     Started server process \[(?P<v>\d+)\]", "INFO:     Started server process ["),
        (r"^Gracefully exitings?", "Gracefully exiting"),
        (r"^Rank \d+", "Rank "),
        (r"Load weight", ""),
        (r"^Load weight|^Other", ""),
        (r"^(?:A|B)", ""),
    ],
)
def test_the_literal_beginning(pattern: str, head: str) -> None:
    assert head_of(pattern) == head


@pytest.mark.parametrize(
    ("pattern", "needles"),
    [
        (r"NCCL WARN .*refused", ("NCCL WARN ",)),
        (r"^Killed$|out of memory", ("Killed", "out of memory")),
        (r"\d+ (?:alpha|beta) \w", ("alpha", "beta")),
        (r"x(?:optional text)?y", ()),
        (r"(?!never this)[a-z]\d", ()),
        (r"(?P<name>needle)\d*", ("needle",)),
        (r"[)|(]literal", ("literal",)),
        (r"a|literal", ()),
    ],
)
def test_what_a_line_must_hold(pattern: str, needles: tuple[str, ...]) -> None:
    assert needles_of(pattern) == needles


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_sample_holds_what_its_rule_is_found_by(rule) -> None:  # type: ignore[no-untyped-def]
    for sample in rule.samples:
        if rule.head:
            assert sample.startswith(rule.head)
        elif rule.scope != "exception":
            assert any(needle in sample for needle in rule.needles)


def test_rules_of_one_beginning_keep_their_order() -> None:
    engine = load_engines()[0]
    matcher = Matcher(engine.rules)
    line = b'INFO:     127.0.0.1:50718 - "POST /generate HTTP/1.1" 200 OK'
    found = matcher.find(line)
    assert found is not None
    assert found[0].name == "warmup-answered"
    other = matcher.find(line.replace(b"/generate", b"/flush"))
    assert other is not None
    assert other[0].name == "access"
