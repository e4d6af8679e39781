"""A read-only target protects its server by whatever name that is reached; decided before anything is connected to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bringup.cli import run
from bringup.cli.launching import launch, to_launch
from bringup.cli.protecting import protected, refuse_found, shielded
from bringup.cli.targets import Chosen, choose, choose_all, configuration
from bringup.core.errors import UsageError
from bringup.core.events import Launcher, LogTarget, Server

CONFIG = """\
[targets.production]
host = "gpu-b"
port = 8000
log = "/var/log/production.log"
read-only = true

[targets.whole]
hosts = ["node1", "node2"]
read-only = true

[targets.dev]
host = "root@gpu-b"
port = 8001
launch = "serve --port 8001"

[targets.also]
host = "GPU-B"
log = "/var/log/also.log"

[targets.portless]
host = "gpu-b"
launch = "serve"
"""


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration, and a name service that knows none of its hosts."""

    async def numbers(host: str) -> tuple[str, ...]:
        return ()

    monkeypatch.setattr("bringup.hosts.addresses._numbers", numbers)
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path))
    file = tmp_path / "config.toml"
    file.write_text(CONFIG)
    return file


def on(port: int | None, **more: object) -> Server:
    return Server(pid=7, start=1, engine="vllm", argv=(), port=port, **more)  # type: ignore[arg-type]


def chosen(*names: str, **more: object) -> Chosen:
    return shielded(choose_all(names, config=configuration(), **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("deed", ["stop", "restart"])
@pytest.mark.parametrize(
    ("argv", "target", "line"),
    [
        (["production"], "production", 5),
        (["production", "--port", "9"], "production", 5),
        (["gpu-b", "--port", "8000"], "production", 5),
        (["root@GPU-B", "--port", "8000"], "production", 5),
        (["ssh://me@gpu-b", "--port", "8000"], "production", 5),
        (["node1"], "whole", 9),
        (["root@node2", "--port", "5", "--log", "/x"], "whole", 9),
    ],
)
def test_what_is_protected_is_refused_at_once(
    argv: list[str], target: str, line: int, deed: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([deed, *argv, "--yes"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{target} is read-only" in said.err
    assert f"Take `read-only` away from [targets.{target}], {config}, line {line}, to allow it." in said.err


def test_one_of_several_hosts_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stop", "gpu-a", "root@node2", "--yes"]) == 2
    assert "whole is read-only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "more", "server", "refused"),
    [
        # Who names the host only may mean the server that is found there.
        (["gpu-b"], {}, on(8000), True),
        (["gpu-b"], {}, on(8001), False),
        (["gpu-b"], {}, on(None), True),
        (["gpu-b"], {"pid": 7}, on(8000), True),
        # What was named counts less than what was found.
        (["gpu-b"], {"log": "/elsewhere.log"}, on(8000), True),
        (["gpu-b"], {"log": "/elsewhere.log"}, on(None), False),
        (["gpu-b"], {"log": "/l"}, on(None, logs=(LogTarget("/var/log/production.log", "file"),)), True),
        (["dev"], {}, on(8001), False),
        (["also"], {}, on(8000), True),
        (["also"], {}, on(8002), False),
        (["gpu-c"], {}, on(8000), False),
        (["gpu-b"], {}, None, False),
    ],
)
def test_what_is_found_decides(names: list[str], more: dict[str, object], server: Server, refused: bool) -> None:
    found = chosen(*names, **more)
    if not refused:
        refuse_found(found, server)
        return
    with pytest.raises(UsageError, match="The target production is read-only"):
        refuse_found(found, server)


def test_a_unit_and_a_container_are_told_by_what_launched_the_server(config: Path) -> None:
    config.write_text('[targets.llm]\nhost = "gpu-b"\nunit = "llm"\nread-only = true\n')
    found = chosen("gpu-b")
    refuse_found(found, on(1, launcher=Launcher("systemd", "other.service")))
    refuse_found(found, on(1, launcher=Launcher("systemd-user", "llm.service")))
    with pytest.raises(UsageError, match="this is its server"):
        refuse_found(found, on(1, launcher=Launcher("systemd", "llm.service")))
    with pytest.raises(UsageError, match=r"this may be its server \(unit llm\).*give that target its port"):
        refuse_found(found, on(1))


async def test_who_only_looks_is_told_nothing(config: Path) -> None:
    seen = await protected(choose("gpu-b", config=configuration()))
    assert not seen.target.read_only
    assert [guard.target for guard in seen.target.guards or ()] == ["production"]
    assert await protected(seen) is seen, "it is looked up once"


def test_without_read_only_targets_no_host_is_looked_up(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bringup.hosts.addresses.address_of", None)
    config.write_text(CONFIG.replace("read-only = true", ""))
    assert chosen("gpu-b").target.guards is None


@pytest.mark.parametrize(
    ("name", "hosts", "target"),
    [
        ("portless", [], "production"),
        ("dev", ["production"], "production"),
        ("dev", ["gpu-a", "node1"], "whole"),
        ("dev", ["node2"], "whole"),
    ],
)
def test_nothing_is_launched_where_it_may_be_the_protected_server(name: str, hosts: list[str], target: str) -> None:
    with pytest.raises(UsageError, match=f"{target} is read-only"):
        launch(to_launch(name, hosts, configuration(), port=None, log=None), name, yes=True)


@pytest.mark.parametrize("name", ["dev", "portless"])
def test_a_server_of_another_port_is_launched(name: str, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text(CONFIG.replace('launch = "serve"', 'launch = "serve --port 8002"'))
    asked: list[Chosen] = []

    async def launched(nodes: list[Chosen], name: str, *, yes: bool) -> None:
        asked.extend(nodes)

    monkeypatch.setattr("bringup.cli.launching._launched", launched)
    launch(to_launch(name, [], configuration(), port=None, log=None), name, yes=True)
    assert len(asked) == 1


def test_a_line_that_is_no_more_is_not_named(config: Path) -> None:
    known = configuration()
    config.unlink()
    with pytest.raises(UsageError) as refused:
        shielded(choose("production", config=known))
    assert refused.value.hint == "Take `read-only` away from [targets.production] to allow it."
    assert replace(choose("production", config=known).target, read_only=False).guards is None
