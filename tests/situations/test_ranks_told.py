"""How many ranks there are, where only the operator knows: a log that begins in the middle, without its command."""

from __future__ import annotations

from dataclasses import replace

import pytest
from story import Story, loading

from bringup.cli.targets import choose
from bringup.config.shapes import Config, Target


def middle(*told: int) -> Story:
    """Return a log of which the begin is lost: two of its ranks have spoken."""
    story = Story(sampled=False)
    story.policy = replace(story.policy, ranks=told)
    return story.begin("weights", (0, 1), role="target").wait(5)


def test_without_the_operators_word_nobody_knows_who_is_missing() -> None:
    assert middle().look().ranks_expected is None


def test_a_rank_that_has_not_spoken_is_missing() -> None:
    story = middle(0, 1, 2, 3)
    story.end("weights", (0, 1), role="target", seconds=5.0)
    verdict = story.expect("starting", ranks_expected=4, phase="weights", words="2 of 4 ranks done")
    assert [view.rank for view in verdict.ranks] == [0, 1, 2, 3]


def test_nothing_is_expected_of_a_host_on_which_nothing_was_started() -> None:
    story = Story(sampled=False)
    story.policy = replace(story.policy, ranks=(0, 1))
    assert story.expect("waiting").ranks == ()


def test_the_arguments_of_the_launch_know_better() -> None:
    story = loading(2)
    story.policy = replace(story.policy, ranks=(0, 1, 2, 3))
    assert story.wait(3).look().ranks_expected == 2


@pytest.mark.parametrize(
    ("ranks", "shares"),
    [(16, [tuple(range(8)), tuple(range(8, 16))]), (3, [(), ()]), (None, [(), ()])],
)
def test_each_node_has_its_share(ranks: int | None, shares: list[tuple[int, ...]]) -> None:
    config = Config(targets={"two": Target(hosts=["node1", "node2"], ranks=ranks)})
    assert [node.ranks for node in choose("two", config=config).nodes] == shares


def test_a_target_on_one_host_has_all() -> None:
    config = Config(targets={"one": Target(host="node1", ranks=4)})
    assert choose("one", config=config).ranks == (0, 1, 2, 3)
    assert choose("node1", config=config).ranks == ()
