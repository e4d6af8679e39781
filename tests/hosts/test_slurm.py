"""What Slurm tells of a job: of one that runs, waits or is over, of an array, and of one with several components."""

from __future__ import annotations

import pytest
from runtimes import Runtime
from runtimes import runtime as runtime

from bringup.core.errors import Unreachable, UsageError
from bringup.hosts.local import LocalHost
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.slurm import Job, Place, read_job
from bringup.hosts.ways import make_way


async def told(number: str) -> Job:
    return await read_job(LocalHost("login"), number)


async def test_a_job_that_runs(runtime: Runtime) -> None:
    job = await told("4711")
    assert (job.state, job.nodes, job.log, job.waits) == ("RUNNING", ("node2", "node1"), "/shared/slurm-4711.out", "")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("4712", "The Slurm job 4712 is pending (Resources), and expected to start at 2026-01-02 11:30:00."),
        ("4713", "The Slurm job 4713 is pending (ReqNodeNotAvail, UnavailableNodes:node7)."),
    ],
)
async def test_a_job_that_waits(number: str, words: str, runtime: Runtime) -> None:
    job = await told(number)
    assert (job.state, job.places, job.waits) == ("PENDING", (), words)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("4714", r"The Slurm job 4714 is over at 2026-01-02 10:09:08: failed \(exit code 7\)\. What it wrote is in "),
        ("1", "Slurm on login does not know the job 1: .*Invalid job id specified"),
    ],
)
async def test_a_job_that_is_no_more(number: str, words: str, runtime: Runtime) -> None:
    with pytest.raises(Unreachable, match=words):
        await told(number)


async def test_a_task_of_an_array_has_a_plain_number_too(runtime: Runtime) -> None:
    """srun refuses 80_2 as a number, Slurm 22.05: `Invalid numeric value "80_2" for --jobid`."""
    assert (await told("80_2")).places == (Place("node2", "82"),)
    assert (await told("90")).places == (Place("node1", "91"),)
    with pytest.raises(UsageError, match="2 of its tasks run: 80_1, 80_2"):
        await told("80")


async def test_the_components_of_a_job_are_reached_by_its_leader(runtime: Runtime) -> None:
    assert (await told("100")).places == (Place("node1", "100+0"), Place("node2", "100+1"))
    assert make_way("slurm", "100+1@node2").run.split() == [
        *("srun", "--quiet", "--overlap", "--jobid=100", "--het-group=1", "--nodes=1", "--ntasks=1"),
        "--nodelist=node2",
    ]


async def test_a_command_runs_as_a_step_of_the_job(runtime: Runtime) -> None:
    host = await PrefixedHost.enter(LocalHost("login"), make_way("slurm", "4711@node1"))
    await host.run("true")
    assert (runtime.folder / "srun").read_text().split() == [
        *("--quiet", "--overlap", "--jobid=4711", "--nodes=1", "--ntasks=1", "--nodelist=node1"),
    ]
    await host.close()
