"""A first look in the middle of a load: what was read before it is concluded from the order, or not known; never 0."""

from timeline import Timeline, loading

from bringup.core.pace import slowest_left
from bringup.core.phases import position


def attached(ranks: int = 4, *, bar: int | None = 27) -> Timeline:
    """Return a load that runs already when its processes are looked at first."""
    line = loading(ranks)
    if bar is not None:
        line.bar(bar, 64)
    return line.wait(60).spawn(ranks)


def test_files_without_a_gap_prove_that_those_before_them_were_read():
    line = attached()
    for rank in range(4):
        line.map(rank, *range(28, 37))
    verdict = line.sample().verdict()
    assert [(view.done, view.total, view.source) for view in verdict.ranks] == [(27, 64, "maps")] * 4
    assert verdict.ranks[3].note == "shard 36/64 opened, 27 read by their numbers"
    assert "the last at shard 27 of 64" in verdict.summary
    assert not any(view.straggler for view in verdict.ranks)
    assert line.wait(1).map(3, *range(29, 38)).sample().verdict().ranks[3].done == 28


def test_of_a_single_file_nothing_is_known_before_others_have_followed():
    line = attached()
    for rank in range(4):
        line.map(rank, 28)
    verdict = line.sample().verdict()
    first, *others = verdict.ranks
    assert (first.progress, first.source, first.done) == (27 / 64, "log", 27)
    assert {(view.progress, view.done, view.source, view.note) for view in others} == {
        (None, None, "maps", "maps shard 28 of 64")
    }
    assert "0 of 64" not in verdict.summary
    assert "0/64" not in " ".join(verdict.evidence)
    assert verdict.summary.startswith("Loading")
    assert "the bar of rank 0 at 27 of 64" in verdict.summary
    for number in (29, 30):
        line.wait(1).map(1, number).sample()
    assert [view.done for view in line.verdict().ranks] == [27, 29, None, None]


def test_files_with_gaps_prove_nothing():
    line = attached(bar=None).map(1, 9, 30, 52).sample()
    view = line.verdict().ranks[1]
    assert (view.progress, view.opened, view.note) == (None, None, "maps 3 shards of 64")


def test_a_rank_of_which_nothing_is_known_is_not_behind():
    line = attached(bar=None)
    for rank in range(3):
        line.map(rank, *range(40, 49))
    verdict = line.map(3, 60).sample().verdict()
    assert [view.done for view in verdict.ranks] == [39, 39, 39, None]
    assert not any(view.straggler for view in verdict.ranks)


def test_a_rank_of_which_nothing_is_known_has_no_pace():
    line = attached(2, bar=None)
    for number in (50, 9, 31, 4, 44, 17):
        line.wait(10).map(1, number).sample()
    where = position(line.state)
    assert where.step is not None
    assert line.verdict().ranks[1].progress is None
    assert slowest_left(line.state, where.step, line.now) is None


def test_a_load_that_was_watched_from_its_begin_is_counted():
    line = loading(2).spawn(2).change(1, shards=()).sample()
    line.wait(1).map(1, 5).sample().wait(1).map(1, 9).sample()
    assert line.verdict().ranks[1].done == 1


def test_the_first_file_is_a_begin():
    line = attached(2, bar=None).map(1, 1).sample()
    assert (line.verdict().ranks[1].progress, line.verdict().ranks[1].note) == (0.0, "reads shard 1/64")


def test_of_a_start_that_has_failed_it_is_told_as_past():
    verdict = attached(2, bar=None).map(1, 28).sample().fault("oom", rank=0).verdict()
    assert verdict.ranks[1].note == "had mapped shard 28 of 64"


def test_the_list_of_channels_tells_what_is_mapped():
    verdict = attached(2, bar=None).map(1, 28).sample().verdict()
    assert next(view.says for view in verdict.channels if view.channel == "maps") == "TP1 maps shard 28 of 64"
