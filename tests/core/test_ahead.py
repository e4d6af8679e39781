"""What still follows the current phase: no capture that is certain to come is passed over."""

import pytest
from timeline import Timeline, loading

from bringup.core.ahead import ahead
from bringup.core.phases import position

DRAFT = {"draft_model": "/models/draft", "algorithm": "EAGLE3"}
MORE = "any further graphs of the draft"


def loaded(**launch: object) -> Timeline:
    line = loading(1, **launch).end("weights", [0], model_class="LlamaForCausalLM")
    if launch.get("draft_model"):
        line.begin("weights", [0], role="draft").end("weights", [0], role="draft", model_class="LlamaForCausalLMEagle3")
    return line


def follows(line: Timeline) -> tuple[str, ...]:
    return ahead(line.state.attempt, position(line.state))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([], ("the graphs", "the warm-up")),
        ([("target", "prefill")], ("the verify graphs", "the draft's graphs", "the warm-up")),
        ([("target", "verify")], ("the draft's graphs", "the warm-up")),
        ([("target", "prefill"), ("target", "verify")], ("the draft's graphs", "the warm-up")),
        ([("target", "verify"), ("draft", "prefill")], (MORE, "the warm-up")),
        ([("target", "verify"), ("draft", "decode")], (MORE, "the warm-up")),
        ([("target", "verify"), ("draft", "decode"), ("draft", "extend")], ("the warm-up",)),
    ],
)
def test_with_a_draft(parts, expected):
    line = loaded(**DRAFT)
    for index, (role, part) in enumerate(parts):
        if index:
            line.end("graphs", [0], role=parts[index - 1][0], part=parts[index - 1][1])
        line.wait(1).begin("graphs", [0], role=role, part=part)
    assert follows(line) == expected


@pytest.mark.parametrize(
    ("part", "expected"), [("prefill", ("the decode graphs", "the warm-up")), ("decode", ("the warm-up",))]
)
def test_without_a_draft(part, expected):
    assert follows(loaded().begin("graphs", [0], role="target", part=part)) == expected


def test_releases_that_load_the_draft_after_the_targets_graphs():
    line = loading(1, **DRAFT).end("weights", [0]).begin("graphs", [0], role="target", part="decode")
    assert follows(line) == ("the draft's weights", "the draft's graphs", "the warm-up")


def test_vllm_captures_all_in_one():
    line = Timeline().launch(engine="vllm", tp=1, **DRAFT).begin("weights", [0]).end("weights", [0])
    line.begin("weights", [0], role="draft").end("weights", [0], role="draft")
    assert follows(line.begin("graphs", [0], role="target", part="prefill")) == ("the warm-up",)


def test_the_time_left_does_not_say_that_the_warm_up_is_next():
    line = loaded(**DRAFT).begin("graphs", [0], role="target", part="verify")
    for done in range(1, 12):
        line.wait(1).bar(done, 24, kind="graphs")
    assert line.verdict().eta_basis.endswith("; then the draft's graphs and the warm-up follow")
