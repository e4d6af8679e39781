"""`bringup watch HOST --launch NAME`: what is launched where, and what is refused before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bringup.cli.launching import launch, to_launch
from bringup.cli.targets import Chosen, choose, configuration
from bringup.cli.watching import open_console
from bringup.cli.which import ANY, Which
from bringup.core.errors import UsageError

CONFIG = """\
[targets.cluster]
hosts = ["n1", "n2"]
port = 1234
launch = "run-other-model.sh"
docker = "other"

[targets.bare]
hosts = ["n1", "n2"]

[targets.single]
hosts = ["n3"]
pid = 7

[targets.kimi]
host = "gpu-a"
port = 30000
launch = "run-kimi.sh"
stop = "stop-kimi.sh"

[targets.told]
host = "gpu-a"
launch = "serve --port 30000"

[targets.mapped]
host = "gpu-a"
launch = "docker run -p 8000:30000 vllm/vllm-openai --port 30000"

[targets.open]
host = "gpu-a"
launch = "serve"
stop = "stop-it"
"""


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration, and a name service that knows none of its hosts."""

    async def numbers(host: str) -> tuple[str, ...]:
        return ()

    monkeypatch.setattr("bringup.hosts.addresses._numbers", numbers)
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path))
    (tmp_path / "config.toml").write_text(CONFIG)


Launched = Callable[..., Chosen]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Launched:
    """Runs `watch HOSTS --launch NAME` on a terminal; returns what was launched and is watched then."""

    def run(name: str, *hosts: str, which: Which = ANY) -> Chosen:
        seen: list[Chosen] = []

        def note(chosen: Chosen, *_: object, **__: object) -> int:
            seen.append(chosen)
            return 0

        monkeypatch.setattr("bringup.cli.console.refuse_without_terminal", lambda: None)
        monkeypatch.setattr("bringup.cli.launching.launch", note)
        monkeypatch.setattr("bringup.cli.console.run_console", note)
        assert open_console(*hosts, which=which, launch=name, yes=True) == 0
        asked, watched = seen
        assert asked == watched
        return watched

    return run


def commands(nodes: tuple[Chosen, ...]) -> list[tuple[str, int | None, str]]:
    return [(node.host, node.target.port, node.target.launch.command if node.target.launch else "") for node in nodes]


@pytest.mark.parametrize("hosts", [("cluster",), ("bare",), ("n1", "n2")])
def test_each_host_of_a_cluster_launches_the_named_target(hosts: tuple[str, ...], launched: Launched) -> None:
    chosen = launched("kimi", *hosts)
    assert chosen.target.name == "kimi"
    assert commands(chosen.nodes) == [("n1", 30000, "run-kimi.sh"), ("n2", 30000, "run-kimi.sh")]
    places = [dict(node.target.launch.env) for node in chosen.nodes if node.target.launch is not None]
    assert [place["BRINGUP_NODE_RANK"] for place in places] == ["0", "1"]
    assert {place["BRINGUP_HEAD"] for place in places} == {"n1"}
    assert all(node.way is None and node.configured is chosen.configured for node in chosen.nodes)


def test_a_cluster_of_one_host_is_that_host(launched: Launched) -> None:
    chosen = launched("kimi", "single")
    assert (chosen.nodes, chosen.target.pid) == ((), None)
    assert commands((chosen,)) == [("n3", 30000, "run-kimi.sh")]
    assert commands((launched("cluster", "n9"),)) == [("n9", 1234, "run-other-model.sh")]


def test_a_node_without_a_command_is_never_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bringup.cli.launching._launched", None)
    with pytest.raises(UsageError, match="The target kimi has no launch command"):
        launch(choose("bare", config=configuration()), "kimi", yes=True)


@pytest.mark.parametrize("hosts", [(), ("open",), ("gpu-b",), ("n1", "n2"), ("cluster",)])
def test_what_is_said_of_the_server_is_said_of_the_launched_one(hosts: tuple[str, ...], launched: Launched) -> None:
    chosen = launched("open", *hosts, which=Which(port=31000, log="/tmp/it.log", unit="it"))
    for each in (chosen, *chosen.nodes):
        assert (each.target.port, each.target.log) == (31000, "/tmp/it.log")
        assert each.way is not None
        assert each.way.kind == "unit"
        assert not each.target.by_hand, "its stop command is for what was launched"


@pytest.mark.parametrize("hosts", [(), ("kimi",), ("gpu-b",), ("cluster",)])
@pytest.mark.parametrize("name", ["kimi", "told"])
def test_another_port_than_it_is_launched_on_is_refused(name: str, hosts: tuple[str, ...], launched: Launched) -> None:
    with pytest.raises(UsageError, match=rf"{name} is launched on port 30000, and --port names 31000\.") as refused:
        launched(name, *hosts, which=Which(port=31000))
    assert f"change the port in [targets.{name}]" in refused.value.hint
    assert launched(name, *hosts, which=Which(port=30000)).target.port == 30000


def test_a_container_may_have_its_port_under_another_number(launched: Launched) -> None:
    assert launched("mapped", which=Which(port=8000)).target.port == 8000


@pytest.mark.parametrize("hosts", [(), ("kimi",), ("gpu-b",)])
def test_what_is_launched_has_no_pid_yet(hosts: tuple[str, ...], launched: Launched) -> None:
    with pytest.raises(UsageError, match="--pid and --launch contradict each other"):
        launched("kimi", *hosts, which=Which(pid=4711))


def test_a_read_only_cluster_is_still_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(CONFIG.replace('docker = "other"', "read-only = true"))
    with pytest.raises(UsageError, match="cluster is read-only"):
        to_launch("kimi", ["cluster"], configuration())
