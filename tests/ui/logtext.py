"""A log that looks like a real start, written for the tests."""

from __future__ import annotations

from datetime import UTC, datetime

from timeline import START

_SCRIPT: tuple[tuple[float, str], ...] = (
    (0, "INFO:sglang.launch:reading arguments"),
    (12, "[{}] server_args=ServerArgs(model_path='/models/Kimi-K2.5-INT4', tp_size=8, port=30000)"),
    (20, "[{} TP{r}] Init torch distributed begin."),
    (26, "[{} TP{r}] Init torch distributed ends. elapsed=6.02 s, mem usage=1.31 GB"),
    (27, "[{} TP{r}] Load weight begin. avail mem=137.60 GB"),
    (29, "/opt/venv/lib/quant/utils.py:71: UserWarning: Scales of 61 layers were converted from bfloat16 to float32"),
    (85, "[{} TP{r}] Load weight end. elapsed=57.90 s, type=KimiK25ForConditionalGeneration, mem usage=70.92 GB."),
    (124, "[{} TP{r}] Load weight begin. avail mem=64.10 GB"),
    (136, "[{} TP{r}] Load weight end. elapsed=9.02 s, type=LlamaForCausalLMEagle3, mem usage=2.11 GB."),
    (138, "[{} TP0] KV Cache is allocated. #tokens: 1184256, KV size: 39.71 GB"),
    (139, "[{} TP{r}] Capture cuda graph begin. This can take up to several minutes. avail mem=19.92 GB"),
    (140, "[{} TP0] Capture cuda graph bs [1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120]"),
    (147, "[{} TP3] Scheduler hit an exception: Traceback (most recent call last):"),
    (147, '  File "/opt/venv/lib/sglang/managers/scheduler.py", line 2650, in run_scheduler_process'),
    (147, "    scheduler = Scheduler(server_args, port_args, gpu_id, tp_rank, dp_rank)"),
    (147, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
          "139.81 GiB of which 1.12 GiB is free."),
    (180, "[{} TP{r}] Capture cuda graph end. Time elapsed: 41.02 s. mem usage=3.80 GB. avail mem=16.10 GB."),
    (200, "INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)"),
    (205, "[{}] The server is fired up and ready to roll!"),
)  # fmt: skip
_ONLY_IN_FAILURE = 147


def log_lines(until: float, *, missing: tuple[int, ...] = (), ranks: int = 8) -> list[bytes]:
    """Return the lines that are printed within `until` seconds of the start."""
    lines: list[bytes] = []
    for at, text in _SCRIPT:
        if at > until or (at == _ONLY_IN_FAILURE and until != _ONLY_IN_FAILURE):
            continue
        # The date is made up; the time of day is that of the scripted host.
        stamp = datetime.fromtimestamp(START + 3600 + at, UTC).strftime("2026-03-02 %H:%M:%S")
        those = range(ranks) if "{r}" in text else [0]
        late = missing if " end" in text else ()
        lines += [text.format(stamp, r=rank).encode() for rank in those if rank not in late]
    return lines
