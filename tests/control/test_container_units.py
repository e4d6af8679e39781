"""Which systemd unit keeps a docker container: the one whose client started it, and no other that uses it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed

from bringup.hosts.shipped import read_script

OF_THE_SYSTEM = "0::/system.slice/llm.service"
OF_A_USER = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/llm.service"


def process(folder: Path, pid: int, parent: int, cgroup: str, *words: str) -> None:
    place = folder / "proc" / str(pid)
    place.mkdir(parents=True)
    (place / "cmdline").write_bytes(b"".join(os.fsencode(word) + b"\0" for word in words))
    (place / "status").write_text(f"Name:\t{words[0]}\nPPid:\t{parent}\nUid:\t0\t0\t0\t0\n")
    (place / "cgroup").write_text(f"{cgroup}\n")


async def units(host: Placed, place: Place) -> list[str]:
    place.program("docker", "echo main=9; echo name=llm")
    place.program("systemctl", "echo MainPID=20")
    asked = read_script("discover/docker.sh").replace("/proc/", f"{place.folder}/proc/")
    done = await host.run(f"set -- llm\n{asked}")
    return [line.removeprefix("unit=") for line in done.stdout.decode().splitlines() if line.startswith("unit=")]


@pytest.mark.parametrize(
    "words",
    [
        ("docker", "run", "--rm", "--name", "llm", "vllm/vllm-openai"),
        ("/usr/bin/docker", "--context", "run", "container", "start", "-a", "llm"),
        ("docker", "-H", "unix:///run/docker.sock", "run", "--name=llm", "image", "exec", "python3"),
    ],
)
async def test_a_client_that_starts_it(local: Placed, place: Place, words: tuple[str, ...]) -> None:
    process(place.folder, 20, 1, OF_THE_SYSTEM, "sh", "/opt/llm.sh")
    process(place.folder, 21, 20, OF_THE_SYSTEM, *words)
    assert await units(local, place) == ["llm.service"]


@pytest.mark.parametrize(
    "words",
    [
        ("docker", "exec", "llm", "uv", "run", "bench.py"),
        ("docker", "--context", "x", "logs", "-f", "llm"),
        ("docker", "compose", "run", "llm"),
        ("podman-docker", "run", "llm"),
    ],
)
async def test_a_client_that_only_uses_it(local: Placed, place: Place, words: tuple[str, ...]) -> None:
    process(place.folder, 20, 1, OF_THE_SYSTEM, *words)
    assert await units(local, place) == []


async def test_a_client_beside_the_units_main_process(local: Placed, place: Place) -> None:
    process(place.folder, 20, 1, OF_THE_SYSTEM, "python3", "agent.py")
    process(place.folder, 21, 1, OF_THE_SYSTEM, "docker", "run", "--name", "llm", "image")
    assert await units(local, place) == []


async def test_a_users_unit_is_not_the_systems(local: Placed, place: Place) -> None:
    process(place.folder, 20, 1, OF_A_USER, "docker", "run", "--name", "llm", "image")
    assert await units(local, place) == []
