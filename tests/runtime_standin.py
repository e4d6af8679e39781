"""Stands in for docker, kubectl, journalctl, systemctl, scontrol and srun: takes their words, really runs commands.

Called as `runtime_standin.py FOLDER PROGRAM ARGUMENTS…`. FOLDER/log holds "NANOSECONDS TEXT" lines, FOLDER/down says
that nothing runs, FOLDER/noshell that there is no shell, FOLDER/inside is the PATH inside, FOLDER/mainpid a unit's,
FOLDER/job-4711 what Slurm says of that job; FOLDER/asked is there once it has said something.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

NAMES = {"docker": ["llm"], "kubectl": ["-n", "default", "llm-0", "-c", "engine"]}
RUNS = "JobState=RUNNING Reason=None StartTime=2026-01-02T10:00:00 ExcNodeList=(null) StdOut=/shared/out"
JOBS = {
    "4711": (
        "JobId=4711 JobName=a=b UserId=me(1000) JobState=RUNNING Reason=None NodeList=node[1-2] BatchHost=node2 "
        "StdErr=/shared/slurm-4711.out StdIn=/dev/null StdOut=/shared/slurm-4711.out Comment=JobState=FAILED"
    ),
    "4712": "JobId=4712 JobState=PENDING Reason=Resources StartTime=2026-01-02T11:30:00 NodeList= StdOut=/shared/out",
    "4713": "JobId=4713 JobState=PENDING Reason=ReqNodeNotAvail,_UnavailableNodes:node7 StartTime=Unknown NodeList=",
    "4714": (
        "JobId=4714 JobState=FAILED Reason=NonZeroExitCode ExitCode=7:0 EndTime=2026-01-02T10:09:08 "
        "NodeList=node1 BatchHost=node1 StdOut=/shared/out"
    ),
    "80": (
        "JobId=80 ArrayJobId=80 ArrayTaskId=3-5%2 JobState=PENDING Reason=JobArrayTaskLimit NodeList=\n"
        f"JobId=82 ArrayJobId=80 ArrayTaskId=2 {RUNS} NodeList=node2 BatchHost=node2\n"
        f"JobId=81 ArrayJobId=80 ArrayTaskId=1 {RUNS} NodeList=node1 BatchHost=node1"
    ),
    "80_2": f"JobId=82 ArrayJobId=80 ArrayTaskId=2 {RUNS} NodeList=node2 BatchHost=node2",
    "90": (
        "JobId=90 ArrayJobId=90 ArrayTaskId=2-9%1 JobState=PENDING Reason=JobArrayTaskLimit NodeList=\n"
        f"JobId=91 ArrayJobId=90 ArrayTaskId=1 {RUNS} NodeList=node1 BatchHost=node1"
    ),
    "100": (
        f"JobId=100 HetJobId=100 HetJobOffset=0 {RUNS} NodeList=node1 BatchHost=node1\n"
        f"JobId=101 HetJobId=100 HetJobOffset=1 {RUNS} NodeList=node2"
    ),
}
"""As Slurm 22.05 tells them, without what nobody reads."""


def fail(text: str, status: int = 1) -> None:
    sys.stderr.write(f"{text}\n")
    sys.exit(status)


def inside(folder: Path, command: list[str]) -> int:
    """Run a command in a session of its own, as a runtime does: only its standard input ties it to the client."""
    if (folder / "down").exists():
        fail("Error response from daemon: container 77aa is not running")
    if (folder / "noshell").exists():
        fail('OCI runtime exec failed: exec failed: exec: "sh": executable file not found in $PATH: unknown', 127)
    path = (folder / "inside").read_text() if (folder / "inside").exists() else os.environ["PATH"]
    return subprocess.call(["/usr/bin/env", f"PATH={path}", *command], start_new_session=True)


def follow(folder: Path, since: int, form: str) -> None:
    with (folder / "log").open() as file:
        line = ""
        while not (folder / "down").exists():
            line += file.readline()
            if not line.endswith("\n"):
                time.sleep(0.02)
                continue
            nanos, text = line.split(" ", 1)
            line = ""
            if int(nanos) >= since:
                moment = datetime.fromtimestamp(int(nanos) // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
                fraction = int(nanos) % 10**9
                stamp = f"{moment}.{fraction:09}Z" if form == "nano" else f"{moment}.{fraction // 1000:06}+0000"
                sys.stdout.write(f"{stamp} {text}" if form == "nano" else f"{stamp} box llm[7]: {text}")
                sys.stdout.flush()


def nanos(since: str) -> int:
    return int(datetime.fromisoformat(since.replace("Z", "+00:00")).timestamp()) * 10**9 if since else 0


def docker(folder: Path, words: list[str]) -> int:
    if words[0] == "exec":
        assert words[1] == "-i"
        if words[2:3] != NAMES["docker"]:
            fail(f"Error response from daemon: No such container: {words[2]}")
        return inside(folder, words[3:])
    assert words[:3] == ["logs", "-f", "--timestamps"]
    if words[-1:] != NAMES["docker"]:
        fail(f"Error response from daemon: No such container: {words[-1]}")
    follow(folder, nanos(words[4] if words[3] == "--since" else ""), "nano")
    return 0


def kubectl(folder: Path, words: list[str]) -> int:
    if words[0] == "exec":
        at = words.index("--")
        if words[2:at] not in (NAMES["kubectl"], NAMES["kubectl"][:3]):
            fail(f'Error from server (NotFound): pods "{words[4]}" not found')
        return inside(folder, words[at + 1 :])
    assert words[:3] == ["logs", "-f", "--timestamps"]
    since = next((word.partition("=")[2] for word in words if word.startswith("--since-time=")), "")
    follow(folder, nanos(since), "nano")
    return 0


def journalctl(folder: Path, words: list[str]) -> int:
    assert {"--no-pager", "-q", "-f", "short-iso-precise"} <= set(words)
    since = next((word.partition("@")[2] for word in words if word.startswith("--since=")), "0")
    follow(folder, int(since) * 10**9, "micro")
    return 0


def systemctl(folder: Path, words: list[str]) -> int:
    assert words[-4:-1] == ["show", "-p", "MainPID"] or words[-3:-1] == ["-p", "MainPID"]
    print(f"MainPID={(folder / 'mainpid').read_text().strip()}")
    return 0


def scontrol(folder: Path, words: list[str]) -> int:
    if words[:3] == ["-o", "show", "job"]:
        known = folder / f"job-{words[3]}"
        if words[3] not in JOBS and not known.exists():
            fail("slurm_load_jobs error: Invalid job id specified")
        print(known.read_text() if known.exists() else JOBS[words[3]])
        (folder / "asked").touch()
    else:
        assert words[:2] == ["show", "hostnames"]
        print({"node[1-2]": "node1\nnode2"}.get(words[2], words[2]))
    return 0


def srun(folder: Path, words: list[str]) -> int:
    at = next(index for index, word in enumerate(words) if not word.startswith("--"))
    (folder / "srun").write_text(" ".join(words[:at]))
    return inside(folder, words[at:])


if __name__ == "__main__":
    program = {each.__name__: each for each in (docker, kubectl, journalctl, systemctl, scontrol, srun)}[sys.argv[2]]
    sys.exit(program(Path(sys.argv[1]), sys.argv[3:]))
