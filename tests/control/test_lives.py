"""What a launcher's tool tells of what it started, as each tool tells it; and what none of them tells."""

from __future__ import annotations

import pytest
from engineserver import Place
from placedhost import Placed

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Completed
from bringup.hosts.control.lives import Life, life

UNIT = "LoadState={}\\nActiveState={}\\nResult={}\\nExecMainStatus={}\\nSubState={}\\n"
JOB = "JobId=4711 JobName=a=b UserId=me(1000) JobState={} Reason={} ExitCode={} Comment=JobState=FAILED"


def unit(*values: str) -> str:
    return f'[ "$1 ${{12}}" = "show llm.service" ] || exit 1; printf \'{UNIT.format(*values)}\''


def program(line: str) -> str:
    return f'[ "$*" = "-c my.conf status llm:llm_0" ] || exit 2; echo "llm:llm_0        {line}"; exit 3'


def service(line: str) -> str:
    return f'echo "{line}"; exit 1'


def job(*values: str) -> str:
    return f'[ "$*" = "-o show job 4711" ] || exit 1; echo "{JOB.format(*values)}"'


SYSTEMD = ("systemctl", "unit llm.service systemctl")
SUPERVISORD = ("supervisorctl", "program llm:llm_0 my.conf")
RUNIT = ("sv", "kept_up /etc/service/llm sv status")
S6 = ("s6-svstat", "kept_up /run/service/llm s6-svstat")
SLURM = ("scontrol", "job 4711")


@pytest.mark.parametrize(
    ("asked", "tool", "state", "words"),
    [
        (SYSTEMD, unit("loaded", "active", "success", "0", "running"), "runs", "active (running)"),
        (
            SYSTEMD,
            unit("loaded", "failed", "exit-code", "203", "failed"),
            "ended",
            "failed (failed), result exit-code, exit status 203",
        ),
        (
            SYSTEMD,
            unit("loaded", "inactive", "success", "0", "dead"),
            "ended",
            "inactive (dead), result success, exit status 0",
        ),
        (
            SYSTEMD,
            unit("loaded", "activating", "exit-code", "1", "auto-restart"),
            "waits",
            "activating (auto-restart), result exit-code, exit status 1",
        ),
        (SYSTEMD, unit("not-found", "inactive", "success", "0", "dead"), "", ""),
        (SYSTEMD, "echo Failed to connect to bus >&2; exit 1", "", ""),
        (SUPERVISORD, program("RUNNING   pid 12, uptime 0:00:03"), "runs", "RUNNING pid 12, uptime 0:00:03"),
        (SUPERVISORD, program("BACKOFF   Exited too quickly"), "waits", "BACKOFF Exited too quickly"),
        (SUPERVISORD, program("FATAL     can't find command"), "ended", "FATAL can't find command"),
        (SUPERVISORD, "echo unix:///run/supervisor.sock no such file; exit 4", "", ""),
        (RUNIT, service("run: llm: (pid 7) 3s"), "runs", "run: llm: (pid 7) 3s"),
        (RUNIT, service("down: llm: 1s, normally up, want up"), "waits", "down: llm: 1s, normally up, want up"),
        (RUNIT, service("down: llm: 9s, normally up"), "ended", "down: llm: 9s, normally up"),
        (RUNIT, service("fail: llm: runsv not running"), "", ""),
        (S6, service("up (pid 7) 3 seconds"), "runs", "up (pid 7) 3 seconds"),
        (
            S6,
            service("down (exitcode 1) 2 seconds, normally up, want up"),
            "waits",
            "down (exitcode 1) 2 seconds, normally up, want up",
        ),
        (
            S6,
            service("down (exitcode 125) 2 seconds, normally up"),
            "ended",
            "down (exitcode 125) 2 seconds, normally up",
        ),
        (SLURM, job("RUNNING", "None", "0:0"), "runs", "RUNNING"),
        (SLURM, job("PENDING", "Resources", "0:0"), "waits", "PENDING, reason Resources"),
        (SLURM, job("FAILED", "NonZeroExitCode", "7:0"), "ended", "FAILED, reason NonZeroExitCode, exit status 7:0"),
        (SLURM, "echo slurm_load_jobs error: Invalid job id specified >&2; exit 1", "", ""),
    ],
)
async def test_each_tool_in_its_own_words(
    local: Placed, place: Place, asked: tuple[str, str], tool: str, state: str, words: str
) -> None:
    name, command = asked
    place.program(name, f"{tool}\n")
    assert await life(local, command) == Life(state, words)  # type: ignore[arg-type]


async def test_what_nobody_can_tell(local: Placed, place: Place) -> None:
    assert await life(local, "") == Life()
    assert local.scripts == []
    place.program("docker", "echo permission denied >&2; exit 1\n")
    assert await life(local, "container llm docker") == Life()
    place.program("docker", "echo 'main=7'\n")
    assert await life(local, "container llm docker") == Life()


class Hanging(Placed):
    """A host whose tools give no answer."""

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        raise ChannelRefused("box gave no answer.", reason="timeout")


async def test_a_tool_that_hangs_is_as_if_nobody_had_asked(local: Placed, place: Place) -> None:
    assert await life(Hanging(local.inner, place.environ), "container llm docker") == Life()
