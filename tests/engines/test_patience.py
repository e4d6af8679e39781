import pytest

from bringup.core.errors import UsageError
from bringup.core.events import PHASES
from bringup.engines.patience import load_policy, parse_policy


def test_every_phase_has_a_patience_that_makes_sense():
    policy = load_policy()
    for phase in (*PHASES, "default"):
        patience = policy.patience[phase]
        assert 0 < patience.slow < patience.stalled <= patience.compiling
        assert patience.blind >= patience.stalled


def test_an_overlay_may_change_one_value_of_a_phase():
    policy = load_policy({"patience": {"weights": {"stalled": 60}}, "accept_floor": 1.5, "advice": {"oom": "Ask."}})
    assert policy.patience["weights"].stalled == 60
    assert policy.patience["weights"].slow == load_policy().patience["weights"].slow
    assert (policy.accept_floor, policy.advice["oom"]) == (1.5, "Ask.")
    assert policy.advice["nccl"] == load_policy().advice["nccl"]


@pytest.mark.parametrize(
    "overlay",
    [{"patience": {"weights": {"slow": "soon"}}}, {"accept_floor": True}, {"stale_after": -1}, {"patience": {"x": {}}}],
)
def test_a_wrong_value_is_refused_in_words(overlay):
    with pytest.raises(UsageError, match="is"):
        load_policy(overlay)


def test_the_default_must_be_there():
    with pytest.raises(UsageError, match="missing"):
        parse_policy({}, {})
