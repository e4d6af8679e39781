"""Workers that live on without their launcher are found and cleared; nobody else's, and none that serves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from engineserver import ENGINES, Place
from fakehost import Tree, make_program, running
from placedhost import Placed
from waiting import alive, eventually, is_listening, pid_in

from bringup.hosts.control import Orphan, Pace, Step, clear, orphans, serving

CHILD = "from multiprocessing.spawn import spawn_main"


@contextmanager
def abandoned(place: Place) -> Iterator[Tree]:
    """Two ranks whose launcher has left them, as a kill of it before they asked to die with it does."""
    # In a group of their own: what other tests of this run leave behind is not left behind by the same server.
    with running(place.folder, 2, start_new_session=True) as tree:
        tree.become_ranks()
        tree.launcher.do("leave")
        tree.process.wait(60)
        yield tree


async def look(host: Placed, tree: Tree) -> dict[int, Orphan]:
    """What is found of this tree; the machine may have other orphans."""
    pids = {child.pid for child in tree.children}
    return {each.process.pid: each for each in await orphans(host, ENGINES) if each.process.pid in pids}


def holding(place: Place, *rows: str) -> None:
    """Let nvidia-smi tell that processes hold memory, while they live."""
    text = "\n".join(f'[ -d /proc/{row.split(",")[0]} ] && echo "{row}"' for row in rows)
    make_program(place.folder / "bin", "nvidia-smi", text + "\nexit 0\n")


async def test_they_are_found_with_age_and_memory(host: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        first, second = (child.pid for child in tree.children)
        holding(place, f"{first}, 70000", f"{first}, 1000")
        found = await look(host, tree)
        assert set(found) == {first, second}
        orphan = found[first]
        assert (orphan.engine, orphan.gpu_mib, orphan.why_not) == ("sglang", 71_000, "")
        assert orphan.process.title == "sglang::scheduler_TP0"
        assert 0 <= orphan.age < 600
        assert found[second].gpu_mib is None


async def test_they_are_cleared_from_a_list(host: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        first, second = (child.pid for child in tree.children)
        holding(place, f"{first}, 70000")
        found = await look(host, tree)
        said: list[Step] = []
        came = await clear(host, [found[first]], ENGINES, said.append, pace=Pace(drain=60.0))
        assert came.complete
        assert [each.pid for each in came.ended] == [first]
        assert not alive(first)
        assert alive(second), "it was not chosen"
        assert said[0].text == "SIGTERM goes to 1 process."


async def test_those_that_are_deaf_are_killed(local: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        found = await look(local, tree)
        for child in tree.children:
            child.do("ignore", "SIGTERM")
        came = await clear(local, list(found.values()), ENGINES, lambda _: None, pace=Pace(drain=0.2))
        assert (came.complete, len(came.killed)) == (True, 2)


async def test_a_server_that_answers_is_none(host: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        child = tree.children[0]
        code = (
            "import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); s.serve_forever()"
        )
        spawned = child.do("spawn", sys.executable, "-c", code)
        await eventually(lambda: is_listening(spawned))
        found = (await look(host, tree))[child.pid]
        assert "answers over HTTP on port" in found.why_not
        said: list[Step] = []
        forged = replace(found, why_not="")
        came = await clear(host, [forged], ENGINES, said.append, pace=Pace(drain=0.0))
        assert (came.ended, came.complete) == ((), False)
        assert f"PID {child.pid} is left alone: It answers over HTTP" in came.sentence
        assert alive(child.pid)
        assert said[0].text.startswith(f"PID {child.pid} is left alone: It answers over HTTP")
        os.kill(spawned, signal.SIGKILL)


async def test_a_port_that_speaks_no_http_keeps_nobody(
    local: Placed, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "ASK_TIMEOUT", 0.5)
    with abandoned(place) as tree:
        tree.children[0].do("listen")
        assert (await look(local, tree))[tree.children[0].pid].why_not == ""


async def test_workers_with_a_launcher_are_none(host: Placed, place: Place) -> None:
    with running(place.folder, 2) as tree:
        tree.become_ranks()
        holding(place, *(f"{child.pid}, 5" for child in tree.children))
        assert await look(host, tree) == {}


async def test_another_process_by_that_time_is_left_alone(local: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        found = await look(local, tree)
        earlier = [
            replace(each, process=replace(each.process, start=each.process.start - 3)) for each in found.values()
        ]
        came = await clear(local, earlier, ENGINES, lambda _: None, pace=Pace(drain=0.0))
        assert (came.ended, came.complete) == ((), True)
        assert "had ended before" in came.sentence
        assert all(alive(pid) for pid in found)


async def test_children_without_a_title_count_only_with_gpu_memory_and_without_a_parent(
    local: Placed, place: Place
) -> None:
    stub = place.folder / "multiprocessing"
    stub.mkdir()
    (stub / "__init__.py").touch()
    (stub / "spawn.py").write_text("def spawn_main():\n    import time\n    time.sleep(120)\n")
    line = f"{sys.executable} -c '{CHILD}; spawn_main()' --multiprocessing-fork & echo $! >pid; wait"
    parent = place.start("bash", "-c", line)
    pid = await pid_in(place.folder / "pid")
    # Before it becomes that, its command line is the whole line of the shell.
    await eventually(lambda: Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"\0--multiprocessing-fork\0"))

    async def seen() -> set[int]:
        return {each.process.pid for each in await orphans(local, ENGINES)} & {pid}

    holding(place, f"{pid}, 900")
    assert await seen() == set(), "its parent lives"
    parent.kill()
    parent.wait()
    assert await seen() == {pid}
    holding(place)
    assert await seen() == set(), "any program's child may be called so"


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become somebody else")
async def test_another_users_is_shown_and_never_cleared(local: Placed, place: Place) -> None:
    line = "(exec -a sglang::scheduler_TP0 sleep 120) </dev/null >/dev/null 2>&1 & echo $!"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, check=True, user=65534, group=65534, env={"PLACE": "x"}
    )
    pid = int(done.stdout)
    try:
        # Before it becomes that, its command line is the whole line of the shell, which has the word as well.
        await eventually(lambda: Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sglang::scheduler"))
        found = [each for each in await orphans(local, ENGINES) if each.process.pid == pid]
        assert [each.why_not for each in found] == ["It belongs to nobody, and you are root there."]
        came = await clear(local, [replace(found[0], why_not="")], ENGINES, lambda _: None, pace=Pace(drain=0.0))
        assert came.ended == ()
        assert alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_below_a_python_program_that_is_pid_1_they_may_be_a_live_engine(
    local: Placed, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container whose program runs the engine inside itself."""

    async def python(host: object) -> bool:
        return True

    # The package has a function of the module's name.
    monkeypatch.setattr(sys.modules["bringup.hosts.control.orphans"], "_python_as_init", python)
    with abandoned(place) as tree:
        first, second = (child.pid for child in tree.children)
        if any(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] != "1" for pid in (first, second)):
            pytest.skip("something else than PID 1 takes over orphans here")
        found = await look(local, tree)
        assert {each.why_not for each in found.values()} == {
            "Its parent, PID 1, is a Python program and may have started it."
        }
        came = await clear(local, list(found.values()), ENGINES, lambda step: None, pace=Pace(drain=0.1))
        assert came.ended == ()
        assert alive(first)
        assert alive(second)
