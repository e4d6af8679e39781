"""The lines of SGLang 0.5.15, byte for byte where the operator's console reads them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

VERSION = "0.5.15"
STDOUT, STDERR = 1, 2
BATCHES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 40, 48)
"""Batch sizes whose graphs are captured; the largest comes first."""
PREFILLS = (
    *range(4, 33, 4),
    *range(48, 257, 16),
    *range(288, 513, 32),
    *range(576, 1025, 64),
    *range(1280, 4097, 256),
    *range(4608, 8193, 512),
)
"""Numbers of tokens whose prefill graphs are captured."""
UNCLEAN = (
    "Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources. For more "
    "info, please see https://pytorch.org/docs/stable/distributed.html#shutdown (function operator())"
)


def emit(text: str, fd: int = STDERR) -> None:
    """Write `text` in one write(2), so that lines of several processes never cut each other."""
    os.write(fd, text.encode())


def stamp() -> str:
    """Return the local time as in a line's header."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


class Voice:
    """Who speaks: the main process (no label), or a rank."""

    def __init__(self, rank: int | None = None, ranks: int = 1) -> None:
        self._label = "" if rank is None or ranks == 1 else f" TP{rank}"

    def say(self, text: str) -> None:
        """Write one log line."""
        emit(f"[{stamp()}{self._label}] {text}\n")

    def uvicorn(self, text: str, level: str = "INFO") -> None:
        """Write one line of the HTTP server's life."""
        self.say(f"{level + ':':<9} {text}")


def entry_warning(where: str) -> str:
    """Return the warning that `python -m sglang.launch_server` prints first (0.5.10+)."""
    return (
        f"{where}:55: UserWarning: 'python -m sglang.launch_server' is still supported, but 'sglang serve' is the "
        "recommended entrypoint.\n  Example: sglang serve --model-path <model> [options]\n  warnings.warn(\n"
    )


def server_args(values: Mapping[str, object]) -> str:
    """Return the line with all arguments (ServerArgs(...) up to 0.5.18)."""
    return "server_args=ServerArgs(" + ", ".join(f"{key}={value!r}" for key, value in values.items()) + ")"


def access(port: int, request: str, status: str) -> None:
    """Write an access line; these go to standard output."""
    emit(f'[{stamp()}] INFO:     127.0.0.1:{port} - "{request} HTTP/1.1" {status}\n', STDOUT)


def load_end(seconds: float, kind: str, avail: float, used: float) -> str:
    """Return the end of one model's weights on one rank."""
    return f"Load weight end. elapsed={seconds:.2f} s, type={kind}, avail mem={avail:.2f} GB, mem usage={used:.2f} GB."


def kv_cache(tokens: int, size: float, *, split: bool) -> str:
    """Return the line of an allocated KV cache: one size for MLA models, K and V for others."""
    sizes = f"K size: {size / 2:.2f} GB, V size: {size / 2:.2f} GB" if split else f"KV size: {size:.2f} GB"
    return f"KV Cache is allocated. dtype: torch.bfloat16, #tokens: {tokens}, {sizes}"


def capture_begin(what: str, avail: float) -> str:
    """Return the begin of a graph capture; `what` is "target verify", "draft decode" and so on."""
    if what.endswith("prefill"):
        detail = f"backend=breakable, num_tokens={list(PREFILLS)}"
    else:
        detail = f"backend=full, num_tokens_per_bs={1 if what.endswith('decode') else 4}, bs={list(BATCHES)}"
    return f"Capture {what} CUDA graph begin. {detail}, avail mem={avail:.2f} GB"


def capture_end(what: str, seconds: float, used: float, avail: float) -> str:
    """Return the end of a graph capture."""
    return f"Capture {what} CUDA graph end. elapsed={seconds:.2f} s, mem usage={used:.2f} GB, avail mem={avail:.2f} GB."


def capture_label(what: str, shape: int, avail: float) -> str:
    """Return the text before a capture's bar."""
    if what.endswith("prefill"):
        return f"Capturing num tokens (num_tokens={shape} avail_mem={avail:.2f} GB)"
    return f"Capturing batches (bs={shape} avail_mem={avail:.2f} GB)"


def prefill(tokens: int, cached: int, rate: float) -> str:
    """Return a prefill batch's line."""
    return (
        f"Prefill batch, #new-seq: 1, #new-token: {tokens}, #cached-token: {cached}, token usage: 0.00, "
        f"#running-req: 0, #queue-req: 0, #pending-token: 0, cuda graph: False, "
        f"input throughput (token/s): {rate:.2f}"
    )


def decode(tokens: int, accepted: float, rate: float) -> str:
    """Return a decode batch's line; the accept rate is that of 0.5.11+: (length - 1) / (draft tokens - 1)."""
    return (
        f"Decode batch, #running-req: 1, #token: {tokens}, token usage: 0.00, accept len: {accepted:.2f}, "
        f"accept rate: {(accepted - 1) / 3:.2f}, cuda graph: True, gen throughput (token/s): {rate:.2f}, #queue-req: 0"
    )


def unclean_exit(rank: int) -> str:
    """Return the line that PyTorch's process group leaves when a rank ends (C++ log: no header of SGLang)."""
    now = time.time()
    head = time.strftime("%m%d %H:%M:%S", time.localtime(now))
    return f"[rank{rank}]:[W{head}.{int(now % 1 * 1e9):09} ProcessGroupNCCL.cpp:1575] {UNCLEAN}\n"
