"""What must hold for any log: however it is cut, wrapped or interleaved, the same is said of it."""

from __future__ import annotations

import random
import re

import pytest
from explaining import essence, explained
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from loggen import sglang_log
from vllmgen import VERSIONS as VLLM_VERSIONS
from vllmgen import vllm_log, vllm_records
from wrapping import LOSSLESS, OUTERMOST, wrapped

QUICK = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
SGLANG_FAILURE = (
    b"[2026-03-02 09:16:29 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
    b'  File "/opt/lib/python3.12/site-packages/sglang/srt/scheduler.py", line 9, in run\n'
    b"    go()\n"
    b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.\n"
    b"\n"
    b"[2026-03-02 09:16:29] Received sigquit from a child process. It usually means the child failed.\n"
    b"Killed\n"
)


def sglang(version: str, **fields: object) -> bytes:
    log = sglang_log(version, tp=2, shards=4, shapes=3, **fields)
    return log[log.index(b"[2026") :]


LOGS = {
    "sglang ready": sglang("0.5.9", draft=True),
    "sglang glued": sglang("0.5.23", draft=True, until="weights"),
    "sglang failed": sglang("0.5.8", until="kv-cache") + SGLANG_FAILURE,
    "sglang restarted": sglang("0.5.5", until="weights") + SGLANG_FAILURE + sglang("0.5.5", until="distributed"),
    "vllm ready": vllm_log("0.32.0", draft=True),
    "vllm patched": vllm_log("0.12.0", until="graphs"),
    "vllm failed": vllm_log("0.18.1", failure="oom"),
    "vllm kv": vllm_log("0.9.2", failure="kv"),
}
names = st.sampled_from(sorted(LOGS))


@QUICK
@given(name=names, cuts=st.lists(st.integers(0, 1 << 20), max_size=30), stride=st.sampled_from([0, 7, 61, 4096]))
def test_any_chunking_gives_the_same_verdict(name: str, cuts: list[int], stride: int) -> None:
    data = LOGS[name]
    places = sorted({cut % len(data) for cut in cuts} | set(range(0, len(data), stride) if stride else ()) | {0})
    chunks = [data[a:b] for a, b in zip(places, [*places[1:], len(data)], strict=True)]
    assert essence(explained(chunks)) == essence(explained(data))


@pytest.mark.parametrize("name", sorted(LOGS))
@pytest.mark.parametrize("wrap", sorted(LOSSLESS | OUTERMOST))
def test_a_wrapper_changes_nothing(name: str, wrap: str) -> None:
    data = wrapped(LOGS[name], (LOSSLESS | OUTERMOST)[wrap])
    assert essence(explained(data)) == essence(explained(LOGS[name]))


@QUICK
@given(
    name=names,
    wraps=st.lists(st.sampled_from(sorted(LOSSLESS)), min_size=2, max_size=4, unique=True),
    docker=st.booleans(),
)
@example(name="sglang failed", wraps=["compose, named", "logging, root", "logging"], docker=False)
@example(name="sglang failed", wraps=["compose", "logging, root", "logging"], docker=False)
@example(name="sglang failed", wraps=["srun", "syslog"], docker=False)
@example(name="vllm ready", wraps=["pdsh", "syslog"], docker=False)
@example(name="sglang failed", wraps=["kubectl, stamps", "syslog", "mpirun"], docker=False)
@example(name="vllm patched", wraps=["compose", "kubectl", "cri"], docker=False)
def test_any_sequence_of_wrappers_changes_nothing(name: str, wraps: list[str], docker: bool) -> None:
    chosen = [LOSSLESS[wrap] for wrap in wraps] + ([OUTERMOST["docker"]] if docker else [])
    assert essence(explained(wrapped(LOGS[name], *chosen))) == essence(explained(LOGS[name]))


@pytest.mark.parametrize("name", sorted(LOGS))
def test_journald_loses_the_bars_and_nothing_else(name: str) -> None:
    blob = re.compile(rb"[^\n]*\r(?!\n)[^\n]*")
    lossy = blob.sub(b"[123B blob data]", LOGS[name])
    if b"glued" in name.encode():
        lossy = LOGS[name].replace(b"\r", b"\n")
    data = wrapped(lossy, LOSSLESS["journald"])
    kept = {key: value for key, value in essence(explained(data)).items() if key != "bar"}
    assert kept == {key: value for key, value in essence(explained(LOGS[name])).items() if key != "bar"}


@pytest.mark.parametrize("version", VLLM_VERSIONS)
def test_ray_that_folds_lines_of_other_workers_loses_no_more_than_them(version: str) -> None:
    folded = []
    for who, data in vllm_records(version, tp=4, until="weights"):
        text = re.sub(rb"\((?:Vllm)?Worker[^)]*\) ", b"", data)
        if who == 0:
            folded.append(text if b"\r" in text else b"(RayWorkerWrapper pid=13210) " + text)
        elif who == 3 and b"Starting to load" in data:
            tail = b" [repeated 3x across cluster]\n"
            folded.append(b"(RayWorkerWrapper pid=801, ip=10.0.0.82) " + text.removesuffix(b"\n") + tail)
        elif not isinstance(who, int):
            folded.append(data)
    verdict = explained(b"".join(folded))
    assert (verdict.state, verdict.phase, verdict.engine, verdict.ranks_expected) == ("starting", "weights", "vllm", 4)
    assert verdict.bar == (4, 4)


Records = list[tuple[object, bytes]]


def shuffled(records: Records, seed: int) -> bytes:
    """Return the records in another order: each writer's stays, and none of the main process comes before its cause."""
    rng = random.Random(seed)
    out: list[bytes] = []
    block: dict[object, list[bytes]] = {}
    for who, data in [*records, ("end", b"")]:
        if isinstance(who, int):
            block.setdefault(who, []).append(data)
            continue
        while block:
            chosen = rng.choice(sorted(block))  # type: ignore[type-var]
            out.append(block[chosen].pop(0))
            if not block[chosen]:
                del block[chosen]
        out.append(data)
    return b"".join(out)


def sglang_records(data: bytes) -> Records:
    """Return the records of a log with who wrote each; a traceback belongs to the header above it, a bar to rank 0."""
    found: Records = []
    for line in data.splitlines(keepends=True):
        header = re.match(rb"\[[^\]]+?(?: TP(\d+))?\] ", line)
        if header:
            found.append((int(header[1]) if header[1] else "main", line))
        elif b"|" in line or line.startswith(b"\r"):
            found.append((0, line))
        else:
            who, last = found.pop()
            found.append((who, last + line))
    return found


@QUICK
@given(seed=st.integers(0, 1 << 16), version=st.sampled_from(VLLM_VERSIONS), failure=st.sampled_from(["", "oom", "kv"]))
def test_vllms_processes_may_interleave(seed: int, version: str, failure: str) -> None:
    records: Records = list(vllm_records(version, tp=4, draft=True, failure=failure))
    whole = b"".join(data for _, data in records)
    assert essence(explained(shuffled(records, seed))) == essence(explained(whole))


@QUICK
@given(seed=st.integers(0, 1 << 16), name=st.sampled_from(["sglang ready", "sglang failed", "sglang restarted"]))
def test_sglangs_ranks_may_interleave(seed: int, name: str) -> None:
    records = sglang_records(LOGS[name])
    assert essence(explained(shuffled(records, seed))) == essence(explained(LOGS[name]))
