from __future__ import annotations

import gzip
import importlib.util
import io
import os
import threading
from pathlib import Path

import pytest

from bringup.core.errors import UsageError
from bringup.hosts import logfile
from bringup.hosts.logfile import CHUNK, open_log, read_log

TEXT = b"".join(b"line %d of a log that is long enough to be packed\n" % number for number in range(20_000))


def read(path: Path) -> tuple[bytes, str]:
    with open_log(path) as log:
        return b"".join(log.chunks()), log.trouble


def zstd(data: bytes) -> bytes:
    module = pytest.importorskip(
        "backports.zstd" if importlib.util.find_spec("compression") is None else "compression.zstd"
    )
    packed: bytes = module.compress(data, options={module.CompressionParameter.checksum_flag: 1})
    return packed


@pytest.mark.parametrize("name", ["a.log", "a.gz", "a.zst"])
def test_the_first_bytes_say_how_it_is_packed_never_the_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for data in (TEXT, gzip.compress(TEXT), zstd(TEXT), gzip.compress(TEXT[:999]) + gzip.compress(TEXT[999:])):
        path.write_bytes(data)
        assert read(path) == (TEXT, "")


@pytest.mark.parametrize("data", [b"", b"a", b"\x1f", b"\x28\xb5\x2f", b"abcd"])
def test_short_logs_are_whole(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    assert read(tmp_path / "a") == (data, "")


@pytest.mark.parametrize("harm", ["cut", "flipped", "garbage after"])
@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_of_a_damaged_archive_the_beginning_is_read(tmp_path: Path, kind: str, harm: str) -> None:
    noise = os.urandom(600_000).hex().encode()
    packed = bytearray(gzip.compress(noise) if kind == "gzip" else zstd(noise))
    if harm == "cut":
        del packed[len(packed) // 2 :]
    elif harm == "flipped":
        packed[len(packed) // 2 : len(packed) // 2 + 64] = bytes(64)
    else:
        packed += b"no archive"
    (tmp_path / "a").write_bytes(packed)
    data, trouble = read(tmp_path / "a")
    assert "damaged or incomplete" in trouble
    assert len(data) > CHUNK
    if harm != "flipped":
        assert noise.startswith(data)


def test_no_chunk_is_larger_than_promised(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(bytes(50_000_000)))
    with open_log(tmp_path / "a") as log:
        sizes = [len(chunk) for chunk in log.chunks()]
    assert sum(sizes) == 50_000_000
    assert max(sizes) <= CHUNK


def test_a_pipe_is_read_though_it_cannot_seek_and_comes_byte_by_byte(tmp_path: Path) -> None:
    packed = gzip.compress(b"slow\n")
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)

    def write() -> None:
        with fifo.open("wb", buffering=0) as pipe:
            for byte in packed:
                pipe.write(bytes([byte]))

    writer = threading.Thread(target=write)
    writer.start()
    assert read(fifo) == (b"slow\n", "")
    writer.join()


def test_what_cannot_be_read_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"There is no file .*none"), open_log(tmp_path / "none"):
        pass
    with pytest.raises(UsageError, match="is a directory"), open_log(tmp_path):
        pass
    with pytest.raises(UsageError, match="cannot be read: Not a directory"), open_log(tmp_path / "a" / "b"):
        pass
    with pytest.raises(UsageError, match=r"cannot be read: .*null"), open_log(Path("a\0b")):
        pass

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match="may not be read by you"), open_log(tmp_path / "a"):
        pass


def test_a_name_cannot_reach_the_terminal_with_escapes(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught, open_log(tmp_path / "a\x1b]0;owned\x07b"):
        pass
    assert "\x1b" not in str(caught.value)


def test_zstd_without_its_module_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "_ZSTD_MODULES", ("no.such.module",))
    with pytest.raises(UsageError, match=r"bringup\[zstd\]"):
        read_log("a.zst", io.BytesIO(b"\x28\xb5\x2f\xfd rest"))


def test_a_disk_that_fails_in_the_middle_is_told() -> None:
    class Failing(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 8:
                raise OSError(5, "Input/output error")
            return super().read1(6)

    log = read_log("a", Failing(b"0123456789abcdef"))
    assert b"".join(log.chunks()) == b"0123456789"
    assert log.trouble == "Reading a broke off: Input/output error."
