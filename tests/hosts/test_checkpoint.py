"""The look at a model's files, run for real under the shells and tools that hosts have."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from checkpointing import EAGLE3, write_config, write_index, write_shards, write_snapshot, write_tensors

from bringup.core.events import Checkpoint, Role, Server
from bringup.hosts.base import Completed, Host
from bringup.hosts.checkpoint import look
from bringup.hosts.local import LocalHost


class Shell(LocalHost):
    """This machine with one shell and one awk; for busybox with nothing but its own tools."""

    def __init__(self, shell: str, awk: str, folder: Path) -> None:
        super().__init__("box")
        program = shutil.which(shell)
        if program is None:
            pytest.skip(f"{shell} is not installed")
        if shell == "busybox":
            for tool in ("awk", "dd", "head", "tail", "od", "ls", "sed", "tr", "readlink", "grep", "sh", "cat"):
                (folder / tool).symlink_to(program)
            self._begin = f"PATH={folder}\nexport PATH\n"
            self._shell = f"{folder}/sh"
            return
        found = shutil.which(awk)
        if found is None:
            pytest.skip(f"{awk} is not installed")
        (folder / "awk").symlink_to(found)
        self._begin = f"PATH={folder}:$PATH\nexport PATH\n"
        self._shell = program

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        text = f"{self._begin}exec {self._shell} -s <<'THE END OF IT'\n{script}\nTHE END OF IT\n"
        return await super().run(text, stdin=stdin, timeout=timeout, limit=limit)


@pytest.fixture(params=[("dash", "mawk"), ("bash", "gawk"), ("busybox", "")], ids=lambda pair: pair[0])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    tools = tmp_path / "tools"
    tools.mkdir()
    return Shell(*request.param, tools)


async def seen(host: Host, model: str | Path, role: Role = "target", *argv: str) -> Checkpoint:
    """Look at a model of this very process."""
    server = Server(pid=os.getpid(), start=1, engine="sglang", argv=argv)
    found = await look(host, server, role, str(model), 7.0)
    assert found is not None
    return found


async def test_a_whole_checkpoint(shell: Shell, tmp_path: Path) -> None:
    files = write_shards(tmp_path / "model", 12)
    found = await seen(shell, tmp_path / "model")
    assert found.present == found.expected == tuple(file.name for file in files)
    assert (found.basis, found.broken, found.names) == ("index", (), ())
    assert found.architectures == ("LlamaForCausalLM",)
    assert found.size == sum(file.stat().st_size for file in files)
    assert (found.folder, found.role, found.seen_at) == (str(tmp_path / "model"), "target", 7.0)
    assert found.filesystem
    assert not found.remote


@pytest.mark.parametrize("index", [True, False])
async def test_a_missing_shard(shell: Shell, tmp_path: Path, index: bool) -> None:
    files = write_shards(tmp_path / "model", 24, index=index)
    files[22].unlink()
    found = await seen(shell, tmp_path / "model")
    assert set(found.expected) - set(found.present) == {"model-00023-of-00024.safetensors"}
    assert found.basis == ("index" if index else "numbering")


async def test_files_that_hold_no_weights(shell: Shell, tmp_path: Path) -> None:
    files = write_shards(tmp_path / "model", 4)
    files[1].write_bytes(b"")
    files[2].write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4999\n")
    (tmp_path / "model" / "tiny.bin").write_bytes(b"\0\1\2")
    found = await seen(shell, tmp_path / "model")
    assert found.broken == (files[1].name, files[2].name)
    assert found.present == (files[0].name, files[3].name)


async def test_the_names_of_a_draft(shell: Shell, tmp_path: Path) -> None:
    nasty = ('quo"ted', "line\nend", "back\\slash", "tab\t", "br{ace}[", "ünïcode", 'ends\\"')
    write_tensors(tmp_path / "model.safetensors", [*EAGLE3, *nasty])
    write_config(tmp_path, "LlamaForCausalLMEagle3")
    found = await seen(shell, tmp_path, "draft")
    assert set(EAGLE3) < set(found.names)
    assert len(found.names) == len(EAGLE3) + len(nasty)
    assert {'quo"ted', "back\\slash", "br{ace}[", "ünïcode", 'ends\\"'} < set(found.names)
    assert "__metadata__" not in found.names
    assert found.architectures == ("LlamaForCausalLMEagle3",)
    assert (await seen(shell, tmp_path, "target")).names == ()


async def test_names_from_several_headers_and_from_an_index(shell: Shell, tmp_path: Path) -> None:
    write_shards(tmp_path / "two", 2, index=False)
    assert (await seen(shell, tmp_path / "two", "draft")).names == ("model.layers.0.w", "model.layers.1.w")
    write_index(tmp_path / "two", {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"})
    assert (await seen(shell, tmp_path / "two", "draft")).names == ("a", "b")


@pytest.mark.parametrize("length", [20 << 20, (1 << 63) + 5, 5])
async def test_a_header_that_is_none_or_too_long(shell: Shell, tmp_path: Path, length: int) -> None:
    write_tensors(tmp_path / "model.safetensors", EAGLE3, padding=20 << 20 if length == 20 << 20 else 0)
    if length != 20 << 20:
        data = (tmp_path / "model.safetensors").read_bytes()
        (tmp_path / "model.safetensors").write_bytes(length.to_bytes(8, "little") + data[8:])
    found = await seen(shell, tmp_path, "draft")
    assert (found.present, found.names) == (("model.safetensors",), ())


async def test_names_of_files_that_are_odd(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / 'a folder\'s "name" $HOME'
    folder.mkdir()
    odd = ['it\'s "one" $x `y`.safetensors', "-n.safetensors", " two  blanks .safetensors"]
    for name in odd:
        write_tensors(folder / name)
    write_tensors(folder / "line\n-rw-r--r-- 1 0 0 9 Jan 1 00:00 fake-00001-of-00002.safetensors")
    found = await seen(shell, folder)
    assert set(odd) < {f" {name}" if name.startswith("two") else name for name in found.present}
    assert not found.expected
    assert found.folder == str(folder)


async def test_a_repository_in_the_cache(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tensors(tmp_path / "one.safetensors", ["fc.weight"])
    data = (tmp_path / "one.safetensors").read_bytes()
    config = json.dumps({"architectures": ["LlamaForCausalLMEagle3"]}).encode()
    files = {"model.safetensors": data, "config.json": config}
    snapshot = write_snapshot(tmp_path / "hub", "some-org/a.Draft", "0123abc", files)
    found = await seen(shell, "some-org/a.Draft", "draft", "--download-dir", str(tmp_path / "hub"))
    assert (found.folder, found.present) == (str(snapshot), ("model.safetensors",))
    assert (found.names, found.architectures) == (("fc.weight",), ("LlamaForCausalLMEagle3",))
    (snapshot / "model.safetensors").unlink()
    (snapshot / "model.safetensors").symlink_to("../../blobs/not-downloaded-yet")
    broken = await seen(shell, "some-org/a.Draft", "draft", f"--download-dir={tmp_path / 'hub'}")
    assert broken.present == ()


@pytest.mark.parametrize(
    ("name", "below"),
    [
        ("HF_HUB_CACHE", ""),
        ("HUGGINGFACE_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", "huggingface/hub"),
        ("HOME", ".cache/huggingface/hub"),
    ],
)
async def test_where_the_environment_of_the_server_says(shell: Shell, tmp_path: Path, name: str, below: str) -> None:
    write_tensors(tmp_path / "one.safetensors")
    files = {"model.safetensors": (tmp_path / "one.safetensors").read_bytes()}
    snapshot = write_snapshot(tmp_path / "a b" / below, "o/m", "0123abc", files)
    environment = {"PATH": os.environ["PATH"], "NOISE": "two\nlines", name: str(tmp_path / "a b")}
    command = ["sh", "-c", "echo; read -r _"]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        found = await look(shell, Server(pid=process.pid, start=1, engine="vllm", argv=()), "target", "o/m", 7.0)
        assert found is not None
        assert found.folder == str(snapshot)
    finally:
        process.communicate(b"\n", timeout=60)


@pytest.mark.parametrize("model", ["no-org/no-model", "/no/such/folder", "s3://bucket/model"])
async def test_files_that_are_nowhere(shell: Shell, model: str) -> None:
    server = Server(pid=os.getpid(), start=1, engine="sglang", argv=("--download-dir", "/no/such/cache"))
    assert await look(shell, server, "target", model, 7.0) is None


async def test_a_single_file(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "model.Q4.gguf").write_bytes(b"GGUF")
    (tmp_path / "another.gguf").write_bytes(b"GGUF")
    assert (await seen(shell, tmp_path / "model.Q4.gguf")).present == ("model.Q4.gguf",)


async def test_over_ssh(host: Host, tmp_path: Path) -> None:
    files = write_shards(tmp_path / "model", 3)
    files[0].unlink()
    found = await seen(host, tmp_path / "model", "draft")
    assert (len(found.present), len(found.expected), len(found.names)) == (2, 3, 3)


async def test_in_another_mount_namespace(shell: Shell, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    write_shards(tmp_path / "model", 2)
    text = 'mount -t tmpfs none "$1" && cp -r "$2" "$1/model" && mount --bind "$1" /mnt && echo in && read -r _'
    command = ["unshare", "--mount", "sh", "-c", text, "sh", str(inside), str(tmp_path / "model")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        if process.stdout.readline() != b"in\n":
            pytest.skip("no mount namespace can be made here")
        server = Server(pid=process.pid, start=1, engine="sglang", argv=())
        found = await look(shell, server, "target", "/mnt/model", 7.0)
        assert found is not None
        assert len(found.present) == 2
        assert (found.folder, found.filesystem) == ("/mnt/model", "tmpfs")
    finally:
        process.communicate(b"\n", timeout=60)
