import gzip
import json

import pytest

from bringup.core.errors import UsageError
from bringup.core.events import GpusSeen, HttpAnswered, ProcessesSeen, ServerFound, ServerGone
from bringup.hosts.recording import load_recording, parse_recording

HEAD = {"recording": 1, "engine": "sglang", "version": "9.9", "hardware": "none", "what": "a test", "truth": {"x": 1}}
START = {"t": 0.0, "event": {"ev": "start", "pid": 10, "wall": 1000.0, "cmd": ["python", "--port", "30000"]}}


def rows(*more):
    return [json.dumps(row) for row in (HEAD, START, *more)]


def kinds(recording, kind):
    return [(t, item) for t, item in recording.items if isinstance(item, kind)]


def test_log_bytes_come_as_they_were():
    recording = parse_recording(rows({"t": 1.5, "log": "\r 5%|\u00e2\u0096\u0088|"}))
    assert kinds(recording, bytes) == [(1.5, b"\r 5%|\xe2\x96\x88|")]


def test_the_start_is_the_server():
    recording = parse_recording(rows(), command=lambda engine, argv: {"model": engine, "port": int(argv[2]), "ep": 7})
    (t, found) = kinds(recording, ServerFound)[0]
    server = found.server
    assert (t, found.at, server.pid, server.started_at) == (0.0, 1000.0, 10, 1000.0)
    assert (server.engine, server.model, server.port) == ("sglang", "sglang", 30000)


def test_processes_are_sampled_every_second_and_the_end_of_the_launcher_is_seen():
    recording = parse_recording(
        rows(
            {"t": 0.2, "proc": {"pid": 10, "ppid": 1, "cmd": "python launch", "state": "S", "rchar": None}},
            {"t": 0.4, "event": {"ev": "proc+", "pid": 11, "ppid": 10, "comm": "python3", "cmd": "spawn"}},
            {"t": 1.2, "event": {"ev": "title", "pid": 11, "comm": "sglang::schedul", "cmd": "sglang::scheduler_TP1"}},
            {"t": 2.2, "event": {"ev": "zombie", "pid": 11, "comm": "sglang::schedul"}},
            {"t": 3.2, "event": {"ev": "proc-", "pid": 10, "was": "python"}},
            {"t": 9.0, "http": {"path": "/v1/models", "status": "200"}},
        )
    )
    samples = [(t, [(p.pid, p.title, p.state) for p in seen.processes]) for t, seen in kinds(recording, ProcessesSeen)]
    assert samples == [
        (1.0, [(10, "python launch", "S"), (11, "spawn", "R")]),
        (2.0, [(10, "python launch", "S"), (11, "sglang::scheduler_TP1", "R")]),
        (3.0, [(10, "python launch", "S"), (11, "sglang::scheduler_TP1", "Z")]),
        (4.0, [(11, "sglang::scheduler_TP1", "Z")]),
    ]
    assert [(t, gone.pid, gone.orphans) for t, gone in kinds(recording, ServerGone)] == [(4.0, 10, ())]


def test_a_title_that_a_row_cuts_short_stays_whole():
    recording = parse_recording(
        rows(
            {"t": 0.1, "event": {"ev": "proc+", "pid": 10, "cmd": "python -m server --port 30000"}},
            {"t": 0.2, "proc": {"pid": 10, "cmd": "python -m ser", "state": "R", "cpu_s": 1.5}},
            {"t": 1.1, "log": ""},
        )
    )
    process = kinds(recording, ProcessesSeen)[0][1].processes[0]
    assert (process.title, process.cpu_s) == ("python -m server --port 30000", 1.5)


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        ("200 b''", 200, ""),
        ("503", 503, ""),
        ("refused", None, "refused"),
        ("ERR TimeoutError('timed out')", None, "timeout"),
        ("ERR ConnectionResetError(104, 'Connection reset by peer')", None, "reset"),
        ("ERR strange", None, "other"),
    ],
)
def test_an_answer_counts_when_it_came_not_when_it_was_asked_for(status, code, error):
    recording = parse_recording(rows({"t": 5.0, "http": {"path": "/health", "status": status, "took": 2.0}}))
    (t, answer) = kinds(recording, HttpAnswered)[0]
    assert (t, answer.at, answer.status, answer.error) == (7.0, 1007.0, code, error)


def test_v1_models_is_no_readiness_and_harness_knowledge_is_passed_over():
    recording = parse_recording(
        rows(
            {"t": 5.0, "http": {"path": "/v1/models", "status": "200"}},
            {"t": 6.0, "event": {"ev": "signal", "sig": "KILL", "pid": 11}},
            {"t": 7.0, "event": {"ev": "main-exit", "rc": -9}},
        )
    )
    assert not kinds(recording, HttpAnswered)
    assert not kinds(recording, ServerGone)


def test_gpu_rows_name_memory_and_who_holds_it():
    row = {"gpus": ["3, 143771, 616, 6464, 136693, 4, 0, 125.83, 41, P0"], "apps": ["10, sglang::scheduler, 6454"]}
    seen = kinds(parse_recording(rows({"t": 1.0, "gpu": row})), GpusSeen)[0][1]
    gpu = seen.gpus[0]
    assert (gpu.index, gpu.total, gpu.used, gpu.utilization, gpu.power, gpu.temperature) == (
        3,
        143771,
        6464,
        4,
        125.83,
        41,
    )
    assert [(app.pid, app.used, app.title) for app in seen.apps] == [(10, 6454, "sglang::scheduler")]


def test_not_available_is_none():
    row = {"gpus": ["0, [N/A], 616, [N/A], 136693, [N/A], 0, [N/A], [N/A], P0"], "apps": []}
    gpu = kinds(parse_recording(rows({"t": 1.0, "gpu": row})), GpusSeen)[0][1].gpus[0]
    assert (gpu.total, gpu.used, gpu.utilization, gpu.power) == (None, None, None, None)


def test_the_end_is_that_of_the_last_row_whatever_it_held():
    recording = parse_recording(rows({"t": 1.5, "log": "a\n"}, {"t": 7.25, "event": {"ev": "end"}}))
    assert (recording.end, recording.wall, recording.trouble) == (7.25, 1000.0, "")


@pytest.mark.parametrize("lines", [[], ["not json"], ['{"t": 1}'], ['{"recording": 99}'], ["[" * 100_000]])
def test_what_is_no_recording_is_refused_in_words(lines):
    with pytest.raises(UsageError, match="not a recording of format 1"):
        parse_recording(lines)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[1]", "line 4, is no row of a recording"),
        ('{"t": NaN, "log": ""}', "an impossible one"),
        ('{"t": 1e300, "log": ""}', "an impossible one"),
        ('{"log": ""}', "no time"),
        ('{"t": 2, "lo', "line 4, is no row of a recording"),
        ('{"t": 2, "proc": {"no": "pid"}}', "line 4, is a row not of its format"),
        ('{"t": 2, "log": "\\u20ac"}', "line 4, is a row not of its format"),
        ('{"t": 2, "http": {"path": "/health", "status": "200", "took": NaN}}', "line 4, is a row not of its format"),
    ],
)
def test_a_broken_row_ends_the_reading_in_words_and_what_came_before_counts(line, why):
    recording = parse_recording([*rows({"t": 1.0, "log": "a\n"}), line, json.dumps({"t": 3.0, "log": "b\n"})])
    assert kinds(recording, bytes) == [(1.0, b"a\n")]
    assert why in recording.trouble
    assert recording.trouble.endswith("What came before was read.")


@pytest.mark.parametrize("packed", [True, False])
def test_files_are_read_packed_or_not(tmp_path, packed):
    data = "\n".join(rows({"t": 1.0, "log": "a\n"})).encode()
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert kinds(load_recording(path), bytes) == [(1.0, b"a\n")]


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_that_is_cut_anywhere_is_read_up_to_there(tmp_path, packed):
    text = "\n".join(rows(*({"t": float(n), "log": f"line {n}\n"} for n in range(1, 40)))) + "\n"
    data = gzip.compress(text.encode()) if packed else text.encode()
    path = tmp_path / "cut"
    complete = 0
    for size in range(0, len(data), 1 if packed else 29):
        path.write_bytes(data[:size])
        recording = perhaps(path)
        if recording is None:
            assert not complete
            continue
        read = kinds(recording, bytes)
        assert read == [(float(n), b"line %d\n" % n) for n in range(1, len(read) + 1)]
        assert recording.trouble or packed or len(read) == text[:size].count('"log"')
        complete = max(complete, len(read))
    assert complete >= 38


def perhaps(path):
    """The recording in a file; None where nothing can be read of it."""
    try:
        return load_recording(path)
    except UsageError:
        return None


def test_a_cut_archive_says_that_it_is_one(tmp_path):
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(rows({"t": 1.0, "log": "a\n"})).encode())[:-12])
    assert "damaged or incomplete" in load_recording(path).trouble
