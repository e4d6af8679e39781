from __future__ import annotations

import pytest

from bringup.core.decode import Decoder
from bringup.core.events import Ending, Fact, Fault
from bringup.engines import load_engines, load_wrappers

ENGINES, WRAPPERS = load_engines(), load_wrappers()
FRAMES = '  File "/opt/lib/python3.12/site-packages/sglang/srt/scheduler.py", line 9, in run\n    go()\n    ^^^^\n'
TITLE = "Traceback (most recent call last):\n"
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 3 has a total capacity of 95.00 GiB"
)
CHAIN = "\nDuring handling of the above exception, another exception occurred:\n\n"


def hit(rank: int, error: str) -> str:
    return f"[2026-03-02 09:14:29 TP{rank}] Scheduler hit an exception: {TITLE}{FRAMES}{error}\n\n"


def read(text: str) -> list[object]:
    """Read a text as the log of a server that has just begun, and of one that has run: the same faults come out."""
    fresh = Decoder(ENGINES, WRAPPERS)
    events = [*fresh.feed(text.encode(), None), *fresh.close(None)]
    settled = Decoder(ENGINES, WRAPPERS)
    for rank in range(5):
        settled.feed(f"[2026-03-02 09:14:29 TP{rank}] Load weight begin. avail mem=1 GB\n".encode(), None)
    settled.feed(b"[2026-03-02 09:14:29] Load weight begin. avail mem=1 GB\n", None)
    later = [*settled.feed(text.encode(), None), *settled.close(None)]
    seen = [
        [(e.kind, e.text, e.labels, e.secondary) for e in found if isinstance(e, Fault)] for found in (events, later)
    ]
    assert seen[0] == seen[1]
    return events


def faults(text: str) -> list[Fault]:
    return [event for event in read(text) if isinstance(event, Fault)]


def test_the_last_line_is_the_fault_of_the_rank_that_wrote_the_traceback() -> None:
    (fault,) = faults(hit(3, OOM))
    assert (fault.kind, fault.text, fault.labels, fault.line) == ("oom", OOM, (("tp", 3),), 5)
    assert not fault.secondary


def test_interleaved_tracebacks_belong_to_their_own_ranks() -> None:
    text = hit(3, OOM) + "\r bar\n" + hit(1, OOM) + "[2026-03-02 09:14:30] Received sigquit from a child process.\n"
    assert [fault.labels for fault in faults(text)] == [(("tp", 3),), (("tp", 1),)]


def test_a_title_on_the_next_line_belongs_to_the_header_above() -> None:
    text = f"[21:53:50 TP4] Exception in run_tp_server:\n{TITLE}{FRAMES}{OOM}\n"
    (fault,) = faults(text)
    assert (fault.labels, fault.line) == ((("tp", 4),), 6)


def test_a_bare_traceback_further_down_is_nobodys() -> None:
    text = f"[2026-03-02 09:14:29 TP4] Load weight begin. avail mem=1 GB\nsomething else\n{TITLE}{FRAMES}{OOM}\n"
    assert [fault.labels for fault in faults(text)] == [()]


def test_what_is_chained_to_a_known_error_is_a_consequence() -> None:
    text = hit(3, OOM + CHAIN + TITLE + FRAMES + "Exception: Capture cuda graph failed: CUDA out of memory.")
    assert [(fault.kind, fault.secondary) for fault in faults(text)] == [("oom", False), ("oom", True)]


def test_what_is_chained_to_an_unknown_error_is_not() -> None:
    error = "ValueError: The checkpoint has type `m` but Transformers does not recognize this architecture."
    found = faults(TITLE + FRAMES + "KeyError: 'm'" + CHAIN + TITLE + FRAMES + error)
    assert [(fault.kind, fault.secondary) for fault in found] == [("unknown", False), ("config", False)]


def test_a_consequence_does_not_make_what_follows_one() -> None:
    died = "RuntimeError: Rank 1 scheduler died during initialization (exit code: -9). If exit code is -9 (SIGKILL), …"
    found = faults(TITLE + FRAMES + "EOFError" + CHAIN + TITLE + FRAMES + died)
    assert [(f.kind, f.secondary, f.labels) for f in found] == [
        ("unknown", True, ()),
        ("killed", False, (("rank", 1),)),
    ]


def test_lines_after_the_error_belong_to_its_record() -> None:
    text = hit(
        3,
        "RuntimeError: CUDA error: an illegal memory access was encountered\nFor debugging consider this\n1. set that",
    )
    assert [(fault.kind, fault.text[:12]) for fault in faults(text)] == [("kernel", "RuntimeError")]
    assert not [event for event in read(text) if getattr(event, "unknown", 0)]


@pytest.mark.parametrize(
    "before",
    [
        "[2026-03-02 09:14:29] ERROR:    Exception in ASGI application\n",
        "[2026-03-02 09:14:29] Error in request: the image cannot be read\nsecond line of it\n",
        "Exception ignored in: <function Socket.__del__ at 0x7f00>\n",
        "--- Logging error ---\n",
    ],
)
def test_an_error_that_does_not_end_the_server_is_no_fault(before: str) -> None:
    assert faults(f"{before}{TITLE}{FRAMES}ValueError: whatever\n") == []
    later = f"{before}{TITLE}{FRAMES}ValueError: whatever\n[2026-03-02 09:14:30] INFO:     Shutting down\n"
    assert [fault.kind for fault in faults(later + hit(0, OOM))] == ["oom"]


def test_an_announced_kind_counts_whatever_the_error_says() -> None:
    text = (
        f"[2026-03-02 09:14:29] Initialization failed. warmup error: {TITLE}{FRAMES}AssertionError: CUDA error: 500\n"
    )
    assert [(fault.kind, fault.text) for fault in faults(text)] == [("warmup", "AssertionError: CUDA error: 500")]


def test_an_unknown_error_while_modules_are_imported_is_one_of_import() -> None:
    modules = "".join(
        f'  File "/opt/venv/lib/python3.10/site-packages/sglang/{name}.py", line 7, in <module>\n    import x\n'
        for name in ("launch_server", "srt/server_args", "srt/configs/janus")
    )
    (fault,) = faults(TITLE + modules + "TypeError: register() got multiple values for argument 'exist_ok'\n")
    assert fault.kind == "import"
    (other,) = faults(
        TITLE + modules.split('  File "', 2)[0] + '  File "/x/run.py", line 1, in <module>\nTypeError: x\n'
    )
    assert other.kind == "unknown"


def test_frames_tell_the_engine_before_it_prints_a_line_of_its_own() -> None:
    events = read(TITLE + FRAMES + "KeyError: 'm'\n")
    assert [event.value for event in events if isinstance(event, Fact)] == ["sglang"]


def test_torch_puts_the_rank_before_every_line() -> None:
    lines = (TITLE + FRAMES + OOM).splitlines()
    assert [f.labels for f in faults("".join(f"[rank2]: {line}\n" for line in lines))] == [(("rank", 2),)]


def test_two_tasks_of_srun_can_fail_at_once() -> None:
    header = "{0}: [2026-03-02 09:14:29 TP{1}] Scheduler hit an exception: " + TITLE
    text = header.format(0, 0) + header.format(1, 8)
    for line in (FRAMES + OOM).splitlines():
        text += f"0: {line}\n1: {line}\n"
    found = faults(text)
    assert [(fault.origin, fault.labels) for fault in found] == [("0", (("tp", 0),)), ("1", (("tp", 8),))]


def test_ctrl_c_is_told_once_and_is_no_fault() -> None:
    text = f"Process SpawnProcess-1:\n{TITLE}{FRAMES}KeyboardInterrupt\n" * 8
    events = read(text)
    assert [event.how for event in events if isinstance(event, Ending)] == ["sigint"]
    assert not [event for event in events if isinstance(event, Fault)]


def test_secrets_and_escapes_in_an_error_are_not_repeated() -> None:
    (fault,) = faults(hit(0, "RuntimeError: bad \x1b]52;c;AAAA\x07 api_key='abcdef' in request"))
    assert fault.text == "RuntimeError: bad  api_key=*** in request"


def test_an_endless_error_is_quoted_in_part() -> None:
    (fault,) = faults(hit(0, "RuntimeError: " + "x" * 50_000))
    assert len(fault.text) == 1000


def test_the_traceback_of_the_next_process_is_no_consequence() -> None:
    """Only one that says so follows from the one before; a log that is appended to can hold the same one twice."""
    error = "ModuleNotFoundError: No module named 'sgl_kernel'"
    first, second = faults(f"{TITLE}{FRAMES}{error}\n{TITLE}{FRAMES}{error}\n")
    assert (first.kind, first.secondary, second.kind, second.secondary) == ("import", False, "import", False)
    first, second = faults(f"{TITLE}{FRAMES}{error}\n{CHAIN}{TITLE}{FRAMES}{error}\n")
    assert (first.secondary, second.secondary) == (False, True)
