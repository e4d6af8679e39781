"""How simulated servers end, and that nothing is left of them or of the host."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from simulated import PATIENCE, ask, family, launchers, login, needs_linux, output, ranks, said, smi, state, title
from waiting import eventually

from bringup.core.errors import UsageError
from bringup.demo.host import DemoHost

pytestmark = needs_linux
SPEED = 40
OPEN = """
import asyncio
from bringup.demo.host import DemoHost

async def main():
    async with DemoHost(speed=1) as host:
        print(host.within, host.home.root, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_sigterm_drains_ends_all_and_frees_the_gpus() -> None:
    async with DemoHost(speed=SPEED) as host, login(host) as conn:
        await said(host, "fired up and ready to roll!")
        [launcher] = launchers(host)
        await output(conn, f"kill -TERM {launcher}")
        await said(host, "SIGTERM received. signum=None frame=None. Draining requests and shutting down...")
        await said(host, f"kill_process_tree called: parent_pid={launcher}, include_parent=True, pid={launcher}")
        assert host.launched is not None
        assert await asyncio.wait_for(asyncio.shield(host.launched.ended), PATIENCE) == -signal.SIGKILL
        await eventually(lambda: family(host.within) == set(), PATIENCE)
        await eventually(lambda: (host.home.state / "apps").read_text() == "", PATIENCE)
        assert {row[0] for row in await smi(conn, "--query-gpu=memory.used")} == {"0"}
        assert await ask(conn, host.server_port, "/health") is None


async def test_a_restart_with_setsid_stays_below_the_host_and_appends_to_the_log() -> None:
    """Argv, environment and folder are repeated from /proc, as a console does it."""
    async with DemoHost(speed=30) as host:
        async with login(host) as conn:
            await said(host, "Load weight begin")
            [launcher] = launchers(host)
            environ = Path(f"/proc/{launcher}/environ").read_bytes().rstrip(b"\0").split(b"\0")
            argv = Path(f"/proc/{launcher}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            await output(conn, f"kill -TERM {launcher}")
            await eventually(lambda: not launchers(host), PATIENCE)
            words = " ".join(shlex.quote(word.decode()) for word in [*environ, *argv])
            log = shlex.quote(str(host.home.log))
            await output(conn, f"setsid env -i {words} </dev/null >>{log} 2>&1 &")
            await eventually(lambda: len(launchers(host)) == 1, PATIENCE)
            await said(host, "fired up and ready to roll!")
        assert host.home.log.read_bytes().count(b"server_args=") == 2
        [second] = launchers(host)
        assert second != launcher
    assert state(second) == "gone"


async def test_a_rank_killed_while_loading_ends_the_start() -> None:
    async with DemoHost(speed=15) as host:
        await said(host, "Load weight begin")
        await eventually(lambda: 3 in ranks(host), PATIENCE)
        os.kill(ranks(host)[3], signal.SIGKILL)
        assert host.launched is not None
        assert await asyncio.wait_for(asyncio.shield(host.launched.ended), PATIENCE) == 1
        await said(host, "RuntimeError: Rank 3 scheduler died during initialization (exit code: -9). If exit code")
        await eventually(lambda: family(host.within) == set(), PATIENCE)


async def test_a_rank_killed_while_serving_ends_the_server_without_being_named() -> None:
    async with DemoHost(speed=SPEED) as host:
        await said(host, "fired up and ready to roll!")
        os.kill(ranks(host)[4], signal.SIGKILL)
        assert host.launched is not None
        assert await asyncio.wait_for(asyncio.shield(host.launched.ended), PATIENCE) == -signal.SIGKILL
        log = host.home.log.read_bytes()
    assert b" TP0] Scheduler hit an exception: Traceback" in log
    assert b"Connection reset by peer" in log
    assert log.index(b"SIGQUIT received. signum=None, frame=None.") < log.index(b"kill_process_tree called")
    assert b"TP4" not in log[log.index(b"Scheduler hit an exception") :]


async def test_a_launcher_that_is_killed_takes_its_ranks_along() -> None:
    async with DemoHost(speed=15) as host:
        await said(host, "Load weight begin")
        [launcher] = launchers(host)
        os.kill(launcher, signal.SIGKILL)
        await eventually(lambda: family(host.within) == set(), PATIENCE)


async def test_out_of_memory_in_one_rank() -> None:
    async with DemoHost("oom", speed=SPEED) as host:
        assert host.launched is not None
        assert await asyncio.wait_for(asyncio.shield(host.launched.ended), PATIENCE) == -signal.SIGKILL
        log = host.home.log.read_bytes()
    failure = log.index(b" TP7] Scheduler hit an exception: Traceback (most recent call last):")
    assert log.index(b"Capture target verify CUDA graph begin") < failure
    assert failure < log.index(b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 7 has a")
    assert failure < log.index(b"Exception: Capture cuda graph failed: CUDA out of memory.")
    assert failure < log.index(b"] Received sigquit from a child process. It usually means the child failed.")
    assert log.count(b"Scheduler hit an exception") == 1


async def test_a_stalled_rank_is_stopped_and_goes_on_when_it_is_told_to() -> None:
    async with DemoHost("stall", speed=SPEED) as host:
        await said(host, "100% Completed | 64/64")
        await eventually(lambda: 3 in ranks(host) and state(ranks(host)[3]) == "T", PATIENCE)
        log = host.home.log.read_bytes()
        assert b"type=LlamaForCausalLMEagle3" not in log
        assert b"TP3] Load weight end" not in log
        os.kill(ranks(host)[3], signal.SIGCONT)
        await said(host, "TP3] Load weight end")
        await said(host, "fired up and ready to roll!")


async def test_a_dead_draft_shows_in_the_accept_length_only() -> None:
    async with DemoHost("dead-draft", speed=SPEED) as host:
        await said(host, "accept len: ")
        log = host.home.log.read_text()
    assert "accept len: 1.00, accept rate: 0.00, cuda graph: True" in log
    assert "fired up and ready to roll!" in log
    assert "not found in params_dict" not in log


async def test_a_taken_port_hangs_with_the_gpus_full() -> None:
    # Its warm-up tries last 12 s at this speed, and all that is looked at here must be seen before it gives up.
    async with DemoHost("port-in-use", speed=10) as host, login(host) as conn:
        await said(host, "address already in use")
        await said(host, "INFO:     Waiting for application shutdown.")
        [launcher] = launchers(host)
        os.kill(launcher, signal.SIGTERM)
        assert await ask(conn, host.server_port, "/health") == 404
        assert len(await smi(conn, "--query-compute-apps=pid")) == 8
        assert launchers(host) == [launcher]
        log = host.home.log.read_bytes()
    assert b"ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', " in log
    assert b"fired up" not in log


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
async def test_nothing_is_left_when_the_demo_itself_is_killed(number: signal.Signals, tmp_path: Path) -> None:
    async with demo_elsewhere(tmp_path) as demo:
        assert demo.stdout is not None
        words = (await asyncio.wait_for(demo.stdout.readline(), PATIENCE)).split()
        within, home = int(words[0]), Path(words[1].decode())
        # Ranks that have no title yet are not bound to their launcher's life by the kernel: the hardest moment.
        await eventually(lambda: sum("multiprocessing.spawn" in title(pid) for pid in family(within)) == 9, PATIENCE)
        members = family(within)
        demo.send_signal(number)
        await asyncio.wait_for(demo.wait(), PATIENCE)
        await eventually(lambda: all(state(pid) == "gone" for pid in {within, *members}), PATIENCE)
        await eventually(lambda: not home.exists(), PATIENCE)


@asynccontextmanager
async def demo_elsewhere(folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A demo in a process of its own, with its host in a folder; whatever the test finds, nothing of it runs on."""
    environ = {**os.environ, "TMPDIR": str(folder)}
    demo = await asyncio.create_subprocess_exec(sys.executable, "-c", OPEN, stdout=asyncio.subprocess.PIPE, env=environ)
    try:
        yield demo
    finally:
        with suppress(ProcessLookupError):
            demo.kill()
        await demo.wait()
        await eventually(lambda: not killed_in(folder), PATIENCE)


def killed_in(folder: Path) -> list[int]:
    """Kill what runs in a folder, whosever child it is by now; returns what that was."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                os.kill(int(process.name), signal.SIGKILL)
                found.append(int(process.name))
    return found


async def test_an_exception_inside_ends_the_host() -> None:
    members: set[int] = set()

    async def fail() -> None:
        async with DemoHost(speed=SPEED) as host:
            await eventually(lambda: len(family(host.within)) > 1, PATIENCE)
            members.update({host.within}, family(host.within))
            raise RuntimeError(host.home.root)

    with pytest.raises(RuntimeError) as error:
        await fail()
    assert {state(pid) for pid in members} == {"gone"}
    assert not error.value.args[0].exists()


def test_a_speed_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="speed"):
        DemoHost(speed=0)
