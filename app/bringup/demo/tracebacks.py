"""The records that SGLang 0.5.15 leaves when it fails: tracebacks, shortened in the middle, with their last lines."""

from __future__ import annotations

PACKAGE = "/opt/venv/lib/python3.12/site-packages"
ADVICE = """\
Possible solutions:
1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)
2. set --cuda-graph-max-bs-decode to a smaller value (e.g., 16)
3. disable torch compile by not using --enable-torch-compile
4. disable CUDA graph by --disable-cuda-graph. (Not recommended. Huge performance loss)
Open an issue on GitHub https://github.com/sgl-project/sglang/issues/new/choose
"""


def out_of_memory(gpu: int, total: float, free: float, pid: int) -> str:
    """Return what a rank logs whose graph capture ran out of memory; sizes in GB."""
    reason = (
        f"CUDA out of memory. Tried to allocate 512.00 MiB. GPU {gpu} has a total capacity of {total:.2f} GiB of which "
        f"{free * 1024:.2f} MiB is free. Process {pid} has {total - free:.2f} GiB memory in use."
    )
    return _hit(
        _frames("model_executor/runner/decode_cuda_graph_runner.py", (412, "capture"), (655, "capture_one_batch_size"))
        + f"torch.OutOfMemoryError: {reason}\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        + _frames("managers/scheduler.py", (4301, "run_scheduler_process"), (481, "__init__"))
        + _frames("model_executor/runner/decode_cuda_graph_runner.py", (298, "__init__"))
        + f"Exception: Capture cuda graph failed: {reason}\n{ADVICE}"
    )


def kv_too_small(fraction: float) -> str:
    """Return what each rank logs when the static fraction leaves no memory for a KV cache."""
    return _hit(
        _frames("managers/scheduler.py", (4301, "run_scheduler_process"), (481, "__init__"))
        + _frames("model_executor/pool_configurator.py", (96, "calculate"))
        + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. "
        f"Current value: mem_fraction_static={fraction}\n"
    )


def peer_lost() -> str:
    """Return what rank 0 logs when another rank is gone while it serves: it names no rank."""
    return _hit(
        _frames("managers/scheduler.py", (4329, "run_scheduler_process"), (1579, "event_loop_overlap"))
        + _frames("utils/common.py", (2152, "broadcast_pyobj"))
        + "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:538] Read error [127.0.0.1]:33675: "
        "Connection reset by peer\n"
    )


def died_in_start(rank: int, status: int) -> str:
    """Return the launcher's traceback for a rank that ended before it was ready."""
    return (
        "Traceback (most recent call last):\n"
        + _frames("entrypoints/engine.py", (1382, "_wait_for_scheduler_ready"))
        + "EOFError\n\nDuring handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        + _frames("entrypoints/engine.py", (884, "_launch_subprocesses"), (1384, "_wait_for_scheduler_ready"))
        + f"RuntimeError: Rank {rank} scheduler died during initialization (exit code: {status}). If exit code is -9 "
        "(SIGKILL), a common cause is the OS OOM killer. Run `dmesg -T | grep -i oom` to check.\n"
    )


def bad_path(path: str) -> str:
    """Return the launcher's traceback for a model folder that does not exist: it speaks of repositories."""
    return (
        "Traceback (most recent call last):\n"
        + _frames("utils/hf_transformers_utils.py", (213, "get_config"))
        + "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or "
        f"'namespace/repo_name': '{path}'. Use `repo_type` argument if needed.\n"
    )


def _hit(text: str) -> str:
    return f"Scheduler hit an exception: Traceback (most recent call last):\n{text}"


def _frames(module: str, *calls: tuple[int, str]) -> str:
    return "".join(f'  File "{PACKAGE}/sglang/srt/{module}", line {line}, in {name}\n' for line, name in calls)
