"""What goes wrong under a session is said and tried again; what is a defect is told as one; nothing freezes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakehost import Tree, running
from troubled import Trouble, TroubledHost, no_trouble, watching
from waiting import eventually

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, Defect, UsageError
from bringup.hosts.base import Completed
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session

PATIENCE = 60.0
REFUSED = ChannelRefused("box refused to start another command: open failed.", "Raise MaxSessions.")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again soon."""
    for name in ("finder.SEARCH_EVERY", "finder.CHECK_EVERY", "logs.AGAIN", "server_watch.AGAIN"):
        monkeypatch.setattr(f"bringup.session.{name}", 0.05)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Tree]:
    """A server that runs and writes a log."""
    with (tmp_path / "server.log").open("wb") as log, running(tmp_path, stdout=log, stderr=log) as tree:
        yield tree


class Once:
    """Raises an error a number of times where it is asked for, and nothing from then on."""

    def __init__(self, where: str, error: Exception, times: int = 1) -> None:
        self._where = where
        self._error = error
        self.left = times

    def __call__(self, what: str) -> Completed | None:
        if what == self._where and self.left:
            self.left -= 1
            raise self._error
        return None


def always(where: str, error: Exception) -> Trouble:
    return Once(where, error, 1_000_000)


def closed(session: Session, channel: str) -> str:
    return dict(session.state.closed).get(channel, "")


# --- what kind of machine answers ---


@pytest.mark.parametrize(
    ("answer", "words"),
    [(b"Darwin\nmac\nann\n+0000\n1\n", "box runs Darwin"), (b"", "box does not answer like a Unix machine")],
)
async def test_a_host_that_is_not_linux(answer: bytes, words: str, knowledge: Knowledge) -> None:
    host = TroubledHost(lambda what: Completed(0, answer, b"") if what == "greet" else None)
    with pytest.raises(UsageError, match=words) as told:
        async with watching(host, knowledge):
            pass
    assert "Linux hosts only" in told.value.what
    assert "Name the Linux machine" in told.value.hint
    assert told.value.exit_code == 2
    assert host.is_closed


# --- what a host refuses ---


async def test_a_search_that_is_refused_is_said_and_made_again(server: Tree, knowledge: Knowledge) -> None:
    host = TroubledHost(always("search", REFUSED))
    async with watching(host, knowledge) as session:
        await eventually(lambda: "refused to start another command" in session.verdict().summary)
        assert "tried again" in session.verdict().summary
        host.trouble = no_trouble
        await eventually(lambda: session.state.server is not None, PATIENCE)
        await eventually(lambda: not closed(session, "search"))
        assert session.state.server is not None
        assert session.state.server.pid == server.pid


async def test_a_look_that_is_refused_later_leaves_the_watch_alone(server: Tree, knowledge: Knowledge) -> None:
    host = TroubledHost()
    async with watching(host, knowledge) as session:
        await eventually(lambda: session.state.sampled_at is not None, PATIENCE)
        host.trouble = always("search", REFUSED)
        await eventually(lambda: "MaxSessions" in closed(session, "search"))
        assert session.state.seeks == ""
        before = session.state.sampled_at
        await eventually(lambda: session.state.sampled_at != before, PATIENCE)
        assert any("search for servers" in line for line in session.verdict().evidence)


@pytest.mark.parametrize(("where", "channel"), [("stream", "processes"), ("open", "log")])
async def test_a_channel_that_is_refused_is_said_and_opened_again(
    where: str, channel: str, server: Tree, tmp_path: Path, knowledge: Knowledge
) -> None:
    host = TroubledHost(always(where, REFUSED))
    async with watching(host, knowledge) as session:
        await eventually(lambda: "MaxSessions" in closed(session, channel), PATIENCE)
        host.trouble = no_trouble
        (tmp_path / "server.log").write_bytes(b"hello\n")
        await eventually(lambda: not closed(session, channel), PATIENCE)
        await eventually(lambda: session.state.sampled_at is not None and session.state.log.lines == 1, PATIENCE)


async def test_gpus_that_nobody_asks_about_are_said_to_be_so(server: Tree, knowledge: Knowledge) -> None:
    host = TroubledHost(always("stream", REFUSED))
    async with watching(host, knowledge) as session:
        await eventually(lambda: "nvidia-smi is not asked: box refused" in closed(session, "gpus"), PATIENCE)
        host.trouble = no_trouble
        await eventually(lambda: "is not asked" not in closed(session, "gpus"), PATIENCE)


# --- the log that the operator named ---


async def test_a_missing_log_is_said_and_waited_for(tmp_path: Path, knowledge: Knowledge) -> None:
    log = tmp_path / "later.log"
    async with watching(TroubledHost(), knowledge, log=str(log)) as session:
        await eventually(lambda: closed(session, "log") != "")
        assert f"There is no {log} on box" in closed(session, "log")
        assert "looked for again" in closed(session, "log")
        log.write_bytes(b"hello\n")
        await eventually(lambda: session.take_lines() == [b"hello"])
        assert not closed(session, "log")


async def test_a_missing_log_beside_a_server_is_waited_for_too(
    server: Tree, tmp_path: Path, knowledge: Knowledge
) -> None:
    log = tmp_path / "later.log"
    async with watching(TroubledHost(), knowledge, log=str(log)) as session:
        await eventually(lambda: session.state.server is not None, PATIENCE)
        await eventually(lambda: "There is no" in closed(session, "log"))
        log.write_bytes(b"hello\n")
        await eventually(lambda: session.take_lines() == [b"hello"], PATIENCE)
        assert not closed(session, "log")


async def test_a_log_that_vanishes_is_said(tmp_path: Path, knowledge: Knowledge) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"hello\n")
    async with watching(TroubledHost(), knowledge, log=str(log)) as session:
        await eventually(lambda: session.take_lines() == [b"hello"])
        log.unlink()
        await eventually(lambda: "does not exist now; it is waited for" in closed(session, "log"))
        log.write_bytes(b"again\n")
        lines: list[bytes] = []
        await eventually(lambda: b"again" in lines or bool(lines.extend(session.take_lines())))
        assert [line.partition(b"server.log ")[2][:12] for line in lines[:-1]] == [b"has no file ", b"is there aga"]
        assert not closed(session, "log")


async def test_a_folder_is_no_log(tmp_path: Path, knowledge: Knowledge) -> None:
    async with watching(TroubledHost(), knowledge, log=str(tmp_path)) as session:
        await eventually(lambda: f"{tmp_path} on box is a folder." in closed(session, "log"))


async def test_a_log_without_permission_names_the_user_and_what_helps(tmp_path: Path, knowledge: Knowledge) -> None:
    """The host's own answer is played: these tests may run as root, who may read everything."""
    log = tmp_path / "server.log"
    log.write_bytes(b"hello\n")
    answer = Completed(0, f"ann\n denied\n{log}".encode(), b"")
    host = TroubledHost(lambda what: answer if what == "find-log" else None)
    async with watching(host, knowledge, log=str(log)) as session:
        await eventually(lambda: f"{log} on box cannot be read by ann." in closed(session, "log"))
        assert f"chmod a+r {log}" in closed(session, "log")
        host.trouble = no_trouble
        await eventually(lambda: session.take_lines() == [b"hello"])
        assert not closed(session, "log")


async def test_a_host_without_nvidia_smi_says_so(
    server: Tree, tmp_path: Path, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for program in (*Path("/usr/bin").iterdir(), *Path("/bin").iterdir()):
        if program.name != "nvidia-smi" and not (programs / program.name).is_symlink():
            (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    async with watching(TroubledHost(), knowledge) as session:
        await eventually(lambda: "There is no nvidia-smi on this host" in closed(session, "gpus"), PATIENCE)
        # The rest is watched all the same.
        await eventually(lambda: session.state.sampled_at is not None, PATIENCE)


# --- defects and lost connections ---


async def told(session: Session) -> BringupError:
    with pytest.raises(BringupError) as raised:
        await session.wait()
    return raised.value


async def test_a_defect_in_the_search_is_told(knowledge: Knowledge) -> None:
    async with watching(TroubledHost(always("search", KeyError("pid"))), knowledge) as session:
        defect = await told(session)
    assert isinstance(defect, Defect)
    assert defect.exit_code == 1
    assert defect.what.startswith("bringup itself failed in hosts/discover/__init__.py, line ")
    assert defect.what.endswith("KeyError: 'pid'.")
    assert "not to blame" in defect.hint


@pytest.mark.parametrize("where", ["stream", "open"])
async def test_a_defect_in_a_channel_is_told(where: str, server: Tree, knowledge: Knowledge) -> None:
    async with watching(TroubledHost(always(where, ZeroDivisionError())), knowledge) as session:
        defect = await told(session)
    assert isinstance(defect, Defect)
    assert "ZeroDivisionError" in defect.what


@pytest.mark.parametrize("where", ["stream", "open"])
async def test_a_connection_that_a_channel_finds_lost_is_made_again(
    where: str, server: Tree, knowledge: Knowledge
) -> None:
    """A channel may notice it before the connection itself says so."""
    host = TroubledHost(Once(where, ConnectionLost("The connection to box was lost: it was closed.")))
    seen: set[str] = set()
    async with watching(host, knowledge) as session:

        def back() -> bool:
            seen.add(session.state.link.status)
            return "lost" in seen and session.state.link.status == "up" and session.state.sampled_at is not None

        await eventually(back, PATIENCE)
        assert not closed(session, "processes")


async def test_what_only_the_operator_can_mend_ends_the_watch_with_its_own_sentence(knowledge: Knowledge) -> None:
    host = TroubledHost()
    async with watching(host, knowledge) as session:
        host.trouble = lambda what: Completed(0, b"Darwin\n", b"") if what == "greet" else None
        host.lose()
        assert "box runs Darwin" in (await told(session)).what
