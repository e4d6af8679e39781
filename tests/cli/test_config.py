"""`bringup config` and what the commands make of a configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from bringup.cli import run
from bringup.cli.keymap import own_keys
from bringup.cli.targets import THIS_MACHINE, choose, configuration
from bringup.config.reading import load_config
from bringup.core.errors import UsageError
from bringup.session.target import Drains


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path))
    return tmp_path


def written(folder: Path, text: str) -> Path:
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    return file


# --- check, path, sample ---


def test_the_sample_is_good(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "sample"]) == 0
    file = written(folder, capsys.readouterr().out)
    assert run(["config", "check"]) == 0
    assert capsys.readouterr().out == f"{file}: good, with 4 targets.\n"


def test_the_path_is_where_the_environment_points(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{folder / 'config.toml'}\n"


def test_none_is_needed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "check"]) == 0
    assert capsys.readouterr().out == f"{folder / 'config.toml'}: there is no configuration, and none is needed.\n"
    assert configuration() is None


def test_a_file_that_is_named_must_be_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "check", str(folder / "other.toml")]) == 2
    assert "There is no file" in capsys.readouterr().err


def test_all_mistakes_are_listed_and_the_code_is_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(folder, "belt = true\n[targets.a]\nport = 0\n")
    assert run(["config", "check"]) == 2
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        f"{file}, line 1: The file has no key 'belt'. Did you mean bell?",
        f"{file}, line 3: port in [targets.a] is 0. Expected a port number from 1 to 65535.",
    ]
    assert said.err == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('theme = "drak"', "line 1: There is no theme 'drak'. Did you mean dark?"),
        ('[keys]\nfulll = "x"', "line 2: There is no action 'fulll'. Did you mean full?"),
        ('[keys]\nfull = "hyper+x"', "line 2: There is no key 'hyper+x'. Expected keys such as"),
        ('[keys]\nfull = "n"', "line 2: 'n' is the key of next, too. Expected a key of its own"),
        ('[keys]\nkill = "k"', "line 2: 'k' is pressed too easily for kill. Expected a capital"),
        ('[keys]\nrestart = "f5"', "line 2: 'f5' is pressed too easily for restart."),
        ('[targets.a]\nhost = "multi\\nline"', "line 2: 'multi\\nline' is not the name of a host. Expected a host as"),
        ('[targets.a]\nhost = "-oProxyCommand=x"', "line 2: '-oProxyCommand=x' is not the name of a host."),
        ('[targets.a]\nhosts = ["a",\n"b c"]', "line 3: 'b c' is not the name of a host."),
        ('[targets.a]\nslurm = "1;rm"', "line 2: '1;rm' cannot be what slurm names. Expected JOBID"),
        ('[targets.a]\nkube = "nopod"', "line 2: 'nopod' cannot be what kube names. Expected NAMESPACE/POD"),
        (
            '[thresholds.patience.weights]\nslow = "5m"\nstalled = "1m"',
            "line 2: weights would be called stalled (60 s) before it is called slow (300 s). Expected slow",
        ),
        ("[thresholds.patience.weights]\nstalled = 9", "line 2: weights would be called stalled (9 s) before"),
        ('[thresholds.advice]\nnosuch = "x"', "line 2: There is no kind of cause 'nosuch'. Expected one of: auth"),
        ('[thresholds.advice]\n"warning:ooom" = "x"', "line 2: There is no kind of warning 'ooom'."),
    ],
)
def test_names_of_which_nothing_is_known(
    text: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(folder, text)
    assert run(["config", "check"]) == 2
    assert capsys.readouterr().out.startswith(f"{file}, {told}")


def test_no_console_takes_keys_that_are_wrong(folder: Path) -> None:
    assert own_keys(load_config(written(folder, '[keys]\nkill = "X"'))) == {"kill": "X"}
    with pytest.raises(UsageError, match=r"\[keys\] in the configuration: 'k' is pressed too easily for kill"):
        own_keys(load_config(written(folder, '[keys]\nkill = "k"')))


def test_what_is_known_is_good(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(
        folder,
        '[keys]\nkill = "X"\n[thresholds.advice]\n"oom:vllm" = "x"\n"warning:watchdog" = "y"\nsecondary = "z"\n'
        '[targets.a]\nhost = "ssh://root@[::1]:22"\nkube = "a/b/c"\n[targets.b]\nslurm = "4711_3@n1"\n'
        "[thresholds.patience.weights]\nslow = 300\nstalled = 300\n",
    )
    assert run(["config", "check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("keys", ["x", "ctrl+x,f5", "full_stop", "shift+tab", "X", "space", "question_mark"])
def test_keys_that_there_are(keys: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(folder, f'[keys]\nfull = "{keys}"\ncause = "ctrl+y"\nhelp = "f1"\npage-down = "pagedown"')
    assert run(["config", "check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[stop]\ndrain = "soon"', "line 2: drain in [stop] is 'soon'. Expected a number of seconds, or a duration"),
        ("[stop]\ndrain = -1", "line 2: drain in [stop] is -1."),
        ("[stop]\ndrian = 9", "line 2: [stop] has no key 'drian'. Did you mean drain?"),
        ("[targets.a]\npatient = true", "line 2: patient in [targets.a] is true."),
    ],
)
def test_times_of_a_stop_that_cannot_be(text: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(folder, text)
    assert run(["config", "check"]) == 2
    assert capsys.readouterr().out.startswith(f"{file}, {told}")


# --- targets ---


def chosen(folder: Path, text: str, name: str | None, **options: object):  # type: ignore[no-untyped-def]
    return choose(name, config=load_config(written(folder, text)), **options)  # type: ignore[arg-type]


KIMI = '[targets.kimi]\nhost = "root@gpu-a"\nport = 30000\nlog = "/x.log"\nread-only = true\n'


def test_a_target_stands_for_a_host_and_its_options(folder: Path) -> None:
    found = chosen(folder, KIMI, "kimi")
    target = found.target
    assert (found.host, target.name, target.port, target.log, target.read_only) == (
        "root@gpu-a",
        "kimi",
        30000,
        "/x.log",
        True,
    )


def test_the_command_line_counts_more(folder: Path) -> None:
    found = chosen(folder, KIMI, "kimi", port=8000, log="/y.log")
    assert (found.target.port, found.target.log) == (8000, "/y.log")
    assert found.target.read_only, "what is forbidden in the configuration stays forbidden"
    assert chosen(folder, KIMI, "kimi", pid=7).target.port is None


def test_how_long_a_stop_waits_is_said_for_all_and_for_a_target(folder: Path) -> None:
    text = '[stop]\ndrain = "30s"\npatient = "10m"\n[targets.slow]\ndrain = "2m"\n'
    assert chosen(folder, text, "slow").target.drains == Drains(drain=120.0, patient=600.0)
    assert chosen(folder, text, "gpu-a").target.drains == Drains(drain=30.0, patient=600.0)
    assert chosen(folder, "[targets.slow]\ndrain = 0\n", "slow").target.drains == Drains(drain=0.0)
    assert choose("gpu-a").target.drains == Drains()


@pytest.mark.parametrize(("name", "host", "shown"), [("gpu-a", "gpu-a", "gpu-a"), ("ssh:kimi", "ssh:kimi", "kimi")])
def test_any_other_name_is_a_host(name: str, host: str, shown: str, folder: Path) -> None:
    found = chosen(folder, KIMI, name)
    assert (found.host, found.target.name, found.target.port, found.configured) == (host, shown, None, None)


def test_nothing_is_this_machine(folder: Path) -> None:
    assert (chosen(folder, KIMI, None).host, chosen(folder, KIMI, None).target.name) == ("", THIS_MACHINE)
    assert chosen(folder, "[targets.here]\nport = 1\n", "here").host == ""


def test_several_hosts_are_the_nodes_of_one_start(folder: Path) -> None:
    two = chosen(folder, '[targets.two]\nhosts = ["a", "b"]\nport = 8000\nlaunch = "run"\n', "two")
    assert [(node.host, node.target.name, node.target.port) for node in two.nodes] == [
        ("a", "a", 8000),
        ("b", "b", 8000),
    ]
    places = [node.target.launch.env for node in two.nodes if node.target.launch is not None]
    assert places == [
        {"BRINGUP_NODE_RANK": "0", "BRINGUP_NODES": "2", "BRINGUP_HEAD": "a"},
        {"BRINGUP_NODE_RANK": "1", "BRINGUP_NODES": "2", "BRINGUP_HEAD": "a"},
    ]
    assert chosen(folder, '[targets.one]\nhosts = ["a"]\n', "one").host == "a"


def test_a_host_that_is_none_is_refused_by_its_name(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"'-oProxyCommand=x' is not the name of a host"):
        chosen(folder, '[targets.a]\nhost = "-oProxyCommand=x"\n', "a")


def test_thresholds_reach_the_judgement(folder: Path) -> None:
    policy = chosen(folder, "[thresholds.patience.weights]\nstalled = '1h'\n", None).policy()
    assert policy.patience["weights"].stalled == 3600
