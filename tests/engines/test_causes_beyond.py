"""Causes of every kind in the logs of both engines, and what an operator is told to do about each."""

from __future__ import annotations

import pytest
from explaining import explained
from loggen import sglang_log
from vllmgen import vllm_log

HEAD = "(EngineCore pid=102) ERROR 03-02 09:20:00 [core.py:700] "
FRAME = '  File "/opt/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 700, in run'


def in_core(error: str) -> bytes:
    lines = ["EngineCore failed to start.", "Traceback (most recent call last):", FRAME, *error.split("\n")]
    return vllm_log("0.24.0", tp=1, until="distributed") + "\r\n".join(HEAD + line for line in lines).encode() + b"\n"


def in_scheduler(error: str) -> bytes:
    frame = FRAME.replace("vllm", "sglang")
    text = f"Scheduler hit an exception: Traceback (most recent call last):\n{frame}\n{error}\n\n"
    end = "[2026-03-02 09:20:00] Received sigquit from a child process. It usually means the child failed.\n"
    return sglang_log("0.5.14", tp=2, until="distributed") + f"[2026-03-02 09:20:00 TP1] {text}{end}".encode()


@pytest.mark.parametrize("place", [in_core, in_scheduler])
@pytest.mark.parametrize(
    ("error", "kind", "advice"),
    [
        ("huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: x)", "auth", "HF_TOKEN"),
        ("OSError: You are trying to access a gated repo.", "auth", "licence"),
        ("huggingface_hub.errors.LocalEntryNotFoundError: no snapshot of it was found", "download", "HF_ENDPOINT"),
        ("OSError: [Errno 28] No space left on device: '/root/.cache/x'", "disk-full", "HF_HOME"),
        ("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", "gpu-fault", "dmesg"),
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "kernel", "no kernel"),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).", "driver", "nvidia-smi"),
        ("RuntimeError: CUDA driver initialization failed, no CUDA-capable device is detected", "driver", "container"),
        ("safetensors_rust.SafetensorError: incomplete metadata, file not fully covered", "bad-checkpoint", "git-lfs"),
        ("ModuleNotFoundError: No module named 'flashinfer'", "import", "versions"),
        (
            "pydantic_core.ValidationError: 1 validation error for X\n  Value error, 4 must be divisible by 3",
            "config",
            "",
        ),
    ],
)
def test_kinds_and_their_advice(place: object, error: str, kind: str, advice: str) -> None:
    verdict = explained(place(error))  # type: ignore[operator]
    assert verdict.state == "failed"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.line) == (kind, error.split("\n")[-1].strip())
    assert advice in verdict.cause.advice


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            "Mar  2 09:14:59 gpu-a kernel: NVRM: Xid (PCI:0000:4e:00): 79, pid=4711, GPU has fallen off the bus.",
            "gpu-fault",
        ),
        ("Mar  2 09:14:59 gpu-a kernel: Out of memory: Killed process 4711 (python3) total-vm:1kB", "oom"),
        ("Mar  2 09:14:59 gpu-a systemd[1]: demo.service: Failed with result 'oom-kill'.", "oom"),
        ("tee: /var/log/engine.log: No space left on device", "disk-full"),
    ],
)
def test_lines_of_the_machine(line: str, kind: str) -> None:
    verdict = explained(sglang_log("0.5.14", tp=2, until="weights") + line.encode() + b"\n")
    assert (verdict.state, verdict.cause.kind if verdict.cause else None) == ("failed", kind)


def test_memory_advice_goes_in_the_right_direction() -> None:
    small = explained(in_scheduler("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."))
    assert small.cause is not None
    assert "raise --mem-fraction-static" in small.cause.advice
    log = sglang_log("0.5.9", tp=2, until="kv-cache")
    log += (
        b"[2026-03-02 09:19:59 TP1] Capture cuda graph begin. This can take up to several minutes. avail mem=2.0 GB\n"
    )
    error = (
        b"[2026-03-02 09:20:00 TP1] Scheduler hit an exception: Traceback (most recent call last):\n" + FRAME.encode()
    )
    large = explained(log + error + b"\nException: Capture cuda graph failed: CUDA out of memory. Tried 20.00 MiB.\n")
    assert large.cause is not None
    assert "lower --mem-fraction-static" in large.cause.advice


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("docker: Error response from daemon: could not select device driver\n", "wrapper"),
        ("python3: can't open file '/opt/launch.py': [Errno 2] No such file or directory\n", "wrapper"),
        ("/usr/bin/python3: No module named sglang\n", "import"),
    ],
)
def test_what_fails_before_an_engine(log: str, kind: str) -> None:
    verdict = explained(log.encode())
    assert (verdict.state, verdict.engine, verdict.cause.kind if verdict.cause else None) == ("failed", None, kind)


def test_vllms_usage_error_names_the_engine() -> None:
    verdict = explained(b"usage: vllm serve [model_tag] [options]\nvllm: error: unrecognized arguments: --tp-sise 2\n")
    assert (verdict.state, verdict.engine, verdict.cause.kind if verdict.cause else None) == (
        "failed",
        "vllm",
        "config",
    )
