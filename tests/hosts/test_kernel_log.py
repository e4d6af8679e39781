"""The kernel log of a host: what is read of it, by which program, and what is said where it may not be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from fakehost import make_program

from bringup.core.errors import ChannelRefused, UsageError
from bringup.core.events import KernelLine
from bringup.hosts.kernel_log import MOST_LINES, ask, load_patterns, script
from bringup.hosts.kernel_log.lines import decode
from bringup.hosts.kernel_log.patterns import parse_patterns
from bringup.hosts.local import LocalHost

PATTERNS = load_patterns()
KILLED = "Out of memory: Killed process 41210 (python3) total-vm:8kB, anon-rss:7kB"
OTHER = "Out of memory: Killed process 412100 (java) total-vm:8kB"
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
FOREIGN = "NVRM: Xid (PCI:0000:3b:00): 31, pid=5, name=python3, MMU Fault"
CRASH = "python3[41211]: segfault at 0 ip 0 sp 0 error 4 in libcuda.so"
OURS = {41210, 41211}


def iso(*texts: str) -> str:
    return "".join(f"2026-03-02T09:14:{second:02},250000+00:00 {text}\n" for second, text in enumerate(texts))


class Machine:
    """Programs that stand in for those of a host, first on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program("dmesg", "exit 1")
        self.program("journalctl", "exit 0")
        self.program("sudo", "exit 1")

    def program(self, name: str, text: str) -> None:
        make_program(self.folder, name, text + "\n")

    def prints(self, name: str, text: str, when: str = "*") -> None:
        (self.folder / f"{name}.txt").write_text(text)
        self.program(name, f'case "$*" in {when}) cat {self.folder}/{name}.txt ;; *) exit 1 ;; esac')

    async def ask(self, **more: Any) -> tuple[KernelLine, ...]:
        return (await ask(LocalHost(), OURS, PATTERNS, at=5.0, **more)).lines


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return Machine(tmp_path / "bin")


async def test_lines_about_our_processes_and_the_gpus_are_read_with_their_times(machine: Machine):
    machine.prints("dmesg", iso("eth0: link up", KILLED, OTHER, XID, FOREIGN, CRASH))
    found = await machine.ask()
    assert [(line.kind, line.text, line.pid) for line in found] == [
        ("oom", KILLED, 41210),
        ("gpu-fault", XID, None),
        ("fault", CRASH, 41211),
    ]
    assert found[0].at == 1772442841.25


async def test_an_older_dmesg_counts_from_the_boot(machine: Machine):
    boot = next(int(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line[:5] == "btime")
    machine.prints("dmesg", f"[   12.500000][  T99] {XID}\n[  100.250000] {KILLED}\n", when='""')
    assert [line.at - boot for line in await machine.ask()] == [12.5, 100.25]


async def test_where_dmesg_is_closed_the_journal_is_asked(machine: Machine):
    machine.prints("journalctl", f"1772442841.250000 gpu-a kernel: {KILLED}\n")
    found = await machine.ask()
    assert [(line.at, line.text) for line in found] == [(1772442841.25, KILLED)]


async def test_sudo_is_tried_only_where_it_is_allowed(machine: Machine):
    machine.prints("dmesg", iso(KILLED))
    secret = machine.folder / "dmesg.real"
    (machine.folder / "dmesg").rename(secret)
    machine.program("dmesg", "exit 1")
    machine.program("sudo", f'[ "$1" = -n ] && shift; shift; exec {secret} "$@"')
    with pytest.raises(ChannelRefused):
        await machine.ask()
    assert [line.kind for line in await machine.ask(sudo=True)] == ["oom"]


async def test_where_it_may_not_be_read_it_says_what_would_open_it(machine: Machine):
    with pytest.raises(ChannelRefused, match=r"may not be read.*group adm") as refused:
        await machine.ask()
    assert refused.value.reason == "denied"


async def test_an_empty_log_is_an_answer(machine: Machine):
    machine.prints("dmesg", "")
    assert await machine.ask() == ()


async def test_a_storm_of_lines_is_bounded_and_the_newest_are_kept(machine: Machine):
    machine.prints("dmesg", iso(*[KILLED] * 50) * 100 + iso(CRASH))
    found = await machine.ask()
    assert len(found) == MOST_LINES
    assert found[-1].kind == "fault"


async def test_lines_of_others_do_not_crowd_out_ours(machine: Machine):
    machine.prints("dmesg", iso(KILLED) + iso(*[OTHER] * 50) * 100)
    assert [line.pid for line in await machine.ask()] == [41210]


def test_what_comes_back_is_not_trusted():
    data = (
        b"clock iso\n2026-03-02T09:14:00,250000+00:00 Killed process 41210 (\x1b[31mx" + b"y" * 9000 + b")\n\xff\xfe\n"
    )
    (line,) = decode(data, OURS, PATTERNS)
    assert "\x1b" not in line.text
    assert len(line.text) <= 500
    for noise in (b"", b"clock", b"clock moon\n" + KILLED.encode(), b"bash: dmesg: not found\n"):
        assert decode(noise, OURS, PATTERNS) == ()


@pytest.mark.parametrize("stamp", ["2026-99-02T09:14:00,250000+00:00 ", "[never] ", ""])
def test_a_line_without_a_usable_time_says_so(stamp: str):
    (line,) = decode(f"clock iso\n{stamp}{KILLED}\n".encode(), OURS, PATTERNS)
    assert line.at == 0.0


def test_a_boot_that_is_not_known_gives_no_time():
    (line,) = decode(f"clock boot \n[  12.5] {KILLED}\n".encode(), OURS, PATTERNS)
    assert line.at == 0.0


def test_the_question_holds_no_more_processes_than_a_command_line_can():
    assert len(script(range(1, 100_000), PATTERNS)) < 10_000
    assert "sudo" not in script([1], PATTERNS).partition("\n")[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "weather"},
        {"match": "("},
        {"find": None},
        {"samples": []},
        {"samples": [["something else", 0]]},
        {"samples": [["Killed process 5 (x)", 6]]},
        {"others": ["Killed process 5 (x)"]},
    ],
)
def test_a_wrong_pattern_is_refused_in_words(wrong: dict[str, Any]):
    good = {
        "kind": "oom",
        "find": "Killed process [0-9]",
        "match": r"Killed process (?P<pid>\d+) \(",
        "samples": [["Killed process 5 (x)", 5]],
    }
    assert len(parse_patterns({"patterns": [good]}, "own.toml")) == 1
    with pytest.raises(UsageError, match=r"own\.toml"):
        parse_patterns(
            {"patterns": [{key: value for key, value in {**good, **wrong}.items() if value is not None}]}, "own.toml"
        )
