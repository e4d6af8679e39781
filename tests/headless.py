"""Commands without a screen run as a user runs them: as a process, over a real sshd that `ssh box` leads to."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sshd import Sshd

PATIENCE = 120.0


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it said on each stream."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> dict[str, Any]:
        """What standard output says, which is JSON and nothing else."""
        told: dict[str, Any] = json.loads(self.out)
        return told


@dataclass(frozen=True)
class Way:
    """An environment in which `ssh box` leads to the test's own sshd, and the configuration is empty."""

    folder: Path
    environ: Mapping[str, str]
    started: list[asyncio.subprocess.Process]

    @property
    def config(self) -> Path:
        return self.folder / "config" / "config.toml"

    async def start(self, *argv: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bringup", *argv),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(self.environ),
        )
        self.started.append(process)
        return process

    async def run(self, *argv: str) -> Done:
        """Run a command to its end."""
        return await ended(await self.start(*argv))


async def ended(process: asyncio.subprocess.Process) -> Done:
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    return Done(process.returncode or 0, out.decode(), err.decode())


@pytest.fixture
async def way(real_sshd: Sshd, tmp_path: Path) -> AsyncIterator[Way]:
    """The way to the test's sshd: an `ssh` on PATH that reads the test's own configuration."""
    known, config = tmp_path / "known_hosts", tmp_path / "ssh_config"
    known.write_text(real_sshd.known_line)
    dead = "Host nobody\n HostName 127.0.0.1\n Port 1\n"
    config.write_text(real_sshd.block("box", known) + dead)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n')
    (programs / "ssh").chmod(0o755)
    (tmp_path / "config").mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    environ = {
        **kept,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "BRINGUP_CONFIG_DIR": str(tmp_path / "config"),
        "BRINGUP_DATA_DIR": str(tmp_path / "data"),
    }
    started: list[asyncio.subprocess.Process] = []
    yield Way(tmp_path, environ, started)
    for process in started:
        if process.returncode is None:
            process.kill()
            await process.communicate()
