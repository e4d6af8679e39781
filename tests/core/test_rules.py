from __future__ import annotations

from typing import Any

import pytest

from bringup.core.errors import UsageError
from bringup.core.events import Bar, Fault, Launch, PhaseEnded
from bringup.core.matching import Matcher
from bringup.core.rules import Engine, parse_engine
from bringup.core.schema import EMITTED, schema_of

RULE: dict[str, Any] = {
    "name": "load",
    "emit": "PhaseEnded",
    "set": {"phase": "weights"},
    "match": r"^Loaded the model(?: in (?P<seconds>[\d.]+) s)?",
    "samples": ["Loaded the model in 3.5 s"],
}
ENGINE: dict[str, Any] = {
    "name": "demo",
    "title": "Demo",
    "headers": [{"match": r"\[(?P<stamp>\d\d:\d\d:\d\d)(?P<labels>(?: R\d+)*)\] ", "samples": ["[09:14:29 R3] "]}],
    "titles": [{"part": "scheduler", "match": r"^demo_(?P<labels>R\d+)", "samples": ["demo_R3"]}],
    "command": {"flags": {"tp": ["--tp"], "model": ["--model"]}, "switches": {"dp_attention": ["--dpa"]}},
    "launch": {"tp": ["tp_size"], "model": ["model_path"]},
    "rules": [RULE],
}


def engine(**changes: Any) -> Engine:
    return parse_engine({**ENGINE, **changes}, "demo.toml")


def with_rule(**changes: Any) -> Engine:
    return engine(rules=[{key: value for key, value in {**RULE, **changes}.items() if value is not None}])


def test_an_engine_is_read() -> None:
    demo = engine()
    assert (demo.name, demo.title, [rule.name for rule in demo.rules]) == ("demo", "Demo", ["load"])
    assert demo.titles.classify("demo_R3  \0") == ("scheduler", (("r", 3),))
    assert demo.titles.classify("other") is None
    assert demo.bars == ()


def test_groups_become_values_of_the_fields_types() -> None:
    rule = engine().rules[0]
    found = rule.pattern.match(b"Loaded the model in 3.5 s")
    assert found is not None
    assert PhaseEnded(at=0.0, **rule.values(found)) == PhaseEnded(at=0.0, phase="weights", seconds=3.5)
    without = rule.pattern.match(b"Loaded the model")
    assert without is not None
    assert rule.values(without) == {"phase": "weights"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"emit": "Exploded"}, ["demo.toml", "'load'", "no event 'Exploded'"]),
        ({"set": {"phase": "lunch"}}, ["'load'", "'phase' cannot be 'lunch'"]),
        ({"set": {"phase": "weights", "again": "yes"}}, ["'again' cannot be 'yes'"]),
        ({"set": {"phase": "weights", "colour": "red"}}, ["PhaseEnded has no field 'colour'"]),
        ({"set": {"phase": "weights", "at": 1.0}}, ["no field 'at'"]),
        ({"set": {}}, ["PhaseEnded needs 'phase'"]),
        ({"match": r"^Loaded the model (?P<speed>\d+)"}, ["no field 'speed'"]),
        ({"match": "^Loaded the model ("}, ["'load'", "not valid"]),
        ({"match": r"\w\d+"}, ["no literal text"]),
        ({"match": None}, ["needs a name and a pattern"]),
        ({"name": None}, ["needs a name and a pattern"]),
        ({"samples": []}, ["'load'", "no sample"]),
        ({"samples": None}, ["no sample"]),
        ({"scope": "everyone"}, ["scope is one of"]),
        ({"traceback": "loud"}, ["traceback is fatal or quiet"]),
        ({"colour": "red"}, ["unknown key 'colour'"]),
        ({"emit": "Fault", "set": {"kind": "gremlins"}, "match": "^Loaded the"}, ["'kind' cannot be 'gremlins'"]),
        ({"emit": None, "match": "^Loaded the model"}, ["no event has no field 'phase'"]),
        ({"samples": ["Something else"]}, ["does not match its sample 'Something else'"]),
        ({"traceback": "fatal", "kind": "gremlins"}, ["'gremlins' is no kind of fault"]),
    ],
)
def test_a_wrong_rule_is_rejected_with_a_sentence(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        with_rule(**changes)
    for word in ["demo.toml", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"name": None}, "needs a 'name'"),
        ({"title": None}, "needs a 'title'"),
        ({"label": "("}, "label pattern is not valid"),
        ({"launch": {"speed": ["x"]}}, "Launch has no field 'speed'"),
        ({"command": {"flags": {"speed": ["--x"]}}}, "Launch has no field 'speed'"),
        ({"headers": [{"match": "("}]}, "is not valid"),
        ({"headers": [{"match": r"\[\d+\] "}]}, "has no sample"),
        ({"headers": [{"match": r"\[\d+\] ", "samples": ["[x] "]}]}, "does not match it"),
        ({"titles": [{"part": "boss", "match": "x", "samples": ["x"]}]}, "not 'boss'"),
        ({"titles": [{"part": "child", "match": "(", "samples": ["x"]}]}, "is not valid"),
        ({"titles": [{"part": "child", "match": "x", "samples": []}]}, "has no sample"),
        ({"titles": [{"part": "child", "match": "x", "samples": ["y"]}]}, "is not recognised"),
        ({"rules": [RULE, RULE]}, "stands there twice"),
    ],
)
def test_a_wrong_engine_is_rejected_with_a_sentence(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError) as caught:
        engine(**changes)
    assert "demo.toml" in str(caught.value)
    assert word in str(caught.value)


def test_the_first_rule_wins_and_main_lines_have_no_labels() -> None:
    first = {**RULE, "name": "main-only", "scope": "main"}
    matcher = Matcher(engine(rules=[first, RULE]).rules)
    line = b"Loaded the model in 3.5 s"
    for labelled, name in ((False, "main-only"), (True, "load")):
        found = matcher.find(line, labelled=labelled)
        assert found is not None
        assert found[0].name == name


def test_the_line_itself_is_the_text_of_a_fault_harmless_and_without_secrets() -> None:
    rule = with_rule(emit="Fault", set={"kind": "config"}, match="went wrong", samples=["went wrong"]).rules[0]
    found = rule.pattern.search(b"it went wrong \x1b[31mwith api_key='abc'")
    assert found is not None
    assert Fault(at=0.0, **rule.values(found)).text == "it went wrong with api_key=***"


def test_a_rule_can_name_another_rank_than_the_one_that_wrote() -> None:
    rule = with_rule(
        emit="Fault", set={"kind": "killed"}, match=r"^Worker (?P<rank>\d+) died", samples=["Worker 1 died"]
    ).rules[0]
    found = rule.pattern.match(b"Worker 3 died")
    assert found is not None
    assert rule.labels(found, ()) == (("rank", 3),)


def test_commands_and_printed_arguments_give_fields_of_launch() -> None:
    demo = engine()
    argv = ["demo", "--model=/m", "--tp", "4", "--dpa", "--tp", "8", "--tp"]
    assert demo.read_command(argv) == {"model": "/m", "tp": 8, "dp_attention": True}
    assert demo.read_command(["demo", "--tp", "many"]) == {}
    values = demo.read_arguments("Args(tp_size=4, model_path='/m', other=None)")
    assert Launch(at=0.0, **values) == Launch(at=0.0, engine="demo", tp=4, model="/m")


def test_the_schema_leaves_place_and_time_to_the_decoder() -> None:
    for event in EMITTED:
        assert not {"at", "line", "stamp", "labels", "origin"} & set(schema_of(event))
    assert schema_of(Bar)["kind"].choices == {"shards", "graphs", "compile", "download", "autotune"}
