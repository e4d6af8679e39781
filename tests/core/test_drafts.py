"""Which weight names a draft class takes, and what the files of the models give away while they load."""

from __future__ import annotations

from dataclasses import replace

import pytest
from checkpointing import EAGLE3, renamed
from timeline import FOLDER, Timeline, loading, serving

from bringup.core.checkpoints import checkpoint_warnings
from bringup.core.drafts import classes_for, fit, parse_drafts
from bringup.core.errors import UsageError
from bringup.core.events import Checkpoint, CheckpointSeen, Decoded, Server, ServerFound
from bringup.engines.drafts import load_drafts

DRAFT = "/models/draft"
DRAFTS = load_drafts()
LAYERS = renamed(EAGLE3, "midlayer.", "layers.0.")
MLA = ("fc.weight", "norm.weight", "layers.0.self_attn.kv_b_proj.weight", "layers.0.mlp.down_proj.weight")


def misfit(names: tuple[str, ...], version: str | None = "0.5.9", arch: str = "LlamaForCausalLMEagle3", **more: str):  # type: ignore[no-untyped-def]
    """Return how names fit SGLang's class."""
    engine = more.get("engine", "sglang")
    return fit(names, classes_for(DRAFTS, engine, version, [arch], more.get("algorithm", "EAGLE3")))


def test_names_that_fit() -> None:
    found = misfit(EAGLE3)
    assert found is not None
    assert (found.total, found.unknown, found.lacking) == (len(EAGLE3), (), ())


@pytest.mark.parametrize("version", ["0.4.9.post6", "0.5.9"])
def test_layers_by_number_are_dropped_by_older_versions(version: str) -> None:
    found = misfit(LAYERS, version)
    assert found is not None
    assert len(found.unknown) == 10
    assert found.lacking == ("midlayer.self_attn", "midlayer.mlp")
    assert found.silent


@pytest.mark.parametrize("version", ["0.5.15", "0.5.23", None, "0.5.12"])
def test_layers_by_number_are_taken_later_and_not_accused_where_the_version_does_not_tell(version: str | None) -> None:
    found = misfit(LAYERS, version)
    assert found is not None
    assert not found.unknown
    assert not found.lacking


def test_other_classes() -> None:
    assert misfit(MLA, arch="Eagle3DeepseekV2ForCausalLM").unknown == ()
    assert misfit(tuple(f"model.{name}" for name in MLA), arch="Eagle3DeepseekV2ForCausalLM").lacking
    assert misfit(EAGLE3, arch="Eagle3DeepseekV2ForCausalLM").lacking == ("layers.0.self_attn",)
    assert misfit(("model.layers.0.mlp.w",), arch="DeepseekV3ForCausalLMNextN").lacking == ("eh_proj", "enorm", "hnorm")
    assert misfit(LAYERS, "0.11.0", engine="vllm").unknown == ()


@pytest.mark.parametrize("arch", ["SomethingNew", ""])
def test_nothing_is_said_of_a_class_that_is_not_known(arch: str) -> None:
    assert misfit(EAGLE3, arch=arch) is None
    assert misfit(()) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": ["b"]}, "sample 'b' is not taken"),
        ({"strangers": ["a"]}, "'a' is taken"),
        ({"needs": {"fc": "c"}}, "nothing is there for 'fc'"),
        ({"takes": ["("]}, "not valid"),
        ({"colour": 1}, "unknown key 'colour'"),
        ({"architectures": []}, "has no architectures"),
    ],
)
def test_a_wrong_file(change: dict[str, object], words: str) -> None:
    row = {"name": "N", "engine": "e", "architectures": ["A"], "takes": ["a"], "samples": ["a"]}
    assert len(parse_drafts({"drafts": [row]}, "own.toml")) == 1
    with pytest.raises(UsageError, match=words):
        parse_drafts({"drafts": [{**row, **change}]}, "own.toml")


# --- the warnings ---

SHARDS = tuple(f"model-{n:05}-of-00024.safetensors" for n in range(1, 25))


def seen(line: Timeline, **more: object) -> Timeline:
    """Let the files of a model be seen."""
    values = {"role": "target", "folder": FOLDER, "model": FOLDER, "seen_at": line.now, **more}
    return line.add(CheckpointSeen(at=line.now, checkpoint=Checkpoint(**values)))  # type: ignore[arg-type]


def told(line: Timeline, kind: str) -> list[str]:
    """Return the warnings of one kind."""
    return [warning.detail for warning in line.verdict().warnings if warning.kind == kind]


def drafted(names: tuple[str, ...], version: str = "0.5.9") -> Timeline:
    """A start whose draft has these weight names."""
    line = loading(2, algorithm="EAGLE3", draft_model=DRAFT, version=version)
    return seen(line, role="draft", folder=DRAFT, model=DRAFT, names=names, architectures=("LlamaForCausalLMEagle3",))


def test_a_draft_that_cannot_fit_is_said_while_it_loads() -> None:
    line = drafted(LAYERS)
    assert line.verdict().state == "starting"
    (text,) = told(line, "draft-mismatch")
    assert text == (
        "LlamaForCausalLMEagle3 leaves out without a word 10 of the 16 weight names of the draft, such as "
        "layers.0.hidden_norm.weight and layers.0.input_layernorm.weight, "
        "and finds nothing for midlayer.self_attn and midlayer.mlp"
    )
    assert next(warning.advice for warning in line.verdict().warnings if warning.kind == "draft-mismatch")


def test_a_draft_that_fits_is_not_warned_of() -> None:
    assert told(drafted(EAGLE3), "draft-mismatch") == []
    assert told(drafted(LAYERS, version="0.5.23"), "draft-mismatch") == []


def test_a_buffer_more_than_the_class_wants_is_no_mismatch() -> None:
    many = (*EAGLE3, *(f"midlayer.self_attn.{p}_proj.weight_scale" for p in "qkvo"), "extra_buffer")
    assert told(drafted(many), "draft-mismatch") == []


def test_a_draft_that_is_accepted_is_not_accused_any_more() -> None:
    line = drafted(LAYERS).reached("ready")
    for _ in range(3):
        line.add(Decoded(at=line.now, accept_len=2.7, running=2))
    assert told(line, "draft-mismatch") == []


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (LAYERS, "LlamaForCausalLMEagle3 did not load 10 of its 16 weight names"),
        (EAGLE3, "its weight names fit LlamaForCausalLMEagle3, so check that it was trained for this target"),
        ((), "check that its weight names are those that the engine's class takes"),
    ],
)
def test_a_draft_that_is_never_accepted_says_what_to_check(names: tuple[str, ...], words: str) -> None:
    line = serving(2, algorithm="EAGLE3", draft_model=DRAFT, version="0.5.9")
    seen(line, role="draft", folder=DRAFT, model=DRAFT, names=names, architectures=("LlamaForCausalLMEagle3",))
    for _ in range(3):
        line.add(Decoded(at=line.now, accept_len=1.0, running=2))
    assert line.verdict().state == "degraded"
    assert any(words in text for text in told(line, "draft-mismatch"))


def test_decode_lines_of_the_warm_up_are_no_traffic() -> None:
    line = loading(1, algorithm="EAGLE3").end("weights").reached("http-up")
    for _ in range(5):
        line.add(Decoded(at=line.now, accept_len=1.0, running=1))
    line.reached("ready").add(Decoded(at=line.now, accept_len=1.0, running=1))
    assert line.verdict().state == "ready"
    for _ in range(5):
        line.add(Decoded(at=line.now, accept_len=1.0, running=0))
    assert line.verdict().state == "ready"


def test_one_shard_of_24_is_missing() -> None:
    line = seen(loading(2), present=SHARDS[:22] + SHARDS[23:], expected=SHARDS, basis="index")
    (text,) = told(line, "missing-shards")
    assert text == (
        "1 of 24 weight files of the target is not in /models/target, by its index: model-00023-of-00024.safetensors"
    )
    line.end("weights", [0, 1]).reached("ready")
    assert line.verdict().state == "ready"
    assert told(line, "missing-shards") == [text]
    assert told(seen(line, present=SHARDS, expected=SHARDS, basis="index"), "missing-shards") == []


def test_files_without_weights() -> None:
    line = seen(loading(2), present=SHARDS[2:], expected=SHARDS, broken=SHARDS[:2], basis="numbering")
    (text,) = told(line, "missing-shards")
    assert "empty, or pointers of git-lfs" in text
    assert SHARDS[1] in text


def test_a_download_is_not_called_missing() -> None:
    folder = "/root/.cache/huggingface/hub/models--o--m/snapshots/ab12"
    line = Timeline().launch(model="o/m", tp=1)
    seen(line, model="o/m", folder=folder, present=SHARDS[:3], expected=SHARDS, basis="index")
    assert told(line, "missing-shards") == []
    line.wait(9).begin("weights").wait(60)
    assert told(line, "missing-shards") == []
    line.bar(0, 24)
    assert told(line, "missing-shards") == []
    seen(line.wait(1), model="o/m", folder=folder, present=SHARDS[:23], expected=SHARDS, basis="index")
    assert len(told(line, "missing-shards")) == 1


def test_slow_storage() -> None:
    line = seen(loading(1), present=SHARDS, size=240_000_000_000, filesystem="nfs4", remote=True)
    line.wait(50).bar(4, 24)
    assert told(line, "slow-storage") == []
    line.wait(550).bar(6, 24)
    (text,) = told(line, "slow-storage")
    assert text == (
        "The target's files lie on a network file system (nfs4, /models/target): 60 of 240 GB in 10 min, 100 MB/s"
    )


@pytest.mark.parametrize("more", [{"remote": False}, {"remote": True, "size": 0}])
def test_a_disk_that_is_here_is_not_called_slow_storage(more: dict[str, object]) -> None:
    line = seen(loading(1), **{"present": SHARDS, "size": 240_000_000_000, "filesystem": "xfs", **more})
    assert told(line.wait(600).bar(6, 24), "slow-storage") == []


def test_a_fast_remote_one_is_not() -> None:
    line = seen(loading(1), present=SHARDS, size=240_000_000_000, filesystem="lustre", remote=True)
    assert told(line.wait(100).bar(12, 24), "slow-storage") == []


def test_the_files_of_another_launch_say_nothing() -> None:
    line = seen(loading(1), expected=SHARDS, basis="index", model="/models/other")
    assert told(line, "missing-shards") == []
    line = seen(Timeline().found(port=1), expected=SHARDS, basis="index")
    assert len(line.state.checkpoints) == 1
    again = replace(line.state.server, pid=4712, start=9) if line.state.server else None
    assert isinstance(again, Server)
    line.add(ServerFound(at=line.now, server=again))
    assert line.state.checkpoints == ()
    assert checkpoint_warnings(line.state, line.now, line.policy) == ()
