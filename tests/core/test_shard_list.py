"""Which mapped files are weights, of which model, and how many of them there are."""

import pytest
from timeline import FOLDER, Timeline, loading

from bringup.core.events import Checkpoint, CheckpointSeen
from bringup.core.shard_list import looks_like_weights, total_of

DRAFT = "/models/draft"
INDEXED = ("layers-a.safetensors", "layers-b.safetensors", "layers-c.safetensors", "layers-d.safetensors")


def listed(line, *names, role="target", folder=FOLDER, **more) -> Timeline:
    """Let the host's look at a model's folder arrive; all files of the index are there unless told otherwise."""
    files = {"present": names, "expected": names, "basis": "index", **more}
    return line.add(CheckpointSeen(at=line.now, checkpoint=Checkpoint(role=role, folder=folder, **files)))


def mapped(line: Timeline, rank: int, *files: str) -> Timeline:
    return line.wait(1).change(rank, shards=files).sample()


def seen(line: Timeline, rank: int = 0) -> dict[str, tuple[int, int]]:
    """By model: files opened and files read of a rank."""
    known = line.state.attempt.ranks[rank].shards
    return {shards.role: (len(shards.seen), shards.read) for shards in known if shards.seen}


@pytest.mark.parametrize(
    ("file", "weights"),
    [
        ("/m/model-00003-of-00011.safetensors", True),
        ("/m/model.safetensors", True),
        ("/m/consolidated.safetensors", True),
        ("/m/llama-q4.gguf", True),
        ("/m/pytorch_model-00001-of-00002.bin", True),
        ("/m/pytorch_model.bin", True),
        ("/m/consolidated.00.pth", True),
        ("/cache/models--a--b/blobs/" + "0f" * 32, True),
        ("/m/tokenizer.bin", False),
        ("/m/adapter_model.safetensors", False),
        ("/m/training_args.bin", False),
        ("/opt/lib/python3.12/site-packages/kernels/table.bin", False),
        ("/opt/lib/python3.12/dist-packages/pkg/model.safetensors", False),
        ("/usr/share/icu/icudt.bin", False),
    ],
)
def test_what_looks_like_weights(file, weights):
    assert looks_like_weights(file) is weights


def test_the_index_is_the_total_where_names_have_no_number_and_no_bar_is_drawn():
    line = listed(loading(2).spawn(2), *INDEXED)
    for name in INDEXED[:3]:
        mapped(line, 1, f"{FOLDER}/{name}")
    view = line.verdict().ranks[1]
    assert (view.source, view.done, view.total, view.progress) == ("maps", 2, 4, 0.5)


def test_without_a_list_names_without_a_number_tell_no_share():
    view = mapped(loading(2).spawn(2), 1, f"{FOLDER}/{INDEXED[0]}").verdict().ranks[1]
    assert (view.progress, view.source) == (None, "none")


def test_a_list_that_comes_late_counts_what_was_seen_before():
    line = loading(2).spawn(2)
    for name in INDEXED[:3]:
        mapped(line, 1, f"{FOLDER}/{name}")
    assert listed(line, *INDEXED).verdict().ranks[1].done == 2


def test_files_that_stand_in_no_list_are_no_progress():
    line = listed(loading(2, algorithm="NGRAM").spawn(2), *INDEXED)
    for name in ("extra.safetensors", "tokenizer.bin", "model-00001-of-00009.safetensors"):
        mapped(line, 0, f"{FOLDER}/{name}", "/opt/data/table.safetensors")
    assert seen(line) == {}
    assert seen(mapped(line, 0, f"{FOLDER}/{INDEXED[0]}")) == {"target": (1, 0)}


def test_strangers_that_were_counted_are_counted_no_more_once_the_list_is_known():
    line = loading(2, algorithm="NGRAM").spawn(2)
    for name in ("extra.safetensors", "more.safetensors", INDEXED[0], INDEXED[1]):
        mapped(line, 0, f"{FOLDER}/{name}")
    assert seen(line) == {"target": (4, 3)}
    assert seen(listed(line, *INDEXED)) == {"target": (2, 1)}


def test_the_folder_of_the_list_tells_the_draft_from_the_target_whatever_the_names_say():
    line = loading(2, algorithm="EAGLE3", draft_model="org/draft", model="org/target").spawn(2)
    listed(line, "model.safetensors", folder="/data/x1")
    listed(line, "model.safetensors", role="draft", folder="/data/x2")
    assert seen(mapped(line, 0, "/data/x2/model.safetensors")) == {"draft": (1, 0)}
    assert seen(mapped(line, 0, "/data/x1/model.safetensors")) == {"draft": (1, 1), "target": (1, 0)}


def test_a_draft_in_a_folder_within_the_targets_is_the_drafts():
    line = loading(2, algorithm="EAGLE", draft_model=f"{FOLDER}/mtp").spawn(2)
    listed(line, *INDEXED)
    listed(line, "layers-a.safetensors", role="draft", folder=f"{FOLDER}/mtp")
    assert seen(mapped(line, 0, f"{FOLDER}/mtp/layers-a.safetensors")) == {"draft": (1, 0)}


def test_one_folder_for_both_models_is_told_apart_by_the_load_that_is_open():
    line = listed(loading(1, algorithm="NEXTN").spawn(1, title="sglang::scheduler"), *INDEXED)
    listed(line, *INDEXED, role="draft")
    mapped(line, 0, f"{FOLDER}/{INDEXED[3]}")
    mapped(line.end("weights", model_class="DeepseekV3ForCausalLM").begin("weights"), 0)
    assert seen(mapped(line, 0, f"{FOLDER}/{INDEXED[0]}")) == {"target": (1, 1), "draft": (1, 0)}


def test_what_is_still_mapped_of_the_target_is_no_beginning_of_the_draft():
    line = listed(loading(1, algorithm="NEXTN").spawn(1, title="sglang::scheduler"), *INDEXED)
    listed(line, *INDEXED, role="draft")
    last, first = f"{FOLDER}/{INDEXED[3]}", f"{FOLDER}/{INDEXED[0]}"
    mapped(line, 0, last)
    line.end("weights", model_class="DeepseekV3ForCausalLM").begin("weights")
    assert seen(mapped(line, 0, first, last)) == {"target": (1, 0), "draft": (1, 0)}


def test_a_path_of_another_mount_namespace_is_known_by_its_name():
    line = listed(loading(2, algorithm="NGRAM").spawn(2), *INDEXED)
    assert seen(mapped(line, 0, f"/mnt/weights/{INDEXED[1]}")) == {"target": (1, 0)}


def test_a_shard_that_is_missing_on_disk_is_no_step_of_the_load():
    names = tuple(f"model-{n:05}-of-00004.safetensors" for n in range(1, 5))
    line = listed(loading(2).spawn(2), present=(*names[:2], names[3]), expected=names)
    for name in (*names[:2], names[3]):
        mapped(line, 0, f"{FOLDER}/{name}")
    view = mapped(line, 0).verdict().ranks[0]
    assert (view.done, view.total) == (3, 3)
    assert view.progress is not None
    assert view.progress < 1.0


def test_the_list_of_another_model_says_nothing():
    line = listed(loading(2).spawn(2), *INDEXED, model="/models/before")
    assert total_of(line.state, "target") is None


def test_the_place_in_the_list_stands_for_a_number():
    """Between two samples a file came and went: its successor's place proves it."""
    names = tuple(f"part-{letter}.safetensors" for letter in "abcdefghij")
    line = listed(loading(2).spawn(2), *names)
    for letter in "abcf":
        mapped(line, 0, f"{FOLDER}/part-{letter}.safetensors")
    assert line.verdict().ranks[0].done == 5
