"""Which file is the log of a server whose output goes through pipes: asked of real scripts that bash runs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from simulated import family
from waiting import alive, eventually

from bringup.engines import load_engines
from bringup.hosts.discover import discover
from bringup.hosts.discover.log_targets import Descriptor, Surroundings, find_targets
from bringup.hosts.discover.readers import Program, Reader, Written, best_file, holds_all, load_programs, program_of
from bringup.hosts.local import LocalHost

ENGINES = load_engines()
SERVER = 'import pathlib, sys, time\npathlib.Path("up").touch()\ntime.sleep(120)\n'
SCRIPTS = {
    # A tee writes what it was told to and, by its standard output, the log of the whole script.
    "tee": ("$server | tee server.log", ["server.log"]),
    "tee, appending": ("$server 2>&1 | tee -a server.log", ["server.log"]),
    "two tees": ("$server 2>&1 | tee first.log | tee second.log", ["first.log"]),
    "one tee, two files": ("$server 2>&1 | tee second.log first.log", ["second.log"]),
    "a tee with more files than digits": (f"$server 2>&1 | tee {' '.join(f'{n}.log' for n in range(9))}", ["0.log"]),
    "all of the script": ("exec > >(tee server.log) 2>&1; $server", ["server.log"]),
    "cat": ("$server 2>&1 | cat >server.log", ["server.log"]),
    # What is filtered is the log only where nothing else is.
    "a filter": ("$server 2>&1 | grep --line-buffered . >some.log", ["some.log"]),
    "a filter beside": ("$server 2>&1 | tee >(grep -i error >errors.log)", ["out.log"]),
    "a filter behind": ("$server 2>&1 | tee server.log | grep -i error >errors.log", ["server.log"]),
    "a tee behind a filter": ("$server 2>&1 | tee >(grep . | tee some.log) >server.log", ["server.log"]),
    "a copy beside": ("$server 2>&1 | tee >(cat >copy.log)", ["copy.log"]),
    "packed beside": ("$server 2>&1 | tee >(gzip >server.log.gz)", ["out.log"]),
    # Two streams: each has its own file, unless one file has both. What >() starts inherits what stands left of it.
    "errors through a pipe": ("$server >server.log 2> >(tee errors.log >&2)", ["server.log", "errors.log"]),
    "errors through a pipe into both": ("$server >server.log 2> >(tee errors.log)", ["server.log"]),
    "errors in both": ("$server >server.log 2> >(tee -a server.log)", ["server.log"]),
    "errors beside the script's output": ("$server 2> >(tee errors.log)", ["out.log"]),
    "a tee for each": ("$server > >(tee server.log) 2> >(tee errors.log >&2)", ["server.log", "errors.log"]),
    "a tee for each, in a row": ("$server > >(tee server.log) 2> >(tee errors.log)", ["server.log"]),
    "two tees into one": ("$server > >(tee server.log) 2> >(tee -a server.log)", ["server.log"]),
}
PROGRAMS = sorted(name for script, _ in SCRIPTS.values() for name in re.findall(r"\b(tee|cat|grep|gzip) ", script))
"""All that reads in them, each as often as it does."""


@pytest.fixture
def scripts(tmp_path: Path) -> Iterator[Path]:
    """All scripts at once, each in a folder of its own, with its output in out.log; they end with the test."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    package = tmp_path / "sglang"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "launch_server.py").write_text(SERVER)
    started = []
    for number, (script, _) in enumerate(SCRIPTS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        server = f"{sys.executable} -m sglang.launch_server --model-path /m --port {4000 + number}"
        with (folder / "out.log").open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", f"server='{server}'\n{script}\ntrue"],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        started.append(process)
    yield tmp_path
    for process in started:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)


async def test_the_log_that_a_script_makes(scripts: Path) -> None:
    await eventually(lambda: len(list(scripts.glob("*/up"))) == len(SCRIPTS), 60)
    # What reads a server's output is itself for a moment still the shell that starts it.
    await eventually(lambda: programs() == PROGRAMS)
    host = LocalHost("box")
    found = await discover(host, ENGINES, within=os.getpid())
    await host.close()
    logs = {server.port: [Path(target.path) for target in server.logs] for server in found.servers}
    asked = {name: logs[4000 + number] for number, name in enumerate(SCRIPTS)}
    assert {name: [path.name for path in paths] for name, paths in asked.items()} == {
        name: expected for name, (_, expected) in SCRIPTS.items()
    }


def programs() -> list[str]:
    """The programs below this test that read what a server prints."""
    names: list[str] = []
    for pid in family(os.getpid()):
        with contextlib.suppress(OSError):
            # One that has ended keeps its name until somebody has awaited it.
            if alive(pid):
                names.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return sorted(name for name in names if name in PROGRAMS)


def test_a_log_that_was_deleted_is_not_the_log() -> None:
    tee = Reader(72, "tee server.log")
    deleted, other = Written(72, "/tmp/server.log (deleted)", 3, "o"), Written(72, "/tmp/out.log", 1, "om")
    assert best_file([tee], [other, deleted]) == other
    assert best_file([tee], [deleted]) is None


def test_a_log_that_only_its_owner_can_read_is_named() -> None:
    readers = [Reader(72, "/usr/bin/tee /home/ann/server.log")]
    descriptor = Descriptor("p", "pipe:[9]", readers, [Written(72, "/home/ann/server.log", 3)])
    (target,) = find_targets({1: descriptor}, Surroundings(pid=71, user="ann", login="bob"))
    assert (target.path, target.kind) == ("", "denied")
    assert "/home/ann/server.log, written by tee (PID 72) from stdout, cannot be read by bob" in target.note


def test_a_file_that_is_no_text_is_not_the_log() -> None:
    descriptor = Descriptor("p", "pipe:[9]", [Reader(72, "gzip -c")], [Written(72, "/tmp/server.log.gz", 1, "o")])
    (target,) = find_targets({1: descriptor}, Surroundings(pid=71))
    assert (target.path, target.kind) == ("", "pipe")
    assert "gzip (PID 72), which writes no file that can be read here" in target.note


def test_readers_in_a_circle_come_to_an_end() -> None:
    readers = [Reader(72, "tee", 73), Reader(73, "tee", 72)]
    assert not holds_all("/tmp/a", readers, [Written(72, "/tmp/a", 3, "o")])


@pytest.mark.parametrize("program", load_programs(), ids=lambda each: str(each.program.pattern))
def test_what_is_known_of_a_program_fits_its_samples(program: Program) -> None:
    assert program.samples
    for sample in program.samples:
        title, logs, own = sample["title"], sample.get("log", []), sample.get("own", [])
        assert program_of(title) is program
        for descriptor in (0, 5):
            reader = Reader(7, title, descriptor=descriptor)
            for paths, expected in ((logs, True), (own, False)):
                found = [best_file([reader], [Written(7, path, 4, "o")]) for path in paths]
                assert [each is not None for each in found] == [expected] * len(paths)


@pytest.mark.parametrize("title", ["multilog t ./main", "svlogd -tt ./main", "/bin/s6-log t ./main"])
def test_the_lock_of_a_folder_is_not_the_log(title: str) -> None:
    files = [Written(7, f"/service/main/{name}", 4 + n, "o") for n, name in enumerate(("lock", "current", "state"))]
    assert best_file([Reader(7, title)], files) == files[1]


def test_what_reads_many_pipes_has_the_servers_log_only_where_it_is_told_or_the_only_one() -> None:
    gatherer = Reader(7, "/opt/keeper", descriptor=9)
    files = [Written(7, "/tmp/out.log", 1, "o"), Written(7, "/tmp/a.log", 4, "o"), Written(7, "/tmp/b.log", 5, "o")]
    assert best_file([gatherer], files) is None
    assert best_file([gatherer], files, "/tmp/b.log") == files[2]
    assert best_file([gatherer], files, "/tmp/elsewhere.log") is None
    assert best_file([gatherer], files[:2]) == files[1]
    assert best_file([gatherer], files[:1]) == files[0]
    assert best_file([Reader(7, "/opt/filter")], files) == files[1]
    tee = Reader(8, "tee server.log")
    assert best_file([tee, gatherer], [*files, Written(8, "/tmp/server.log", 3, "o")]) == Written(
        8, "/tmp/server.log", 3, "o"
    )
    descriptor = Descriptor("p", "pipe:[9]", [gatherer], files)
    (target,) = find_targets({1: descriptor}, Surroundings(pid=71))
    assert "keeper (PID 7), which writes /tmp/a.log, /tmp/b.log and /tmp/out.log: which of them" in target.note


def test_where_a_launcher_says_that_the_log_is_it_is_read_though_its_files_are_closed() -> None:
    told = {1: Written(3, "/var/log/llm.log", flags="o"), 2: Written(3, "/root/llm.err")}
    around = Surroundings(pid=71, user="root", login="bob", launched="the program llm of supervisord", told=told)
    (out,) = find_targets({1: Descriptor()}, around)
    assert (out.path, out.kind) == ("/var/log/llm.log", "file")
    assert out.note == "stdout of the program llm of supervisord goes to /var/log/llm.log."
    (err,) = find_targets({2: Descriptor()}, around)
    assert (err.path, err.kind) == ("", "denied")
    assert "/root/llm.err, where stderr of the program llm of supervisord goes, cannot be read by bob" in err.note
