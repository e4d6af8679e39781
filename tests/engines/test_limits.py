"""The time limits as data."""

from __future__ import annotations

from typing import Any

import pytest

from bringup.core.countdowns import holds_for
from bringup.core.errors import UsageError
from bringup.engines.countdowns import load_limits, parse_limits
from bringup.engines.patience import load_policy, parse_policy

GOOD: dict[str, Any] = {
    "name": "a barrier",
    "phase": "weights",
    "starts": "first-end",
    "seconds": 60,
    "samples": ["", "1.0.0"],
}


def parse(**more: Any) -> None:
    parse_limits({"countdowns": [{**GOOD, **more}]}, "own.toml")


def test_the_shipped_limits_are_read_and_in_the_policy():
    limits = load_limits()
    assert {limit.name for limit in limits} >= {"the load barrier", "torch's process group", "the warm-up request"}
    assert load_policy().limits == limits


@pytest.mark.parametrize(
    ("version", "seconds"), [("0.4.3", []), ("0.4.4", [300]), ("0.5.5", [300]), ("0.5.6", [480]), (None, [480])]
)
def test_one_load_barrier_a_version(version: str | None, seconds: list[float]):
    barriers = [limit for limit in load_limits() if limit.name == "the load barrier"]
    assert [limit.seconds for limit in barriers if holds_for(limit, version)] == seconds


@pytest.mark.parametrize(
    "wrong",
    [
        {"starts": "sometime"},
        {"starts": "milestone"},
        {"milestone": "ready"},
        {"phase": "lunch"},
        {"group": "friends"},
        {"needs": "luck"},
        {"seconds": 0},
        {"seconds": "long"},
        {"seconds": True},
        {"set_by": "colour"},
        {"samples": []},
        {"since": "2.0.0"},
        {"until": "0.9.0"},
        {"colour": "red"},
    ],
)
def test_a_wrong_limit_is_refused_in_words(wrong: dict[str, Any]):
    parse()
    with pytest.raises(UsageError, match=r"own\.toml"):
        parse(**wrong)


def test_thresholds_of_signs_can_be_overlaid_and_misspelt_ones_are_refused():
    assert load_policy({"signs": {"gpu_full": 90}}).signs.gpu_full == 90
    assert load_policy({"signs": {"gpu_full": 90}}).signs.fresh == load_policy().signs.fresh
    with pytest.raises(UsageError, match="gpu_ful"):
        load_policy({"signs": {"gpu_ful": 90}})


def test_thresholds_of_processes_hold_for_every_phase_unless_it_gives_its_own():
    policy = load_policy({"patience": {"default": {"stuck": 45}, "weights": {"stopped": 9}}})
    assert (policy.patience["graphs"].stuck, policy.patience["graphs"].stopped) == (45, 3)
    assert (policy.patience["weights"].stuck, policy.patience["weights"].stopped) == (45, 9)


def test_compilers_are_a_list_of_names():
    assert "cicc" in load_policy().compilers
    with pytest.raises(UsageError, match="list"):
        load_policy({"compilers": "nvcc"})


def test_a_policy_of_tables_alone_has_no_limits():
    table = {"patience": {"default": {"slow": 1, "stalled": 2, "compiling": 3, "stopped": 1, "stuck": 1}}}
    rest = {"accept_floor": 1, "accept_lines": 3, "stale_after": 3, "busy_factor": 3}
    assert parse_policy({**table, **rest}, {}).limits == ()
