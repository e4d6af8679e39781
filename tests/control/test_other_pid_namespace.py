"""An action that was begun where processes have other numbers, as in a container with this /tmp, is not judged here."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from engineserver import Place
from fakeserver import start_time
from leftopen import unfinished
from placedhost import Placed
from simulated import title
from waiting import eventually

from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.hosts.base import Completed
from bringup.hosts.control import Busy, Unfinished, claim, discard, journal, resume
from bringup.hosts.control.journal import take_over
from bringup.hosts.local import LocalHost
from bringup.session.left_over import in_the_way, is_over

GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)


class Inside(LocalHost):
    """This machine, in the namespaces of a process."""

    def __init__(self, init: int) -> None:
        super().__init__("box")
        self._init = init

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        enter = f"exec nsenter --target {self._init} --pid --mount sh -c {shlex.quote(script)}"
        return await super().run(enter, stdin=stdin, timeout=timeout, limit=limit)


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def contained(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Something that runs in a PID namespace of its own; what it is there stands in the file pid."""
    inner = f"sleep 600 & echo $! >{folder}/pid.new; mv {folder}/pid.new {folder}/pid; wait"
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", inner]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


async def left_by_another(
    local: Placed, place: Place, action: str = "restart", line: str = "pidns pid:[1]"
) -> Unfinished:
    """Leave an action in the middle, with what a launch needs, that was begun in another PID namespace."""
    claimed = await claim(local, GONE, action, token="ours", who="ann@laptop")
    await journal.step(local, claimed, "waiting")
    (folder,) = place.kept()
    for name in ("environ", "argv", "ticket"):
        (folder / name).touch()
    told = (folder / "claim").read_text().splitlines()
    assert f"pidns {Path('/proc/self/ns/pid').readlink()}" in told
    kept = [each for each in told if not each.startswith("pidns ")]
    (folder / "claim").write_text("\n".join([*kept, *([line] if line else []), ""]))
    left = await unfinished(local, token="ours")
    assert left is not None
    return left


@pytest.mark.skipif(
    os.getuid() != 0 or not (shutil.which("unshare") and shutil.which("nsenter")), reason="needs a PID namespace"
)
async def test_a_restart_that_was_begun_in_a_container(place: Place) -> None:
    with contained(place.folder) as process:
        file = place.folder / "pid"
        await eventually(lambda: file.exists() or process.poll() is not None)
        if not file.exists():
            pytest.skip("PID namespaces are not to be had here")
        (init,) = children(process.pid)
        await eventually(lambda: [title(pid) for pid in children(init)] == ["sleep 600"])
        (outer,) = children(init)
        server = Server(pid=int(file.read_text()), start=start_time(outer), engine="sglang", argv=("sleep",))
        inside, here = Inside(init), LocalHost("box")
        claimed = await claim(inside, server, "restart", token="ours", who="ann@laptop")
        await journal.step(inside, claimed, "stopping")
        (folder,) = place.kept()
        for name in ("environ", "argv", "ticket"):
            (folder / name).touch()
        left = await unfinished(here, token="theirs", lease=0)
        assert left is not None
        assert (left.unseen, left.alive, left.can) == (True, (), ("discard",))
        assert "no server runs" not in left.sentence
        assert "launch it" not in left.sentence
        with pytest.raises(BringupError, match="begun in another PID namespace"):
            await take_over(here, left.claim, "theirs")
        with pytest.raises(BringupError, match="begun in another PID namespace"):
            await resume(here, replace(left, unseen=False), report=lambda _: None, watch=0)
        same = await unfinished(inside, token="ours")
        assert same is not None
        assert (same.unseen, same.alive, same.claim) == (False, ((server.pid, server.start),), claimed)
        assert "the old server still runs" in same.sentence
        assert (folder / "ticket").exists()


async def test_it_is_told_and_not_launched(local: Placed, place: Place) -> None:
    left = await left_by_another(local, place)
    assert left.kept
    assert left.can == ("discard",)
    assert re.sub(r"\d+ s ago", "N s ago", left.sentence) == (
        "A restart of the sglang server on port 30000 (PID 4194303) was cut off N s ago while its GPU memory and its"
        " port were waited for; it was begun in another PID namespace (that of a container, or of the machine around"
        " this one), and what runs of it cannot be seen from here: go on with it there, or discard it where that"
        " container is gone."
    )
    with pytest.raises(BringupError, match=r"cut off.*nothing to launch"):
        await resume(local, left, report=lambda _: None, watch=0)
    with pytest.raises(BringupError, match=r"It was begun in another PID namespace.*Nothing was done on box"):
        await take_over(local, left.claim, "theirs")
    # A console that looked before, or knows nothing of it, is refused on the host, in whatever way it launches.
    ran = place.folder / "ran"
    own = replace(left, unseen=False, prepared=False, command=f"touch {ran}")
    for before in (replace(left, unseen=False), own):
        with pytest.raises(BringupError, match="Nothing was launched on box: it was begun in another PID namespace"):
            await resume(local, before, report=lambda _: None, watch=0)
    assert not ran.exists()
    assert in_the_way([left], 30000) == left
    await discard(local, left)
    assert place.kept() == []


async def test_a_stop_is_not_said_to_be_over(local: Placed, place: Place) -> None:
    left = await left_by_another(local, place, "stop")
    assert not is_over(left)
    assert left.sentence.endswith("or discard it where that container is gone.")


async def test_what_may_be_launched_there_at_this_moment_is_let_be(local: Placed, place: Place) -> None:
    left = await left_by_another(local, place)
    await journal.step(local, left.claim, "launching")
    (folder,) = place.kept()
    os.utime(folder / "claim", (0, time.time() - 60))
    with pytest.raises(Busy):
        await claim(local, GONE, "stop", token="theirs")
    with pytest.raises(BringupError, match="launched"):
        await discard(local, left)
    assert (folder / "ticket").exists()
    os.utime(folder / "step", (0, time.time() - 3600))
    await discard(local, left)
    assert place.kept() == []


async def test_a_claim_that_does_not_tell_is_of_here(local: Placed, place: Place) -> None:
    left = await left_by_another(local, place, line="")
    assert (left.unseen, left.can) == (False, ("launch", "discard"))
    taken = await take_over(local, left.claim, "theirs")
    assert taken.token == "theirs"


async def test_of_before_the_machine_was_started_anew_nothing_runs_anywhere(local: Placed, place: Place) -> None:
    await left_by_another(local, place)
    (folder,) = place.kept()
    text = (folder / "claim").read_text()
    (folder / "claim").write_text(text.replace("\nboot ", "\nboot x"))
    left = await unfinished(local, token="ours")
    assert left is not None
    assert (left.unseen, left.rebooted, left.can) == (False, True, ("launch", "discard"))
    await take_over(local, left.claim, "theirs")
