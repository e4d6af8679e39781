"""Who may come in and what a command can do: the habits of sshd, and nothing beyond loopback."""

import asyncio
import getpass
import hashlib
import os
import signal
import stat
from collections.abc import AsyncIterator

import asyncssh
import pytest
from simulated import PATIENCE, family, login, needs_linux, output, title
from waiting import eventually

from bringup.demo.host import DemoHost

pytestmark = needs_linux


@pytest.fixture
async def host() -> AsyncIterator[DemoHost]:
    async with DemoHost(launch=False) as host:
        yield host


async def test_another_key_is_refused(host: DemoHost) -> None:
    with pytest.raises(asyncssh.PermissionDenied):
        async with login(host, client_keys=[asyncssh.generate_private_key("ssh-ed25519")]):
            pass


async def test_another_user_is_refused(host: DemoHost) -> None:
    with pytest.raises(asyncssh.PermissionDenied):
        async with login(host, username=getpass.getuser() + "x"):
            pass


async def test_a_password_is_refused(host: DemoHost) -> None:
    with pytest.raises(asyncssh.PermissionDenied):
        async with login(host, client_keys=[], password="demo"):
            pass


async def test_it_listens_on_loopback_only_and_keeps_its_files_private(host: DemoHost) -> None:
    assert host._door is not None
    assert {address[0] for address in host._door.get_addresses()} == {"127.0.0.1"}
    assert stat.S_IMODE(host.home.root.stat().st_mode) == 0o700
    assert stat.S_IMODE(host.home.key.stat().st_mode) == 0o600


async def test_only_loopback_can_be_reached_through_it(host: DemoHost) -> None:
    async with login(host) as conn:
        with pytest.raises(asyncssh.ChannelOpenError) as forbidden:
            await conn.open_connection("192.0.2.1", 80)
        with pytest.raises(asyncssh.ChannelOpenError) as refused:
            await conn.open_connection("127.0.0.1", host.server_port)
        with pytest.raises(asyncssh.ChannelListenError):
            await conn.forward_remote_port("127.0.0.1", 0, "127.0.0.1", host.server_port)
    assert forbidden.value.code == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED
    assert refused.value.code == asyncssh.OPEN_CONNECT_FAILED


async def test_a_command_has_a_home_a_status_and_two_outputs(host: DemoHost) -> None:
    async with login(host) as conn:
        done = await conn.run("pwd; command -v nvidia-smi; echo broken >&2; exit 7")
    assert done.exit_status == 7
    assert done.stdout == f"{host.home.root}\n{host.home.root}/bin/nvidia-smi\n".encode()
    assert done.stderr == b"broken\n"


async def test_streams_are_binary_and_hold_a_lot(host: DemoHost) -> None:
    data = bytes(range(256)) * 8192
    async with login(host) as conn:
        done = await conn.run("cat", input=data)
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest()


async def test_output_waits_for_its_reader(host: DemoHost) -> None:
    """A command whose output nobody reads is held back, and goes on when somebody does."""
    async with login(host) as conn:
        process = await conn.create_process("head -c 30000000 /dev/zero; echo ended > mark", window=1 << 16)
        await process.stdout.readexactly(1)
        await output(conn, "sleep 0.3")
        assert not (host.home.root / "mark").exists()
        rest = await asyncio.wait_for(process.stdout.read(), PATIENCE)
        await asyncio.wait_for(process.wait(), PATIENCE)
    assert len(rest) == 29_999_999
    assert (host.home.root / "mark").exists()


async def test_a_command_that_reads_nothing_can_be_signalled(host: DemoHost) -> None:
    async with login(host) as conn:
        process = await conn.create_process("exec sleep 600", input=b"x" * 1_000_000)
        await eventually(lambda: any(title(pid) == "sleep 600" for pid in family(host.within)), PATIENCE)
        process.terminate()
        done = await asyncio.wait_for(process.wait(), PATIENCE)
    assert done.exit_signal is not None
    assert done.exit_signal[0] == "TERM"


async def test_a_signal_goes_to_the_whole_group_and_can_be_caught(host: DemoHost) -> None:
    async with login(host) as conn:
        process = await conn.create_process("trap 'echo caught; exit 9' TERM; sleep 601 & wait")
        # A shell that is only about to start it would leave it behind, with its output held open.
        await eventually(lambda: any(title(pid) == "sleep 601" for pid in family(host.within)), PATIENCE)
        process.send_signal("TERM")
        done = await asyncio.wait_for(process.wait(), PATIENCE)
        assert (done.exit_status, done.stdout) == (9, b"caught\n")
        await eventually(lambda: not any(title(pid) == "sleep 601" for pid in family(host.within)), PATIENCE)


async def test_a_signal_that_comes_before_the_start_is_not_lost(host: DemoHost) -> None:
    async with login(host) as conn:
        os.kill(host.within, signal.SIGSTOP)
        process = await conn.create_process("sleep 604; sleep 604")
        process.send_signal("TERM")
        # The answer to a request that came after it shows that the signal has reached the server.
        with pytest.raises(asyncssh.ChannelOpenError):
            await conn.create_process("true", term_type="xterm")
        os.kill(host.within, signal.SIGCONT)
        done = await asyncio.wait_for(process.wait(), PATIENCE)
    assert done.exit_signal is not None
    assert done.exit_signal[0] == "TERM"


async def test_commands_end_with_their_channel_but_detached_ones_live_on(host: DemoHost) -> None:
    async with login(host) as conn:
        await output(conn, "setsid sleep 602 >/dev/null 2>&1 </dev/null &")
        process = await conn.create_process("trap '' HUP; sleep 603; sleep 603")
        await eventually(lambda: any(title(pid) == "sleep 603" for pid in family(host.within)), PATIENCE)
        process.close()
        await eventually(lambda: not any("sleep 603" in title(pid) for pid in family(host.within)), PATIENCE)
        assert any(title(pid) == "sleep 602" for pid in family(host.within))


async def test_a_shell_or_a_terminal_is_refused(host: DemoHost) -> None:
    async with login(host) as conn:
        done = await conn.run()
        assert done.exit_status == 254
        with pytest.raises(asyncssh.ChannelOpenError):
            await conn.create_process("true", term_type="xterm")


async def test_a_command_that_is_too_long_is_an_error_not_a_hang(host: DemoHost) -> None:
    async with login(host) as conn:
        done = await asyncio.wait_for(conn.run(": " + "x" * 140_000), PATIENCE)
    assert done.exit_status == 254
    assert b"Argument list too long" in done.stderr


async def test_files_can_be_read_through_proc_but_not_changed(host: DemoHost) -> None:
    (host.home.root / "some.log").write_bytes(b"first\n")
    async with login(host) as conn, conn.start_sftp_client() as sftp:
        process = await conn.create_process("exec 3< some.log; echo $$; exec sleep 604")
        pid = int(await process.stdout.readline())
        async with sftp.open(f"/proc/{pid}/fd/3", "rb") as file:
            assert await file.read() == b"first\n"
        path = str(host.home.root / "some.log")
        for mode in ("wb", "ab", "r+b", "xb"):
            with pytest.raises(asyncssh.SFTPPermissionDenied):
                await sftp.open(path, mode)
        for change in (sftp.remove(path), sftp.rename(path, path + "2"), sftp.mkdir(path + "3"), sftp.chmod(path, 0)):
            with pytest.raises(asyncssh.SFTPPermissionDenied):
                await change
        process.send_signal(signal.SIGKILL.name.removeprefix("SIG"))
        await asyncio.wait_for(process.wait(), PATIENCE)


async def test_a_lost_connection_ends_its_commands(host: DemoHost) -> None:
    async with login(host) as conn:
        await conn.create_process("sleep 605; sleep 605")
        await eventually(lambda: any(title(pid) == "sleep 605" for pid in family(host.within)), PATIENCE)
        conn.abort()
    await eventually(lambda: family(host.within) == set(), PATIENCE)
