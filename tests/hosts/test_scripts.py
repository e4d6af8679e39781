"""How a script travels through any login shell, and how its guard behaves in the shells that /bin/sh may be."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from waiting import alive

from bringup.hosts.scripts import Output, guarded, guarded_with_input, marked, new_mark, remote_command

LOGIN_SHELLS = ["sh", "bash", "dash", "zsh", "tcsh", "fish"]
SYSTEM_SHELLS = [["dash"], ["bash"], ["busybox", "sh"]]
SCRIPT = """x='a  b'
printf '%s|' "$x" 'it'"'"'s' 'b\\s\\n' 'bang!x' '$HOME' 'é' # comment
echo "`echo ticks`"
exit 3"""


def here(command: list[str]) -> list[str]:
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]} here")
    return command


def until_dead(pid: int) -> None:
    deadline = time.monotonic() + 60
    while alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("shell", LOGIN_SHELLS)
def test_a_script_passes_any_login_shell_unchanged(shell: str) -> None:
    done = subprocess.run([*here([shell]), "-c", remote_command(SCRIPT)], capture_output=True, check=False)
    assert done.stdout.decode() == "a  b|it's|b\\s\\n|bang!x|$HOME|é|ticks\n"
    assert (done.returncode, done.stderr) == (3, b"")


def test_a_plain_script_stays_readable_in_the_process_list() -> None:
    assert remote_command('echo "$HOME"') == "exec /bin/sh -c 'echo \"$HOME\"'"


@pytest.mark.parametrize("shell", SYSTEM_SHELLS, ids=" ".join)
def test_a_guarded_script_keeps_its_status_and_what_it_left_running(shell: list[str], tmp_path: Path) -> None:
    script = f"cat; echo out; sleep 600 >/dev/null 2>&1 & echo $! > {tmp_path}/pid; exit 7"
    with start(shell, guarded(script)) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"out\n"
        assert process.wait(60) == 7
        left = int((tmp_path / "pid").read_text())
        assert alive(left)
        subprocess.run(["kill", str(left)], check=True)


@pytest.mark.parametrize("shell", SYSTEM_SHELLS, ids=" ".join)
@pytest.mark.parametrize("given", [b"", b"some input\0\n"])
def test_the_end_of_the_input_ends_the_whole_group(shell: list[str], given: bytes, tmp_path: Path) -> None:
    script = f"cat; sleep 600 & echo $! > {tmp_path}/pid; echo up; wait; while :; do sleep 600; done"
    whole = guarded_with_input(script, len(given)) if given else guarded(script)
    with start(shell, whole) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdin.write(given)
        seen = b""
        while not seen.endswith(b"up\n"):
            seen += process.stdout.read(100) or pytest.fail(f"it ended after {seen!r}")
        assert seen == given + b"up\n"
        process.stdin.close()
        until_dead(int((tmp_path / "pid").read_text()))
        process.wait(60)


@pytest.mark.parametrize("shell", SYSTEM_SHELLS, ids=" ".join)
def test_a_script_with_input_keeps_its_status(shell: list[str]) -> None:
    with start(shell, guarded_with_input("head -c 3; echo; exit 9", 100_000)) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"abc" * 33_333 + b"d")
        assert process.stdout.read() == b"abc\n"
        assert process.wait(60) == 9


def start(shell: list[str], script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*here(shell), "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
    )


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_noise_before_the_mark_is_dropped_wherever_the_chunks_are_cut(size: int) -> None:
    mark = new_mark()
    whole = b"Welcome\nbringup-\n" + mark[:-1] + b"\nno end" + mark + b"\nfirst\nsecond\n"
    output = Output(mark, 8)
    for start in range(0, len(whole), size):
        output.keep(whole[start : start + size])
    assert output.begun
    assert output.kept == b"first\nse"


def test_output_that_never_begins_keeps_the_beginning_of_the_noise() -> None:
    output = Output(new_mark(), 100)
    output.keep(b"This account is closed.\n" + b"x" * 100_000)
    assert not output.begun
    assert output.kept == b""
    assert output.noise.startswith("This account is closed.")
    assert len(output.noise) <= 400


def test_the_mark_comes_first_on_both_outputs() -> None:
    done = subprocess.run(["/bin/sh", "-c", marked("echo out; echo err >&2", b"m")], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"m\nout\n", b"m\nerr\n")
