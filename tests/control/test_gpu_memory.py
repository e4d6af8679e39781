"""Whether GPU memory is free is said only where nvidia-smi told so; where it hangs or refuses, that is said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from engineserver import ENGINES, Place
from fakehost import Tree, running
from placedhost import Placed

from bringup.hosts.control import Orphan, Pace, claim, clear, gpu_memory, orphans, restart, stop, survey
from bringup.hosts.control.gpu_memory import gpu_holders
from bringup.hosts.control.relaunch import Launchable
from bringup.session.acting import launched, make_plan
from bringup.session.target import Drains

REFUSES = "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18\n"
REFUSED = (
    "whether its GPU memory is free was not checked, because nvidia-smi failed with exit status 18:"
    " Failed to initialize NVML: Driver/library version mismatch"
)


@contextmanager
def abandoned(place: Place) -> Iterator[Tree]:
    """Two ranks whose launcher has left them."""
    # In a group of their own: what other tests of this run leave behind is not left behind by the same server.
    with running(place.folder, 2, start_new_session=True) as tree:
        tree.become_ranks()
        tree.launcher.do("leave")
        tree.process.wait(60)
        yield tree


async def look(host: Placed, tree: Tree) -> dict[int, Orphan]:
    pids = {child.pid for child in tree.children}
    return {each.process.pid: each for each in await orphans(host, ENGINES) if each.process.pid in pids}


def has_gpus() -> bool:
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


async def test_a_driver_that_hangs_is_said(local: Placed, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_memory, "ANSWER", 2.0)
    place.program("nvidia-smi", "exec sleep 600\n")
    place.start(*place.command())
    plan = await survey(local, await place.see(local, await place.one()))
    assert plan.unasked == "nvidia-smi did not answer within 2 s"
    came = await stop(local, plan, report=lambda _: None, pace=Pace(drain=60.0))
    assert came.complete
    assert came.unasked == plan.unasked
    assert f"whether its GPU memory is free was not checked, because {plan.unasked}" in came.sentence


async def test_a_driver_that_refuses_is_said_with_its_words(host: Placed, place: Place) -> None:
    place.program("nvidia-smi", REFUSES)
    place.start(*place.command())
    came = await stop(
        host, await survey(host, await place.see(host, await place.one())), report=lambda _: None, pace=Pace(drain=60.0)
    )
    assert REFUSED in came.sentence


async def test_a_restart_says_that_it_was_not_checked(local: Placed, place: Place) -> None:
    place.program("nvidia-smi", REFUSES)
    place.start(*place.command())
    server = await place.see(local, await place.one())
    claimed = await claim(local, server, "restart", token="ours")
    started = await restart(local, await survey(local, server), claimed, report=lambda _: None, watch=0)
    assert await place.one() == started.pid
    assert REFUSED in launched(started)


async def test_a_host_without_gpus_is_not_complained_of(local: Placed, place: Place) -> None:
    if has_gpus():
        pytest.skip("this machine has GPUs")
    told = await gpu_holders(local)
    assert (told.held, told.unasked, told.answered) == ({}, "", False)
    place.start(*place.command())
    plan = await survey(local, await place.see(local, await place.one()))
    shown = make_plan("box", plan, Launchable(), None, Drains())
    assert shown.waits == "its port 30000 is waited for"
    came = await stop(local, plan, report=lambda _: None)
    assert "GPU" not in came.sentence


async def test_an_orphan_that_holds_memory_stands_before_leftovers_that_hold_none(host: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        first, second = (child.pid for child in tree.children)
        place.program("nvidia-smi", f"echo '{second}, 5000'\n")
        found = await look(host, tree)
        assert list(found) == [second, first]
        assert (found[second].memory, found[second].is_leftover) == ("held", False)
        assert (found[first].memory, found[first].is_leftover) == ("none", True)


async def test_memory_of_unknown_size_is_memory(local: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        first = tree.children[0].pid
        place.program("nvidia-smi", f"echo '{first}, [N/A]'\n")
        orphan = (await look(local, tree))[first]
        assert (orphan.gpu_mib, orphan.memory, orphan.is_leftover) == (None, "held", False)


async def test_orphans_of_whom_nobody_knows_are_offered_with_the_reason(host: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        place.program("nvidia-smi", REFUSES)
        found = await look(host, tree)
        assert len(found) == 2
        for orphan in found.values():
            assert (orphan.memory, orphan.is_leftover, orphan.why_not) == ("unknown", False, "")
            assert orphan.unasked.startswith("nvidia-smi failed with exit status 18")
        came = await clear(host, list(found.values()), ENGINES, lambda _: None, pace=Pace(drain=60.0))
        assert len(came.ended) == 2
        assert REFUSED in came.sentence


async def test_without_gpus_they_are_orphans_like_before(local: Placed, place: Place) -> None:
    if has_gpus():
        pytest.skip("this machine has GPUs")
    with abandoned(place) as tree:
        found = await look(local, tree)
        assert {(each.memory, each.is_leftover, each.why_not) for each in found.values()} == {("no GPU", False, "")}
