"""Every rule of every engine against its own samples."""

from __future__ import annotations

import re

import pytest

from bringup.core.matching import Matcher
from bringup.core.rule import Rule
from bringup.engines import load_engines, load_wrappers

ENGINES = {engine.name: engine for engine in load_engines()}
FILES = {**{name: engine.rules for name, engine in ENGINES.items()}, "wrappers": load_wrappers().rules}
RULES = [pytest.param(name, rule, id=f"{name}-{rule.name}") for name, rules in FILES.items() for rule in rules]
VERSION = re.compile(r"\d+\.\d+\.\d+|")


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_the_first_rule_that_knows_a_sample_is_its_own(name: str, rule: Rule) -> None:
    matcher = Matcher(FILES[name])
    assert rule.samples
    for sample in rule.samples:
        line = sample.encode().rstrip()
        found = matcher.find_exception(line) if rule.scope == "exception" else matcher.find(line)
        assert found is not None
        assert found[0].name == rule.name


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_a_sample_gives_a_whole_event(name: str, rule: Rule) -> None:
    for sample in rule.samples:
        found = rule.pattern.search(sample.encode())
        assert found is not None
        values = rule.values(found)
        if "arguments" in rule.pattern.groupindex:
            values |= ENGINES[name].read_arguments(found["arguments"].decode())
        if rule.event is not None:
            rule.event(at=0.0, **values)


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_versions_are_versions_in_order(name: str, rule: Rule) -> None:
    assert VERSION.fullmatch(rule.since)
    assert VERSION.fullmatch(rule.until)
    if rule.since and rule.until:
        assert [int(part) for part in rule.since.split(".")] <= [int(part) for part in rule.until.split(".")]


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_a_line_that_tells_the_engine_is_no_other_engines(name: str, rule: Rule) -> None:
    if rule.shared or rule.event is None or rule.scope not in ("rank", "main"):
        return
    for other, engine in ENGINES.items():
        for sample in rule.samples if other != name else ():
            found = Matcher(engine.rules).find(sample.encode())
            assert found is None or found[0].shared or found[0].event is None
