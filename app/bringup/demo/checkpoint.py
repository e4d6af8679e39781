"""Small checkpoints that look and are read like large ones: safetensors files, mapped shard by shard.

Format: https://github.com/huggingface/safetensors#format (8 bytes little-endian header size, JSON header, data).
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

SHARD_BYTES = 256 * 1024
ELEMENT = 2
"""Bytes of a BF16."""
EAGLE3 = {
    "fc.weight": (64, 192),
    "midlayer.hidden_norm.weight": (64,),
    "midlayer.input_layernorm.weight": (64,),
    "midlayer.mlp.down_proj.weight": (64, 128),
    "midlayer.mlp.gate_proj.weight": (128, 64),
    "midlayer.mlp.up_proj.weight": (128, 64),
    "midlayer.post_attention_layernorm.weight": (64,),
    "midlayer.self_attn.k_proj.weight": (32, 128),
    "midlayer.self_attn.o_proj.weight": (64, 64),
    "midlayer.self_attn.q_proj.weight": (64, 128),
    "midlayer.self_attn.v_proj.weight": (32, 128),
    "norm.weight": (64,),
    "lm_head.weight": (1024, 64),
}
"""Tensors of an EAGLE-3 draft, as published drafts name them, with small shapes."""


def make_target(folder: Path, architecture: str, shards: int) -> None:
    """Write a sparse checkpoint of `shards` files with its index and configuration."""
    folder.mkdir(parents=True)
    where: dict[str, str] = {}
    rows = SHARD_BYTES // ELEMENT // 64
    for number in range(1, shards + 1):
        name, tensor = f"model-{number:05}-of-{shards:05}.safetensors", f"model.layers.{number - 1}.mlp.weight"
        _write(folder / name, {tensor: (rows, 64)})
        where[tensor] = name
    index = {"metadata": {"total_size": shards * rows * 64 * ELEMENT}, "weight_map": where}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    _configure(folder, architecture)


def make_draft(folder: Path, architecture: str, prefix: str = "") -> None:
    """Write a draft model of one file; with a prefix before its weight names, the engine's class knows none of them."""
    folder.mkdir(parents=True)
    _write(folder / "model.safetensors", {prefix + name: shape for name, shape in EAGLE3.items()})
    _configure(folder, architecture)


def files(folder: Path) -> list[Path]:
    """Return the checkpoint's files in the order in which SGLang 0.5.10+ reads them."""
    return sorted(folder.glob("*.safetensors"))


def _configure(folder: Path, architecture: str) -> None:
    (folder / "config.json").write_text(json.dumps({"architectures": [architecture], "torch_dtype": "bfloat16"}))


def _write(path: Path, tensors: Mapping[str, Iterable[int]]) -> None:
    """Write a safetensors file whose data is a hole: valid, and without disk blocks."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, shape in tensors.items():
        size = ELEMENT
        for length in shape:
            size *= length
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)


class Mapped:
    """A file mapped into memory with no descriptor left open, as safetensors leaves none (mmap.mmap would keep one)."""

    def __init__(self, path: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        fd = os.open(path, os.O_RDONLY)
        try:
            self.size = os.fstat(fd).st_size
            size, offset = ctypes.c_size_t(self.size), ctypes.c_long(0)
            address = self._libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, offset)
        finally:
            os.close(fd)
        if address is None or address == ctypes.c_void_p(-1).value:
            number = ctypes.get_errno()
            raise OSError(number, f"mmap: {os.strerror(number)}", str(path))
        self._address: int = address
        self._touched = 0

    def touch(self, share: float) -> None:
        """Read one byte of each page up to `share` (0…1) of the file that was not read before."""
        end = int(self.size * min(1.0, share))
        while self._touched < end:
            ctypes.string_at(self._address + self._touched, 1)
            self._touched += mmap.PAGESIZE

    def close(self) -> None:
        """Unmap the file."""
        self._libc.munmap(ctypes.c_void_p(self._address), ctypes.c_size_t(self.size))
