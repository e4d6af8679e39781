"""The scenarios that come with the demo can be played, and nonsense is refused with a sentence."""

import pytest

from bringup.core.errors import UsageError
from bringup.demo import scenarios
from bringup.demo.plan import FAULTS, read, save


@pytest.mark.parametrize("name", scenarios.names())
def test_each_scenario_says_what_it_shows(name: str, tmp_path) -> None:
    scenario = scenarios.load(name)
    assert scenario.name == scenario.plan.name == name
    assert scenario.title
    assert scenario.description.endswith(".")
    assert "\n" not in scenario.description
    save(scenario.plan, tmp_path / "plan.json")
    assert read(tmp_path / "plan.json") == scenario.plan


def test_the_healthy_one_comes_first_and_every_fault_has_one() -> None:
    names = scenarios.names()
    assert names[0] == "healthy"
    assert {scenarios.load(name).plan.fault.kind for name in names} == set(FAULTS)


def test_the_default_start_takes_about_a_minute() -> None:
    spans = scenarios.load().plan.durations
    phases = (spans.launch, spans.distributed, spans.weights, spans.draft, spans.kv_cache)
    assert 50 < sum(phases) + spans.graphs + spans.draft_graphs + spans.warmup < 70


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no demo scenario 'nothing'.*healthy, dead-draft"):
        scenarios.load("nothing")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"rank": 8}, "'rank' is no setting"),
        ({"durations": {"weight": 1.0}}, r"\['weight'\] in \[durations\] is no setting"),
        ({"durations": {"draft": 0.0}}, "draft must be more than 0 s"),
        ({"ranks": 0}, "ranks must be 1 to 16"),
        ({"shards": 501}, "shards must be 1 to 500"),
        ({"memory": {"target": 200.0}}, "do not fit"),
        ({"fault": {"kind": "fire"}}, "'fire' is no fault"),
        ({"ranks": 2, "fault": {"kind": "oom", "rank": 2}}, "a rank is named that does not exist"),
        ({"shards": 4, "fault": {"kind": "stall", "shard": 5}}, "a shard is named that does not exist"),
    ],
)
def test_what_cannot_be_played_is_refused(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=f"'mine' cannot be played: .*{sentence}"):
        scenarios.parse("mine", given)


def test_a_scenario_changes_only_what_it_says() -> None:
    changed = scenarios.parse("mine", {"durations": {"weights": 1.5}}).plan
    assert changed.durations.weights == 1.5
    assert changed.durations.graphs == scenarios.load("port-in-use").plan.durations.graphs
