"""A configuration is right, or each mistake in it is told with its line and what was expected."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from bringup.config.folder import config_file, config_folder
from bringup.config.overlay import thresholds
from bringup.config.reading import load_config, read_config
from bringup.config.shapes import Config, HistoryShape, RecordingShape, Target, Thresholds
from bringup.core.errors import UsageError
from bringup.engines.patience import load_policy


def wrong(tmp_path: Path, text: str) -> list[str]:
    """What is told of a file, without its name."""
    file = tmp_path / "config.toml"
    file.write_text(text, "utf-8")
    return [str(problem).removeprefix(str(file)) for problem in read_config(file).problems]


def test_no_file_is_an_empty_one(tmp_path: Path) -> None:
    read = read_config(tmp_path / "none.toml")
    assert (read.exists, read.config, read.problems) == (False, Config(), ())


def test_the_sample_is_right_and_shows_every_kind_of_entry(tmp_path: Path) -> None:
    text = resources.files("bringup.config").joinpath("sample.toml").read_text("utf-8")
    (tmp_path / "config.toml").write_text(text, "utf-8")
    config = load_config(tmp_path / "config.toml")
    assert config.targets["kimi"].port == 30000
    assert config.targets["kimi"].env == {"HF_HOME": "/data/hf"}
    assert config.targets["production"].read_only
    assert config.targets["two-nodes"].hosts == ["node1", "node2"]
    for shape in (Config, Target, Thresholds, HistoryShape, RecordingShape):
        missing = [name for name in shape.__struct_encode_fields__ if name not in text]
        assert not missing, f"the sample does not tell of {missing}"


def test_the_thresholds_lie_over_those_that_ship(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(
        'thresholds.stale-after = 7\n[thresholds.patience.weights]\nslow = "2m"\n'
        '[thresholds.advice]\noom = "Ask Ann."\n'
    )
    overlay = thresholds(load_config(tmp_path / "c.toml"))
    assert overlay == {"stale_after": 7.0, "patience": {"weights": {"slow": 120.0}}, "advice": {"oom": "Ask Ann."}}
    policy, shipped = load_policy(overlay), load_policy()
    assert policy.stale_after == 7.0
    assert policy.patience["weights"].slow == 120.0
    assert policy.patience["weights"].stalled == shipped.patience["weights"].stalled
    assert policy.patience["graphs"] == shipped.patience["graphs"]
    assert policy.advice["oom"] == "Ask Ann."


def test_nothing_said_changes_nothing() -> None:
    assert thresholds(Config()) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('theem = "dark"\n', ", line 1: The file has no key 'theem'. Did you mean theme?"),
        ("\n\nxyzzy = 1", ", line 3: The file has no key 'xyzzy'. Expected one of: theme, bell, notification"),
        ("[targets.a]\nprot = 1", ", line 2: [targets.a] has no key 'prot'. Did you mean port?"),
        ("[targets.a]\nport = 'x'", ", line 2: port in [targets.a] is 'x'. Expected a port number from 1 to 65535."),
        ("[targets.a]\nport = 0", ", line 2: port in [targets.a] is 0. Expected a port number"),
        ("[targets.a]\nport = true", ", line 2: port in [targets.a] is true. Expected a port number"),
        ("targets.a.port = 70000", ", line 1: port in [targets.a] is 70000."),
        ("[targets]\na = 3", ", line 2: a in [targets] is 3. Expected a table, [targets.a]."),
        ("targets = 3", ", line 1: targets is 3. Expected a table, [targets]."),
        ("[targets.a]\nhosts = []", ", line 2: hosts in [targets.a] is []. Expected a list of hosts"),
        ("[targets.a]\nhost = ''", ", line 2: host in [targets.a] is ''. Expected a host as ssh takes it"),
        ("[targets.a]\nhost = 'x'\nhosts = ['y']", ", line 3: [targets.a] has both host and hosts. Expected one"),
        (
            "[targets.a]\nhosts = ['x',\n'y', 'x']",
            ", line 3: hosts in [targets.a] names 'x' more than once.",
        ),
        (
            "[recording]\ntotal-mib = 50\nmax-mib = 60",
            ", line 3: One recording may take 60 MiB, and all of them 50 MiB. Expected max-mib",
        ),
        ("[thresholds]\nbusy-factor = 0", ", line 2: busy-factor in [thresholds] is 0. Expected a number, 1 or more."),
        ("[targets.a]\nread-only = 1", ", line 2: read-only in [targets.a] is 1. Expected true or false."),
        ("[targets.a]\nenv = { A = 1 }", ", line 2: env in [targets.a] is {'A': 1}. Expected names with texts"),
        ("[targets.'a b']\nport = 1", ", line 1: 'a b' is not a name for a target. Expected a name of letters"),
        ("bell = 'x'", ", line 1: bell is 'x'. Expected true or false."),
        ("[keys]\nfull = 1", ", line 2: full in [keys] is 1. Expected keys, separated by commas"),
        (
            "[thresholds]\nstale-after = '3 weeks'",
            ", line 2: stale-after in [thresholds] is '3 weeks'. Expected a number",
        ),
        ("[thresholds.patience.wieghts]\nslow = 1", ", line 1: There is no phase 'wieghts'. Did you mean weights?"),
        ("[thresholds.patience.weights]\nslwo = 1", ", line 2: [thresholds.patience.weights] has no key 'slwo'."),
        ("[history]\nkeep-days = -1", ", line 2: keep-days in [history] is -1. Expected a number of days, 1 or more."),
        ("[recording]\nmax-mib = 1.5", ", line 2: max-mib in [recording] is 1.5. Expected a size in MiB"),
        ("a = 1\nb =\nc = 2", ", line 2: It is not valid TOML: Invalid value."),
        ("bell = true\ntheme = ", ", line 2: It is not valid TOML: Invalid value."),
        ("bell = true\nbell = false", ", line 2: It is not valid TOML: Cannot overwrite a value."),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_was_expected(text: str, told: str, tmp_path: Path) -> None:
    said = wrong(tmp_path, text)
    assert len(said) == 1
    assert said[0].startswith(told)


@pytest.mark.parametrize("text", ["total-mib = 50", "total-mib = 64\nmax-mib = 64"])
def test_one_recording_may_take_all_the_room(text: str, tmp_path: Path) -> None:
    assert wrong(tmp_path, f"[recording]\n{text}") == []


def test_all_mistakes_are_told_in_their_order(tmp_path: Path) -> None:
    said = wrong(tmp_path, "[targets.b]\nport = 0\nx = 1\n[targets.a]\npid = 0\n")
    assert [line.split(":")[0] for line in said] == [", line 2", ", line 3", ", line 5"]


def test_a_broken_file_is_refused_with_the_first_mistake_and_how_to_see_the_others(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("x = 1\ny = 2\nz = 3\n")
    with pytest.raises(UsageError) as refused:
        load_config(file)
    assert refused.value.what.startswith(f"{file}, line 1: ")
    assert refused.value.hint == "2 more are wrong. `bringup config check` lists all that is wrong in it."
    assert refused.value.exit_code == 2


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    said = wrong(tmp_path, "[targets.a]\nport = 'HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345'\n")
    assert "abcdefgh" not in said[0]


def test_bytes_that_are_no_text_have_a_line(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"bell = true\n# caf\xe9\n")
    assert [str(problem) for problem in read_config(file).problems] == [f"{file}, line 2: It is not UTF-8 text."]


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    assert "It cannot be read: Is a directory." in str(read_config(tmp_path).problems[0])


def test_lines_with_carriage_returns_are_counted_once(tmp_path: Path) -> None:
    assert wrong(tmp_path, "bell = true\r\n\r\nnope = 1\r\n")[0].startswith(", line 3: ")


def test_the_environment_names_another_folder(tmp_path: Path) -> None:
    assert config_folder({"BRINGUP_CONFIG_DIR": str(tmp_path)}) == tmp_path
    assert config_file({"BRINGUP_CONFIG_DIR": str(tmp_path)}) == tmp_path / "config.toml"
    assert config_folder({}).name == "bringup"
