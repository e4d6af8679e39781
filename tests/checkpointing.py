"""Folders of checkpoints made for tests: safetensors files with real headers, an index, a Hugging Face cache."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

EAGLE3 = (
    *("embed_tokens.weight", "fc.weight", "norm.weight", "lm_head.weight", "d2t", "t2d"),
    *("midlayer.hidden_norm.weight", "midlayer.input_layernorm.weight", "midlayer.post_attention_layernorm.weight"),
    *(f"midlayer.self_attn.{part}_proj.weight" for part in "qkvo"),
    *(f"midlayer.mlp.{part}_proj.weight" for part in ("gate", "up", "down")),
)
"""Weight names as SGLang's EAGLE-3 class takes them."""


def renamed(names: Iterable[str], old: str, new: str) -> tuple[str, ...]:
    """Return names with another prefix where they begin with one."""
    return tuple(new + name.removeprefix(old) if name.startswith(old) else name for name in names)


def write_tensors(file: Path, names: Iterable[str] = ("w",), *, padding: int = 0) -> None:
    """Write a safetensors file with a two-byte tensor of each name; `padding` blanks lengthen its header."""
    table: dict[str, object] = {"__metadata__": {"format": "pt", "note": 'a "quoted" {brace}'}}
    for number, name in enumerate(names):
        table[name] = {"dtype": "BF16", "shape": [1], "data_offsets": [2 * number, 2 * number + 2]}
    header = json.dumps(table).encode() + b" " * padding
    file.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 2 * (len(table) - 1))


def write_shards(folder: Path, count: int, *, index: bool = True, names: str = "model.layers.{}.w") -> list[Path]:
    """Write a numbered series with one weight a file, an index, and a configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]
    for number, file in enumerate(files):
        write_tensors(file, [names.format(number)])
    if index:
        write_index(folder, {names.format(number): file.name for number, file in enumerate(files)})
    write_config(folder, "LlamaForCausalLM")
    return files


def write_index(folder: Path, weights: Mapping[str, str]) -> None:
    """Write which file holds which weight."""
    text = json.dumps({"metadata": {"total_size": 12345}, "weight_map": dict(weights)}, indent=2)
    (folder / "model.safetensors.index.json").write_text(text)


def write_config(folder: Path, architecture: str) -> None:
    """Write a configuration with architectures in several places."""
    table = {
        "architectures": [architecture],
        "eos_token_id": [1, 2],
        "text_config": {"architectures": ["InnerForCausalLM"], "rope": {"factor": 2.0}},
    }
    (folder / "config.json").write_text(json.dumps(table, indent=1))


def write_snapshot(cache: Path, name: str, commit: str, files: Mapping[str, bytes]) -> Path:
    """Write a repository as huggingface_hub does: blobs, and a snapshot of relative links to them."""
    store = cache / f"models--{name.replace('/', '--')}"
    snapshot = store / "snapshots" / commit
    for folder in (snapshot, store / "blobs", store / "refs"):
        folder.mkdir(parents=True)
    (store / "refs" / "main").write_text(commit)
    for number, (file, data) in enumerate(files.items()):
        (store / "blobs" / f"{number:064}").write_bytes(data)
        (snapshot / file).symlink_to(Path("../../blobs") / f"{number:064}")
    return snapshot
