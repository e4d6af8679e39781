"""What is looked at once or twice a launch, through a real sshd and where the host does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from checkpointing import EAGLE3, write_config, write_shards, write_tensors
from fakehost import running
from sshd import Sshd
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.core.events import Bar, PhaseBegan, Server, ServerFound
from bringup.hosts.base import Completed, Host
from bringup.hosts.local import LocalHost
from bringup.hosts.ssh import SshHost
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.looks import CHANNEL, Looks
from bringup.session.picture import Picture
from bringup.session.server_watch import Channels

PATIENCE = 60.0


@asynccontextmanager
async def looking(host: Host, server: Server, knowledge: Knowledge) -> AsyncIterator[Picture]:
    """Run the looks at a server; what they saw is in the picture."""
    picture, clock = Picture("box"), HostClock()
    picture.apply([ServerFound(at=clock.now(), server=server)])
    looks = Looks(host, server, Channels(picture, clock, Logs(picture, knowledge, clock), knowledge))
    task = asyncio.create_task(looks.run())
    try:
        yield picture
        assert not task.done() or task.exception() is None
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def present(picture: Picture, role: str) -> int:
    """Return how many files of a model were seen; -1 while nothing was."""
    found = [checkpoint for checkpoint in picture.state.checkpoints if checkpoint.role == role]
    return len(found[0].present) if found else -1


async def test_files_and_version_through_sshd(
    real_sshd: Sshd, knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = write_shards(tmp_path / "model", 5)
    shards[4].unlink()
    (tmp_path / "draft").mkdir()
    write_tensors(tmp_path / "draft" / "model.safetensors", EAGLE3)
    write_config(tmp_path / "draft", "LlamaForCausalLMEagle3")
    (tmp_path / "venv/lib/python3.12/site-packages/sglang-0.5.21.dist-info").mkdir(parents=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    with running(tmp_path) as tree:
        server = Server(
            pid=tree.pid, start=1, engine="sglang", argv=(), model="model", draft_model=str(tmp_path / "draft")
        )
        host = await SshHost.login("box", options=real_sshd.options())
        async with looking(host, server, knowledge) as picture:
            await eventually(lambda: present(picture, "draft") == 1 and present(picture, "target") == 4, PATIENCE)
            await eventually(lambda: picture.state.installed is not None, PATIENCE)
            assert (picture.state.installed, picture.state.attempt.version) == ("0.5.21", "0.5.21")
            draft = next(checkpoint for checkpoint in picture.state.checkpoints if checkpoint.role == "draft")
            assert set(draft.names) == set(EAGLE3)
            assert draft.architectures == ("LlamaForCausalLMEagle3",)
            write_tensors(shards[4])
            picture.apply([PhaseBegan(at=1.0, phase="weights")])
            await eventually(lambda: present(picture, "target") == 5, PATIENCE)
        await host.close()


class Counting(LocalHost):
    """A host that counts what it is asked, and can hang."""

    def __init__(self, hangs: bool = False) -> None:
        super().__init__("box")
        self.asked = 0
        self._hangs = hangs

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        self.asked += 1
        if self._hangs:
            raise ChannelRefused("no answer", reason="timeout")
        return await super().run(script, stdin=stdin, timeout=timeout, limit=limit)


async def test_two_looks_and_no_more(knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bringup.session.looks.EVERY", 0.01)
    write_shards(tmp_path, 2)
    host = Counting()
    server = Server(pid=4194303, start=1, engine="", argv=(), model=str(tmp_path))
    async with looking(host, server, knowledge) as picture:
        await eventually(lambda: present(picture, "target") == 2, PATIENCE)
        await asyncio.sleep(0.1)
        assert host.asked == 1
        picture.apply([Bar(at=1.0, kind="shards", done=0, total=2)])
        await eventually(lambda: host.asked == 2, PATIENCE)
        await asyncio.sleep(0.1)
        assert host.asked == 2


async def test_a_file_system_that_hangs_is_told_and_left_alone(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bringup.session.looks.EVERY", 0.01)
    host = Counting(hangs=True)
    server = Server(pid=4194303, start=1, engine="", argv=(), model="/mnt/hung/model")
    async with looking(host, server, knowledge) as picture:
        await eventually(lambda: bool(picture.state.closed), PATIENCE)
        ((channel, why),) = picture.state.closed
        assert channel == CHANNEL
        assert "A look at the files of the target model (/mnt/hung/model) did not end within 20 s." in why
        picture.apply([Bar(at=1.0, kind="shards", done=0, total=2)])
        await asyncio.sleep(0.1)
        assert host.asked == 1
