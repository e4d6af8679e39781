"""How far a rank is, and by which channel: loaders that map files, loaders that do not, captures, totals cut short."""

import pytest
from timeline import FOLDER, Timeline, loading

from bringup.core.events import Checkpoint, CheckpointSeen

GIB = 1024**3


def read_by_thread(line: Timeline, rank: int, *samples: set[int], of: int = 11) -> list[tuple[int | None, int]]:
    """Let a rank's maps be sampled; returns (read, opened) after each sample."""
    seen = []
    for mapped in samples:
        view = line.wait(1).map(rank, *sorted(mapped), of=of).sample().verdict().ranks[rank]
        seen.append((view.done, round((view.opened or 0) * of + 0.01)))
    return seen


def test_a_loader_with_one_thread_has_read_what_stands_before_the_open_file():
    assert read_by_thread(loading(2).spawn(2), 1, {1}, {2}, {3}, {5}) == [(0, 1), (1, 2), (2, 3), (4, 5)]


def test_a_loader_with_many_threads_opens_ahead_and_what_is_opened_is_not_loaded():
    """As SGLang 0.5.23 does on slow storage: everything open long before the first file is put away."""
    line = loading(2).spawn(2)
    ahead = [set(range(1, last + 1)) for last in (1, 3, 5, 8, 10, 11)]
    seen = read_by_thread(line, 1, *ahead, {5, 6, 7, 8, 9, 10, 11}, {11}, set())
    assert [read for read, _ in seen] == [0, 0, 0, 0, 0, 0, 4, 10, 11]
    assert [opened for _, opened in seen] == [1, 3, 5, 8, 10, 11, 11, 11, 11]
    assert line.verdict().ranks[1].progress == 0.99


def test_only_the_ranks_own_line_makes_a_load_full():
    line = loading(2).spawn(2)
    read_by_thread(line, 1, {1}, {2}, {3}, set(), of=3)
    assert line.verdict().ranks[1].progress == 0.99
    assert line.end("weights", [1], seconds=4.0).verdict().ranks[1].progress == 1.0


@pytest.mark.parametrize(
    ("load_format", "note"),
    [
        ("dummy", "random weights, no file is read"),
        ("fastsafetensors", "its loader maps no files"),
        ("runai_streamer", "its loader maps no files"),
        ("auto", "maps no file of the model"),
    ],
)
def test_a_loader_that_maps_nothing_is_said_to_be_one(load_format, note):
    line = loading(2, load_format=load_format).spawn(2).change(1, shards=()).wait(20).sample()
    view = line.verdict().ranks[1]
    assert (view.progress, view.source, view.note) == (None, "none", note)


def test_maps_that_cannot_be_read_are_not_called_empty():
    assert loading(2).spawn(2).wait(20).sample().verdict().ranks[1].note == "begun"


def test_a_loader_that_reads_instead_of_mapping_shows_its_bytes_and_no_share():
    line = loading(2).spawn(2).change(1, shards=(), rchar=30_000_000).sample()
    line.wait(9).change(1, rchar=30_000_000 + 3 * GIB).sample()
    view = line.verdict().ranks[1]
    assert (view.progress, view.source, view.note) == (None, "none", "has read 3.0 GiB, maps no files")


def test_what_was_read_before_the_load_is_not_the_load():
    line = Timeline().launch(tp=2).spawn(2).wait(9).change(1, shards=(), rchar=9 * GIB).sample()
    line.begin("weights", [0, 1]).wait(5).change(1, rchar=9 * GIB + 4096).sample()
    assert line.verdict().ranks[1].note == "maps no file of the model"


def test_a_streamer_counts_tensors_and_they_are_no_total_for_files():
    line = loading(2).spawn(2).bar(120, 240, files=False).change(1, shards=(f"{FOLDER}/model.safetensors",)).wait(1)
    views = line.sample().verdict().ranks
    assert (views[0].progress, views[0].note) == (0.5, "tensor 120/240")
    assert views[1].progress is None


def test_a_bar_that_may_be_cut_short_is_no_share():
    """`1/4` at the end of the bytes can be the beginning of `1/48`."""
    line = loading(2).bar(1, 4, provisional=True)
    assert line.verdict().ranks[0].progress is None
    assert line.bar(1, 48).verdict().ranks[0].progress == pytest.approx(1 / 48)


def test_a_cut_bar_whose_total_the_list_confirms_is_one():
    names = tuple(f"model-{n:05}-of-00004.safetensors" for n in range(1, 5))
    line = loading(2)
    line.add(CheckpointSeen(at=line.now, checkpoint=Checkpoint("target", FOLDER, present=names, expected=names)))
    assert line.bar(1, 4, provisional=True).verdict().ranks[0].progress == 0.25


def test_captures_imply_those_of_peers_only_as_long_as_nothing_else_speaks():
    line = loading(2).end("weights", [0, 1]).begin("graphs", [0, 1], role="target", part="decode")
    line.bar(6, 12, kind="graphs")
    assert [(view.progress, view.source) for view in line.verdict().ranks] == [(0.5, "log"), (0.5, "peers")]
    line.end("graphs", [1], role="target", part="decode")
    assert line.verdict().ranks[1].source == "log"


def test_a_compile_on_one_rank_implies_nothing_of_the_others():
    line = loading(2).end("weights", [0, 1]).begin("compile", [0]).bar(6, 12, kind="compile")
    assert [(view.progress, view.source) for view in line.verdict().ranks] == [(0.5, "log"), (None, "none")]


def test_a_rank_that_has_not_begun_is_not_measured_by_its_bar_or_memory():
    line = Timeline().launch(tp=2).begin("weights", [1]).wait(3)
    assert [view.note for view in line.verdict().ranks] == ["not begun", "begun"]


TARGET_CLASS, DRAFT_CLASS = "LlamaForCausalLM", "LlamaForCausalLMEagle3"


def test_a_draft_loaded_after_the_targets_captures_is_a_load_of_its_own():
    """SGLang to 0.5.13."""
    line = loading(2, algorithm="EAGLE3", draft_model="/models/draft").spawn(2)
    read_by_thread(line, 1, {1}, {2}, {3}, of=4)
    line.end("weights", [0, 1], model_class=TARGET_CLASS).begin("graphs", [0, 1], part="decode")
    line.end("graphs", [0, 1], part="decode").begin("weights", [0, 1])
    line.wait(1).map(1, 1, of=2, folder="/models/draft").sample().wait(1).map(
        1, 2, of=2, folder="/models/draft"
    ).sample()
    view = line.verdict().ranks[1]
    assert (view.phase, view.role, view.done, view.total) == ("weights", "draft", 1, 2)


def test_a_draft_loaded_directly_after_the_target_is_a_load_of_its_own():
    """SGLang from 0.5.14: one rank is at the draft already, the other still reads the target."""
    line = loading(2, algorithm="EAGLE3", draft_model="/models/draft").spawn(2)
    read_by_thread(line, 0, {1}, {2}, of=4)
    line.end("weights", [1], model_class=TARGET_CLASS).begin("weights", [1])
    line.wait(1).map(1, 1, of=2, folder="/models/draft").map(0, 3, of=4).sample()
    views = line.verdict().ranks
    assert [(view.role, view.done, view.total) for view in views] == [("target", 2, 4), ("draft", 0, 2)]
    assert views[0].progress == 0.5
