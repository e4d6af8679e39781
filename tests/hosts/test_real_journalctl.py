"""The real journalctl on a journal of ours: its options, and what it prints.

The journal (made by systemd-journal-remote 252 from three entries of the export format) holds the lines "line 0" to
"line 2" of llm.service with the identifier llm, one a second from 2026-01-02 10:00:00 UTC on.
"""

from __future__ import annotations

import lzma
import shutil
from contextlib import aclosing
from pathlib import Path

import pytest
from fakehost import make_program
from simulated import needs_linux

from bringup.hosts.command_log import CommandLog
from bringup.hosts.local import LocalHost
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.splice import Splice
from bringup.hosts.ways import make_way

CLIENT = shutil.which("journalctl")
JOURNAL = Path(__file__).with_name("llm.journal.xz")
pytestmark = [needs_linux, pytest.mark.skipif(CLIENT is None, reason="no journalctl here")]


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "system.journal").write_bytes(lzma.decompress(JOURNAL.read_bytes()))
    make_program(tmp_path / "bin", "journalctl", f'exec {CLIENT} --directory={tmp_path}/journal "$@"\n')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("TZ", "UTC")


async def printed(splice: Splice, until: bytes, unit: str = "llm") -> list[bytes]:
    """Follow the journal up to some words."""
    host = PrefixedHost(LocalHost("box"), make_way("unit", unit))
    seen: list[bytes] = []
    async with aclosing(CommandLog(host, splice, quiet=0.1).items()) as items:
        async for chunk in items:
            seen.append(chunk.data)
            if until in b"".join(seen):
                break
    await host.close()
    return b"".join(seen).splitlines()


async def test_the_log_of_a_unit(journal: None) -> None:
    splice = Splice(keep_stamps=True)
    assert await printed(splice, b"line 2\n") == [
        b"2026-01-02T10:00:0%d.000000+0000 box llm[7]: line %d" % (number, number) for number in range(3)
    ]
    assert splice.newest == 1_767_348_002.0


async def test_it_is_begun_again_where_it_was(journal: None) -> None:
    splice = Splice(keep_stamps=True)
    splice.begin()
    splice.feed(b"2026-01-02T10:00:00.500000+0000 box llm[7]: seen before\n")
    stamp, epoch = splice.since
    assert f"--since=@{epoch}" in make_way("unit", "llm").log_since(stamp, epoch)
    assert [line[-6:] for line in await printed(splice, b"line 2\n")] == [b"line 0", b"line 1", b"line 2"]


@pytest.mark.parametrize("unit", ["user/llm", "llm@3.service", r"llm\x2dold.service"])
async def test_its_words_are_understood(unit: str, journal: None) -> None:
    """What it does not know it would refuse; of a unit without a line there is nothing to print."""
    host, way = LocalHost("box"), make_way("unit", unit)
    done = await host.run(way.log_since("x", 1_767_348_000).replace(" -f ", " "))
    assert (done.status, done.stdout, done.stderr) in [(status, b"", b"") for status in (0, 1)]
    await host.close()
