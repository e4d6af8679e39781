from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loggen import sglang_log

from bringup.cli import run
from bringup.cli.exits import BY_STATE

SECRET = "sk-demo-redact-me"
TRACE = """[2026-03-02 09:20:00 TP3] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 2650, in run_scheduler_process
    scheduler = Scheduler(server_args)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 139.81 GiB.

[2026-03-02 09:20:01] Received sigquit from a child process. It usually means the child failed.
"""


@pytest.fixture(autouse=True)
def quiet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path / "config"))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def failing() -> bytes:
    """A start that runs out of memory on rank 3 once all weights are loaded."""
    return sglang_log("0.5.15", until="kv-cache") + TRACE.encode()


def explained(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> dict[str, Any]:
    assert run(["explain", "--json", *options, str(path)]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def process(*argv: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "bringup", "explain", *argv]
    return subprocess.run(command, input=stdin, capture_output=True, env={**os.environ, **env}, timeout=60, check=False)


def test_a_ready_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_bytes(sglang_log("0.5.15", draft=True))
    told = explained(capsys, tmp_path / "a.log")
    assert (told["state"], told["phase"], told["engine"], told["port"]) == ("ready", "serving", "sglang", 30000)
    assert told["ranks_done"]["weights"] == list(range(8))
    assert told["phases"][0]["started"] == "2026-03-02T09:14:14"
    assert run(["explain", str(tmp_path / "a.log")]) == 0
    page = capsys.readouterr().out
    assert page.startswith("● READY     On port 30000")
    assert "TP0 to TP7" in page


def test_a_failure_is_shown_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = failing()
    (tmp_path / "a.log").write_bytes(log)
    told = explained(capsys, tmp_path / "a.log")
    number = log[: log.index(b"torch.OutOf")].count(b"\n") + 1
    assert (told["state"], told["failed_ranks"]) == ("failed", [3])
    assert (told["cause"]["kind"], told["cause"]["line_number"], told["cause"]["rank"]) == ("oom", number, 3)
    run(["explain", str(tmp_path / "a.log")])
    page = capsys.readouterr().out
    assert f"› {number} │ torch.OutOfMemoryError" in page
    assert f"  {number - 1} │     scheduler = Scheduler" in page
    assert "what to do  A GPU ran out of memory." in page


def test_an_earlier_launch_stays_visible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_bytes(failing() + sglang_log("0.5.15", until="weights"))
    told = explained(capsys, tmp_path / "a.log")
    assert (told["attempt"], told["state"], told["cause"]) == (2, "starting", None)
    assert any(line.startswith("launch 1 failed (oom)") for line in told["evidence"])
    run(["explain", str(tmp_path / "a.log")])
    assert "earlier     launch 1: out of memory" in capsys.readouterr().out


def test_silence_is_added_to_the_last_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_bytes(sglang_log("0.5.15", until="distributed"))
    now = explained(capsys, tmp_path / "a.log")
    later = explained(capsys, tmp_path / "a.log", "--silent", "7200")
    assert (now["state"], later["state"]) == ("starting", "stalled")
    assert int(later["now"][11:13]) == int(now["now"][11:13]) + 2


@pytest.mark.parametrize("wrong", ["-1", "nan", "inf", "1e12"])
def test_an_impossible_silence_is_refused(capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    assert run(["explain", "x", "--silent", wrong]) == 2
    assert "cannot be" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("log", "state"),
    [
        (sglang_log("0.5.15"), "ready"),
        (failing(), "failed"),
        (sglang_log("0.5.15", until="weights"), "starting"),
        (b"", "waiting"),
        (b"what is this\n" * 9, "unknown"),
    ],
)
def test_the_exit_code_is_the_state_only_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], log: bytes, state: str
) -> None:
    (tmp_path / "a.log").write_bytes(log)
    assert explained(capsys, tmp_path / "a.log")["state"] == state
    assert run(["explain", "--exit-code", str(tmp_path / "a.log")]) == BY_STATE[state]  # type: ignore[index]


def test_the_exit_codes_are_those_that_are_documented() -> None:
    states = ["ready", "failed", "stalled", "degraded", "starting", "slow", "waiting", "stopped", "standby", "unknown"]
    assert [BY_STATE[state] for state in states] == [0, 1, 3, 5, 6, 6, 7, 8, 9, 10]  # type: ignore[index]


def test_an_unknown_format_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_bytes(bytes(range(256)) * 400 + b"\x1b]0;owned\x07\x1b[2J\n")
    assert run(["explain", str(tmp_path / "a.log")]) == 0
    page = capsys.readouterr().out
    assert page.startswith("? UNKNOWN")
    assert "no format that bringup knows" in " ".join(page.split())
    assert "was understood" in " ".join(page.split())
    assert all(letter.isprintable() or letter == "\n" for letter in page)


def test_how_much_was_not_understood_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_bytes(sglang_log("0.5.15") + b"[2026-03-02 09:30:00] Never heard of this\n" * 3)
    assert run(["explain", str(tmp_path / "a.log")]) == 0
    assert "were not understood" in capsys.readouterr().out


def test_an_empty_log_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").touch()
    assert run(["explain", str(tmp_path / "a.log")]) == 0
    assert "The log is empty" in capsys.readouterr().out


def test_what_cannot_be_read_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"x")[:10])
    for name, sentence in {"none": "no file", ".": "is a directory", "cut.gz": "Nothing of it could be read"}.items():
        assert run(["explain", str(tmp_path / name)]) == 2
        told = capsys.readouterr()
        assert sentence in told.err
        assert told.out == ""


def test_a_damaged_archive_is_judged_as_far_as_it_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = gzip.compress(sglang_log("0.5.15", seed=3))
    (tmp_path / "a.gz").write_bytes(packed[: len(packed) - 40])
    assert run(["explain", "--json", str(tmp_path / "a.gz")]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["engine"] == "sglang"
    assert "damaged or incomplete" in told.err
    assert any("damaged" in line for line in json.loads(told.out)["evidence"])


def test_no_secret_reaches_any_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        f"[2026-03-02 09:14:14] server_args=ServerArgs(model_path='https://me:{SECRET}@hub/m', api_key='{SECRET}')",
        f"HF_TOKEN={SECRET} OPENAI_API_KEY={SECRET}",
        f"environ({{'AWS_SECRET_ACCESS_KEY': '{SECRET}', 'HF_TOKEN': '{SECRET}'}})",
        f"+ python -m sglang.launch_server --api-key {SECRET}",
        f'[2026-03-02 09:14:15] INFO: 1.2.3.4 - "GET /v1?api_key={SECRET} HTTP/1.1" 401',
        "[2026-03-02 09:14:16 TP1] Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/opt/sglang/srt/x.py", line 1, in run',
        f"ValueError: cannot fetch https://x:{SECRET}@hub with Authorization: Bearer {SECRET}",
        f"Authorization: Bearer {SECRET}",
    ]
    (tmp_path / "a.log").write_text("\n".join(lines))
    for options in ([], ["--json"]):
        assert run(["explain", *options, str(tmp_path / "a.log")]) == 0
        told = capsys.readouterr()
        seen = "".join((told.out + told.err).split())
        assert "***" in seen
        assert "redact" not in seen
        assert "sk-demo" not in seen


def test_a_broken_file_of_the_user_is_told_and_the_rest_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "config" / "engines"
    folder.mkdir(parents=True)
    (folder / "bad.toml").write_text('name = "sglang"\nrules = 3\n')
    (tmp_path / "a.log").write_bytes(sglang_log("0.5.15"))
    assert run(["explain", "--json", str(tmp_path / "a.log")]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["state"] == "ready"
    assert "bad.toml, line 2: Expected `array`" in told.err
    assert run(["explain", "--rules"]) == 0
    assert "bad.toml, line 2" in capsys.readouterr().out


def test_own_rules_are_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "config" / "engines"
    folder.mkdir(parents=True)
    rule = (
        'name = "o"\nemit = "Fault"\nset = { kind = "disk-full" }\nmatch = \'^No room for the cache\'\nscope = "any"\n'
    )
    (folder / "own.toml").write_text(f'name = "sglang"\n[[rules]]\n{rule}samples = ["No room for the cache"]\n')
    (tmp_path / "a.log").write_bytes(
        sglang_log("0.5.15", until="weights") + b"[2026-03-02 09:20:00 TP1] No room for the cache\n"
    )
    told = explained(capsys, tmp_path / "a.log")
    assert (told["state"], told["cause"]["kind"]) == ("failed", "disk-full")


def test_without_a_file_a_terminal_is_told_how(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert run(["explain"]) == 2
    assert "bringup explain FILE" in capsys.readouterr().err


def test_an_option_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--bogus"]) == 2
    assert "Unknown option: --bogus" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["-"], []])
def test_standard_input_is_read_packed_or_not(argv: list[str]) -> None:
    log = sglang_log("0.5.15")
    for data in (log, gzip.compress(log)):
        done = process("--json", *argv, stdin=data)
        assert json.loads(done.stdout)["state"] == "ready"


def test_colours_go_to_those_who_ask() -> None:
    log = sglang_log("0.5.15")
    assert b"\x1b" not in process("-", stdin=log).stdout
    assert b"\x1b[1;32m" in process("-", stdin=log, FORCE_COLOR="1", TERM="xterm").stdout
    assert b"32m" not in process("-", stdin=log, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm").stdout


def test_the_width_is_that_of_columns_else_a_hundred() -> None:
    log = failing()
    widths = {
        name: max(map(len, process("-", stdin=log, COLUMNS=name).stdout.decode().splitlines()))
        for name in ("72", "500", "")
    }
    assert widths["72"] <= 72
    assert 100 < widths["500"] <= 120
    assert 80 < widths[""] <= 100


def test_a_terminal_that_knows_no_signs_gets_an_answer() -> None:
    done = process("-", stdin=failing(), PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"FAILED" in done.stdout


def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(failing())
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "bringup", "explain", str(tmp_path / "a.log")]
    with open(write, "wb") as pipe:  # noqa: PTH123 - a file descriptor
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
