"""`bringup record` through a real sshd: until the start is over, or ctrl-c; and what is kept without being asked."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from headless import Way, ended
from headless import way as way
from simulated import needs_linux, said
from sshd import real_sshd as real_sshd
from waiting import eventually

from bringup.cli import run
from bringup.cli.keeping import keeping_of
from bringup.demo.host import DemoHost
from bringup.hosts.recording import load_recording
from bringup.recordings.encoder import LogPiece
from bringup.session.target import Target

MIB = 1 << 20


def port(demo: DemoHost) -> tuple[str, str]:
    return "--port", str(demo.server_port)


@pytest.mark.long
@needs_linux
async def test_a_start_is_recorded_until_it_is_ready_and_replayed(way: Way) -> None:
    file = way.folder / "start.bringup"
    async with DemoHost("healthy", speed=6) as demo:
        done = await way.run("record", "box", *port(demo), "-o", str(file))
    assert done.code == 0, done.err
    assert str(file) in done.out
    assert "Ready on port" in done.out
    assert file.stat().st_mode & 0o777 == 0o600
    replayed = await way.run("replay", str(file), "--json")
    rows = [json.loads(line) for line in replayed.out.splitlines()]
    assert (rows[-1]["state"], rows[-1]["ranks_expected"]) == ("ready", 8)
    assert "weights" in {row["phase"] for row in rows}
    # Nobody asked for another one.
    assert list((way.folder / "data").glob("recordings/*")) == []


@pytest.mark.long
@needs_linux
async def test_ctrl_c_ends_it_well(way: Way) -> None:
    file = way.folder / "start.bringup"
    async with DemoHost("healthy", speed=1) as demo:
        await said(demo, "server_args")
        process = await way.start("record", "box", *port(demo), "-o", str(file))
        await eventually(lambda: file.exists() and file.stat().st_size > 2000, 60.0)
        process.send_signal(signal.SIGINT)
        done = await ended(process)
    assert done.code == 0, done.err
    assert "Recorded for" in done.out
    recording = load_recording(file)
    assert recording.trouble == ""
    assert any(isinstance(item, LogPiece) and b"server_args" in item.data for _, item in recording.items)


@pytest.mark.long
@needs_linux
async def test_a_kill_leaves_what_was_seen(way: Way) -> None:
    file = way.folder / "start.bringup"
    async with DemoHost("healthy", speed=1) as demo:
        process = await way.start("record", "box", *port(demo), "-o", str(file))
        await eventually(lambda: file.exists() and file.stat().st_size > 2000, 60.0)
        process.kill()
        await process.wait()
    assert len(load_recording(file).items) > 5


@pytest.mark.long
@needs_linux
@pytest.mark.parametrize("switch", ["1", "0"])
async def test_a_start_that_is_waited_for_is_kept_without_being_asked(switch: str, way: Way) -> None:
    way = Way(way.folder, {**way.environ, "BRINGUP_RECORD": switch}, way.started)
    async with DemoHost("healthy", speed=6) as demo:
        done = await way.run("wait", "box", *port(demo))
    assert done.code == 0
    kept = list((way.folder / "data" / "recordings").glob("*"))
    if switch == "0":
        assert kept == []
        return
    (file,) = kept
    assert file.name.startswith("box-")
    assert file.name.endswith(".auto.bringup")
    assert file.stat().st_mode & 0o777 == 0o600
    assert any(isinstance(item, LogPiece) for _, item in load_recording(file).items)


def test_a_host_that_cannot_be_reached_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", "nobody@127.0.0.1:1", "-o", str(tmp_path / "a")]) in (2, 4)
    assert capsys.readouterr().err.startswith("bringup: ")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ([], 2, "not said where to record to"),
        (["-o", "there"], 1, "there is there already. Give another name"),
        (["-o", "none/x"], 2, "There is no folder none. Make it"),
        (["-o", "."], 2, ". is a folder."),
        (["-o", "x", "--port", "99999"], 2, "There is no port 99999"),
        (["-o", "x", "--for", "5"], 2, "--for"),
    ],
)
def test_a_wrong_command_line_is_told(
    words: list[str],
    code: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("mine")
    assert run(["record", *words]) == code
    assert says in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "there").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_the_configuration_says_where_and_how_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path))
    environ = {"BRINGUP_DATA_DIR": str(tmp_path / "data")}
    target = Target("gpu-a")
    plain = keeping_of(target, environ, watches=True)
    assert (plain.folder, plain.always, plain.total) == (tmp_path / "data" / "recordings", True, 500 * MIB)
    assert not keeping_of(target, {**environ, "BRINGUP_RECORD": "0"}, watches=True).always
    assert not keeping_of(target, environ, watches=False).always
    assert not keeping_of(Target("demo", within=1), environ, watches=True).always
    (tmp_path / "config.toml").write_text(
        f'[recording]\nalways = false\nmax-mib = 3\ntotal-mib = 9\nfolder = "{tmp_path}/x"\n'
    )
    own = keeping_of(target, environ, watches=True)
    assert (own.folder, own.always, own.most, own.total) == (tmp_path / "x", False, 3 * MIB, 9 * MIB)
