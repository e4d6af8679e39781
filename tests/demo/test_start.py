"""A whole start, seen as a console sees it: log bytes, titles, maps, GPUs, HTTP."""

import asyncio
import re
from pathlib import Path

from simulated import ask, login, needs_linux, ranks, said, smi

from bringup.demo.host import DemoHost

RANKS = range(8)
EDGES = {
    "Init torch distributed begin.": 2,
    "Init torch distributed ends. elapsed=": 2,
    "Load weight begin. avail mem=": 2,
    "type=KimiK25ForConditionalGeneration, avail mem=": 1,
    "type=LlamaForCausalLMEagle3, avail mem=": 1,
    "KV Cache is allocated. dtype: torch.bfloat16, #tokens: ": 2,
    "Memory pool end. avail mem=": 2,
    "Capture target prefill CUDA graph begin. backend=breakable, num_tokens=[4, 8,": 1,
    "Capture target prefill CUDA graph end. elapsed=": 1,
    "Capture target verify CUDA graph begin. backend=full, num_tokens_per_bs=4, bs=[1, 2,": 1,
    "Capture target verify CUDA graph end. elapsed=": 1,
    "Capture draft prefill CUDA graph end. elapsed=": 1,
}
"""Texts that every rank logs, and how often in one start."""


async def watch_maps(host: DemoHost, seen: dict[int, set[str]], most: list[int]) -> None:
    """Note which checkpoint files each rank has mapped, until cancelled."""
    while True:
        for rank, pid in ranks(host).items():
            try:
                text = Path(f"/proc/{pid}/maps").read_text()
            except OSError:
                continue
            now = set(re.findall(r"/(model[\w-]*\.safetensors)$", text, re.MULTILINE))
            seen.setdefault(rank, set()).update(now)
            most.append(len(now))
        await asyncio.sleep(0.03)


@needs_linux
async def test_a_start_from_launch_to_ready() -> None:
    seen: dict[int, set[str]] = {}
    most: list[int] = []
    answers: list[int | None] = []
    async with DemoHost("healthy", speed=16) as host, login(host) as conn:
        watching = asyncio.create_task(watch_maps(host, seen, most))
        answers.append(await ask(conn, host.server_port, "/health"))
        await said(host, "Load weight begin")
        table = await smi(conn, "--query-gpu=index,memory.used,memory.total,name")
        await said(host, "Uvicorn running")
        answers.append(await ask(conn, host.server_port, "/health"))
        assert await ask(conn, host.server_port, "/v1/models") == 200
        assert await ask(conn, host.server_port, "/model_info") == 200
        assert await ask(conn, host.server_port, "/nothing") == 404
        await said(host, "The server is fired up and ready to roll!")
        answers.append(await ask(conn, host.server_port, "/health"))
        await said(host, "Decode batch")
        apps = await smi(conn, "--query-compute-apps=pid,used_memory,process_name")
        watching.cancel()
        pids = ranks(host)
        data = host.home.log.read_bytes()
    # A busy machine may be ready before it is asked: that it says so only then is shown in test_http.
    assert answers in ([None, 503, 200], [None, 200, 200])
    assert sorted(pids) == list(RANKS)
    assert {(int(pid), title) for pid, _, title in apps} == {
        (pid, f"sglang::scheduler_TP{rank}") for rank, pid in pids.items()
    }
    assert all(int(used) > 110_000 for _, used, _ in apps)
    assert [row[0] for row in table] == [str(rank) for rank in RANKS]
    assert {tuple(row[2:]) for row in table} == {("143771", "NVIDIA H200")}
    check_maps(seen, most)
    check_log(data)


def check_maps(seen: dict[int, set[str]], most: list[int]) -> None:
    """Each rank was seen with shards of the target, and with no more files than the loader opens."""
    for rank in RANKS:
        assert any(re.fullmatch(r"model-\d{5}-of-00064\.safetensors", name) for name in seen[rank]), rank
    assert max(most) <= 9


def check_log(data: bytes) -> None:
    """All edges of all ranks are there, whole, whatever stood on the line before them."""
    lines = [line for line in re.split(r"[\r\n]+|(?=\[\d{4}-\d\d-\d\d )", data.decode()) if line]
    for rank in RANKS:
        mine = [line for line in lines if re.match(rf"\[[-\d]+ [:\d]+ TP{rank}\] ", line)]
        for text, times in EDGES.items():
            assert sum(text in line for line in mine) == times, (rank, text)
    order = ["server_args=ServerArgs(model_path=", "Init torch", "Load weight begin", "KV Cache", "Capture target"]
    order += ["max_total_num_tokens=", "Uvicorn running on http://127.0.0.1:", "POST /generate", "fired up"]
    places = [data.index(text.encode()) for text in order]
    assert places == sorted(places)
    assert data.count(b"\rMulti-thread loading shards: 100% Completed | 64/64 [") == 2
    assert data.count(b"\rMulti-thread loading shards: 100% Completed | 1/1 [") == 2
    assert b"\n\rMulti-thread loading shards:   0% Completed | 0/64 [00:00<?, ?it/s]" in data
    assert b"\rCapturing num tokens (num_tokens=8192 avail_mem=" in data
    assert b"\rCapturing batches (bs=48 avail_mem=" in data
    assert re.search(rb"accept len: 2\.[6-9]\d|accept len: 3\.00", data)
    slow = data.rindex(b"TP5] Load weight end. elapsed=", 0, data.index(b"type=LlamaForCausalLMEagle3"))
    assert slow > data.index(b"100% Completed | 64/64")
