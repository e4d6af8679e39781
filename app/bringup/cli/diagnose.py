"""`bringup diagnose [HOST]`: what the console's key collects, for a terminal without it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import Hosts, file_names
from bringup.cli.which import ANY, Which
from bringup.core.errors import UsageError

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.core.verdict import Verdict
    from bringup.session.console import Findings

STDOUT = "-"


def diagnose(
    *hosts: Hosts,
    output: Annotated[str, Parameter(name=("--output", "-o"), completer=file_names, allow_leading_hyphen=True)] = "",
    which: Which = ANY,
) -> int:
    """Collect what an expert asks for when a start hangs, into one file that only you can read; touches nothing.

    The verdict with its evidence, each rank's stacks (by py-spy where the host has it, else what the kernel tells),
    nvidia-smi, the kernel log, memory, disks, the end of the log; secrets are masked. Exit codes: 0 done, 1 it could
    not be written, 2 wrong command line or configuration, 4 the host cannot be reached.

    Parameters
    ----------
    hosts
        A target of the configuration, or whatever `ssh HOST` takes; several are the nodes of one start, the head node
        first. Nothing for this machine.
    output
        The file to write, `-` for standard output; by default one in the data folder, as the console's key makes it.
    """
    from bringup.cli.output import emit
    from bringup.report.diagnosis import diagnosis
    from bringup.report.harmless import harmless

    chosen = which.chosen(hosts)
    path = _place(output)
    verdict, findings = asyncio.run(_ask(chosen))
    text = diagnosis(chosen.target.name, verdict, findings)
    if output == STDOUT:
        emit(text)
        return 0
    kept = _keep(text, path, chosen.target.name, verdict.now)
    emit(f"{verdict.state}: {harmless(verdict.summary)}\nThe diagnosis is in {kept}.\n")
    return 0


def _place(output: str) -> Path | None:
    from bringup.report.saving import check_place

    if output in ("", STDOUT):
        return None
    if output.startswith("-"):
        raise UsageError(f"-o needs the name of a file, and {output} was given.", "`-` is standard output.")
    path = Path(output)
    check_place(path)
    return path


def _keep(text: str, path: Path | None, name: str, now: float) -> Path:
    from bringup.history.place import data_folder
    from bringup.report.diagnosis import FOLDER, save, save_as

    if path is None:
        return save(text, data_folder(os.environ) / FOLDER, name, now)
    save_as(text, path)
    return path


async def _ask(chosen: Chosen) -> tuple[Verdict, Findings]:
    from bringup.cli.headless import all_connected
    from bringup.session.diagnosing import together

    async with all_connected(chosen) as (sessions, headless):
        look = await headless.once()
        found = await asyncio.gather(*(session.diagnose() for _, session in sessions))
    return look.verdict, together([(name, each) for (name, _), each in zip(sessions, found, strict=True)])
