"""What every host must do alike: over SSH with SFTP, over SSH with a shell only, and on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sshd import free_port
from waiting import alive, eventually, pid_in

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host
from bringup.hosts.openssh import OpensshHost

SLOW = 120.0
"""Seconds that no test waits for: only a hang takes as long."""


@pytest.fixture
async def echo_port() -> AsyncIterator[int]:
    """A port where somebody answers one line with the same line, and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def test_a_command_gives_its_status_and_both_outputs(host: Host) -> None:
    done = await host.run("echo out; echo err >&2; exit 3")
    assert (done.status, done.stdout, done.stderr) == (3, b"out\n", b"err\n")


async def test_a_script_arrives_letter_by_letter(host: Host) -> None:
    done = await host.run("""x='a  b'
printf '%s|' "$x" 'it'"'"'s' 'b\\s\\n' 'bang!x' '$HOME' # comment
cat <<'END'
`tick` \\ é
END""")
    assert done.stdout.decode() == "a  b|it's|b\\s\\n|bang!x|$HOME|`tick` \\ é\n"


async def test_a_command_reads_what_it_is_given(host: Host) -> None:
    given = bytes(range(256)) * 2000
    done = await host.run("cat", stdin=given)
    assert done.stdout == given


async def test_a_command_need_not_read_what_it_is_given(host: Host) -> None:
    assert (await host.run("exit 4", stdin=b"x" * 5_000_000)).status == 4


async def test_each_output_is_cut_at_the_limit(host: Host) -> None:
    done = await host.run("printf 'abcdefgh'; printf '12345678' >&2; exit 1", limit=5)
    assert (done.status, done.stdout, done.stderr) == (1, b"abcde", b"12345")


async def test_a_signal_shows_as_a_shell_shows_it(host: Host) -> None:
    # ssh(1) says 255 for every end that has no exit status.
    told = 255 if isinstance(host, OpensshHost) else 128 + 9
    assert (await host.run("kill -KILL $$")).status == told


async def test_a_timeout_ends_the_command_and_its_children(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    for timeout in (1.0, 5.0, 25.0):
        with pytest.raises(ChannelRefused, match="did not end within") as refusal:
            await host.run(f"sleep 600 & echo $! > {file}; wait", timeout=timeout)
        assert refusal.value.reason == "timeout"
        if file.exists():  # A machine on which it does not even begin within that time is given more.
            break
    pid = await pid_in(file)
    await eventually(lambda: not alive(pid))


async def test_a_cancelled_command_is_ended(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    running = asyncio.ensure_future(host.run(f"echo $$ > {file}; sleep 600", timeout=SLOW))
    pid = await pid_in(file)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await eventually(lambda: not alive(pid))
    assert (await host.run("echo still here")).stdout == b"still here\n"


async def test_a_command_cancelled_at_once_leaves_the_host_usable(host: Host) -> None:
    for _ in range(12):
        running = asyncio.ensure_future(host.run("sleep 600", timeout=SLOW))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    done = None
    while done is None:
        try:
            done = await host.run("echo free")
        except ChannelRefused:
            # sshd closes the ended sessions in its own time.
            await asyncio.sleep(0.05)
    assert done.stdout == b"free\n"


async def test_a_stream_gives_output_as_it_comes_and_the_status_at_its_end(host: Host, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f"echo first; while [ ! -e {go} ]; do sleep 0.02; done; echo second; echo err >&2; exit 6"
    async with host.stream(script) as stream:
        assert await stream.read() == b"first\n"
        go.touch()
        assert await stream.read() == b"second\n"
        assert await stream.read() == b""
        done = await stream.status()
    assert (done.status, done.stderr) == (6, b"err\n")


async def test_leaving_a_stream_ends_a_silent_loop_and_its_children(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    async with host.stream(f"echo started; sleep 600 & echo $! > {file}; while :; do sleep 600; done") as stream:
        assert await stream.read() == b"started\n"
        pid = await pid_in(file)
        assert alive(pid)
    await eventually(lambda: not alive(pid))


async def test_closing_the_host_ends_its_streams(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    async with host.stream(f"echo $$ > {file}; while :; do sleep 1; done"):
        pid = await pid_in(file)
        await host.close()
        await eventually(lambda: not alive(pid))


async def test_a_stream_that_nobody_reads_waits(host: Host, tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"i=0; while :; do i=$((i+1)); echo $i > {count}; head -c 1000000 /dev/zero; done"
    async with host.stream(script) as stream:
        await eventually(lambda: count.exists() and count.read_text() != "")
        seen = ""
        while seen != count.read_text():
            seen = count.read_text()
            await asyncio.sleep(0.5)
        blocks = int(seen)
        assert blocks < 60
        async with asyncio.timeout(SLOW):
            for _ in range(600):
                await stream.read()
        await eventually(lambda: count.read_text() not in ("", seen))


async def test_a_stream_whose_errors_nobody_reads_goes_on(host: Host) -> None:
    async with host.stream("head -c 20000000 /dev/zero >&2; echo done") as stream, asyncio.timeout(SLOW):
        assert await stream.read() == b"done\n"


async def test_a_tcp_connection(host: Host, echo_port: int, request: pytest.FixtureRequest) -> None:
    if "shell" in request.node.name:
        with pytest.raises(ChannelRefused, match="AllowTcpForwarding") as refusal:
            await host.connect("127.0.0.1", echo_port)
        assert refusal.value.reason == "forbidden"
        return
    stream = await host.connect("127.0.0.1", echo_port)
    await stream.write(b"hello\n")
    assert await stream.read() == b"hello\n"
    assert await stream.read() == b""
    await stream.close()


async def test_a_port_where_nobody_listens(host: Host, request: pytest.FixtureRequest) -> None:
    if "shell" in request.node.name:
        pytest.skip("this server forbids all forwarding")
    with pytest.raises(ChannelRefused) as refusal:
        await host.connect("127.0.0.1", free_port())
    # Through a standing connection ssh says only that it was refused, whoever did it: then a program there is asked.
    assert refusal.value.reason == ("forbidden" if isinstance(host, OpensshHost) else "refused")
