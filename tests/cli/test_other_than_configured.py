"""A target is named, and another server with it by --port or --pid: the target's own commands are not used on that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakehost import Tree, running
from headless import Way
from headless import way as way
from simulated import needs_linux
from sshd import free_port
from sshd import real_sshd as real_sshd
from waiting import alive

from bringup.cli.targets import choose, configuration

pytestmark = needs_linux


@dataclass
class Two:
    """Two servers of one host: that of the target kimi, and another."""

    way: Way
    kimi: Tree
    other: Tree
    kimi_port: int
    other_port: int

    @property
    def marker(self) -> Path:
        """Written by the target's stop command."""
        return self.way.folder / "marker"


@pytest.fixture
def two(way: Way, tmp_path: Path) -> Iterator[Two]:
    with ExitStack() as stack:
        trees, ports = [], []
        for name in ("kimi", "other"):
            (tmp_path / name).mkdir()
            ports.append(free_port())
            args = ("--model-path", f"/models/{name}", "--port", str(ports[-1]))
            trees.append(stack.enter_context(running(tmp_path / name, args=args)))
        two = Two(way, *trees, *ports)
        way.config.write_text(
            f'[targets.kimi]\nhost = "box"\nport = {two.kimi_port}\n'
            f'stop = "touch {two.marker}; kill {two.kimi.pid}"\nlaunch = "start-kimi"\n'
        )
        yield two


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.long
async def test_another_port_is_stopped_and_the_target_s_server_left_alone(two: Two) -> None:
    done = await two.way.run("stop", "kimi", "--port", str(two.other_port), "--yes", "--drain", "2s")
    assert done.code == 0, done.err
    assert (alive(two.kimi.pid), alive(two.other.pid), two.marker.exists()) == (True, False, False)
    assert "stops by SIGTERM" in words(done.err)
    assert (
        "beware The target's own stop and launch commands are not used: this is not known to be its server"
        f" (port {two.kimi_port})."
    ) in words(done.err)


@pytest.mark.long
async def test_a_restart_of_another_port_repeats_its_own_command(two: Two) -> None:
    shown = await two.way.run("restart", "kimi", "--port", str(two.other_port), "--read-only")
    assert "starts by the same command, directory and environment" in words(shown.err)
    assert "commands are not used" in words(shown.err)
    assert "start-kimi" not in shown.err


@pytest.mark.long
@pytest.mark.parametrize("command", ["stop", "restart"])
async def test_the_target_s_own_server_is_known_by_its_port_however_it_is_named(command: str, two: Two) -> None:
    for named in ((), ("--port", str(two.kimi_port)), ("--pid", str(two.kimi.pid))):
        shown = await two.way.run(command, "kimi", *named, "--read-only")
        assert f"PID {two.kimi.pid}" in shown.err
        assert f"stops by touch {two.marker}; kill {two.kimi.pid};" in words(shown.err)
        assert ("starts by start-kimi" in words(shown.err)) is (command == "restart")
        assert "not used" not in shown.err


@pytest.mark.parametrize(
    ("option", "by_hand"),
    [
        ({}, False),
        ({"port": 8000}, False),
        ({"port": 8001}, True),
        ({"pid": 41}, False),
        ({"pid": 42}, True),
        ({"log": "/kimi.log"}, False),
        ({"log": "/other.log"}, True),
    ],
)
def test_what_the_command_line_says_beside_the_target(
    option: dict[str, object], by_hand: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('[targets.kimi]\nport = 8000\npid = 41\nlog = "/kimi.log"\nstop = "true"\n')
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path))
    chosen = choose("kimi", config=configuration(), **option)  # type: ignore[arg-type]
    assert chosen.target.by_hand is by_hand
    assert chosen.target.own is chosen.configured


@pytest.mark.parametrize(("unit", "by_hand"), [("kimi", False), ("other", True)])
def test_another_unit_is_another_server(
    unit: str, by_hand: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bringup.hosts.ways import make_way

    (tmp_path / "config.toml").write_text('[targets.kimi]\nunit = "kimi"\nstop = "true"\n')
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path))
    assert choose("kimi", config=configuration(), way=make_way("unit", unit)).target.by_hand is by_hand
