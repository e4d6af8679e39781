"""The parts of the simulated host, each by itself."""

import json
import os
import struct
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from simulated import needs_linux, title

import bringup
from bringup.demo import bars, checkpoint
from bringup.demo.gpus import Claim, Driver

TITLED = """
import sys
from bringup.demo.titles import set_title
set_title(sys.argv[1])
print(open("/proc/self/comm").read().strip(), flush=True)
sys.stdin.read()
"""
IMPORTED = """
import sys
import bringup.demo.server, bringup.demo.supervisor
outside = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
print(sorted(outside - {"__main__", "__mp_main__"}), "asyncio" in sys.modules)
"""


@needs_linux
@pytest.mark.parametrize(("text", "comm"), [("sglang::scheduler_TP0", "sglang::schedul"), ("x" * 4000, "x" * 15)])
def test_a_title_is_what_ps_shows_and_never_more_than_fits(text: str, comm: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TITLED, text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().strip() == comm
        shown, environ = title(process.pid), Path(f"/proc/{process.pid}/environ").read_bytes()
        process.stdin.close()
    assert shown == text[: len(shown)]
    assert len(shown) >= 21
    assert b"PATH=" in environ


def test_server_processes_import_nothing_heavy() -> None:
    environ = {"PYTHONPATH": str(Path(bringup.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", IMPORTED], capture_output=True, text=True, env=environ, check=True
    )
    assert done.stdout == "['bringup'] False\n"


def test_checkpoints_are_valid_safetensors(tmp_path: Path) -> None:
    checkpoint.make_target(tmp_path / "target", "Some", 3)
    checkpoint.make_draft(tmp_path / "draft", "LlamaForCausalLMEagle3")
    target, draft = checkpoint.files(tmp_path / "target"), checkpoint.files(tmp_path / "draft")
    assert [path.name for path in target] == [f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    assert [path.name for path in draft] == ["model.safetensors"]
    for path in [*target, *draft]:
        data = path.read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + size])
        header.pop("__metadata__")
        ends = [0]
        for tensor in header.values():
            begin, end = tensor["data_offsets"]
            elements = 1
            for length in tensor["shape"]:
                elements *= length
            assert (begin, end - begin) == (ends[-1], elements * 2)
            ends.append(end)
        assert len(data) == 8 + size + ends[-1]
    assert "midlayer.self_attn.q_proj.weight" in draft[0].read_bytes().decode(errors="replace")


@needs_linux
def test_a_mapped_file_is_in_the_maps_and_in_no_descriptor(tmp_path: Path) -> None:
    checkpoint.make_draft(tmp_path / "draft", "Some")
    path = tmp_path / "draft" / "model.safetensors"
    mapped = checkpoint.Mapped(path)
    mapped.touch(1.0)
    assert str(path) in Path("/proc/self/maps").read_text()
    assert path.resolve() not in {fd.resolve() for fd in Path("/proc/self/fd").iterdir()}
    mapped.close()
    assert str(path) not in Path("/proc/self/maps").read_text()


def test_a_bar_is_drawn_as_tqdm_does() -> None:
    written: list[str] = []
    bar = bars.Bar(2, written.append, label="Loading", blocks=False)
    bar.advance()
    bar.advance()
    bar.close()
    assert written[0] == "\rLoading:   0% Completed | 0/2 [00:00<?, ?it/s]"
    assert written[-2].startswith("\rLoading: 100% Completed | 2/2 [00:00<00:00, ")
    assert written[-1] == written[-2].rstrip("\n") + "\n"
    assert all("\n" not in text for text in written[:-1])


def test_a_bar_of_blocks() -> None:
    written: list[str] = []
    bar = bars.Bar(8, written.append)
    assert written == ["\r  0%|          | 0/8 [00:00<?, ?it/s]"]
    bar.advance()
    bar.name("Capturing batches (bs=7 avail_mem=12.46 GB)")
    assert written[-1].startswith("\rCapturing batches (bs=7 avail_mem=12.46 GB):  12%|█▎        | 1/8 [00:00<00:0")


@pytest.mark.parametrize(("seconds", "text"), [(0, "00:00"), (61.9, "01:01"), (3723, "1:02:03")])
def test_times_in_a_bar(seconds: float, text: str) -> None:
    assert bars.clock(seconds) == text


@needs_linux
def test_the_driver_frees_the_memory_of_a_process_a_while_after_its_end(tmp_path: Path) -> None:
    driver = Driver(tmp_path, 2, freed_after=1.0)
    Claim(tmp_path, 1).hold(1.0, 50, 200.0)
    (tmp_path / "claims" / "4194305").write_text("0 2048 100 300.0\n")
    driver.tick(100.0)
    apps = (tmp_path / "apps").read_text().splitlines()
    assert [line for line in apps if "4194305" in line] == ["0|4194305|[No data]|2048"]
    driver.tick(101.1)
    [left] = (tmp_path / "apps").read_text().splitlines()
    assert left.startswith(f"1|{os.getpid()}|")
    used = [line.split("|")[3] for line in (tmp_path / "gpus").read_text().splitlines()]
    assert used == ["0", "1034"]


@pytest.fixture
def smi(tmp_path: Path):
    """Return a way to ask the demo's nvidia-smi about two GPUs, of which the second one is in use."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "gpus").mkdir()
    Driver(tmp_path / "gpus", 2).tick(0.0)
    gpus = (tmp_path / "gpus" / "gpus").read_text().splitlines()
    (tmp_path / "gpus" / "gpus").write_text(f"{gpus[0]}\n{gpus[1].replace('|0|0|0|', '|75151|2|0|')}\n")
    (tmp_path / "gpus" / "apps").write_text("1|4711|sglang::scheduler_TP1|75141\n")
    program = tmp_path / "bin" / "nvidia-smi"
    program.write_bytes(resources.files("bringup.demo").joinpath("nvidia-smi").read_bytes())

    def ask(*options: str) -> tuple[int, str]:
        done = subprocess.run(["/bin/sh", program, *options], capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    return ask


def test_fields_come_in_the_order_asked(smi) -> None:
    status, text = smi("--query-gpu=memory.used, index,memory.total,memory.free", "--format=csv,noheader,nounits")
    assert (status, text) == (0, "0, 0, 143771, 143156\n75151, 1, 143771, 68005\n")


def test_units_and_header_are_there_unless_turned_off(smi) -> None:
    status, text = smi("--query-gpu=index,memory.used,utilization.gpu,name", "--format=csv")
    assert status == 0
    assert text.splitlines()[0] == "index,memory.used,utilization.gpu,name"
    assert text.splitlines()[2] == "1, 75151 MiB, 2 %, NVIDIA H200"


def test_processes_name_their_gpu(smi) -> None:
    listed = smi("-L")[1].splitlines()[1]
    status, text = smi("--query-compute-apps=pid,gpu_uuid,used_memory,name", "--format=csv,noheader,nounits")
    pid, uuid, used, name = text.strip().split(", ")
    assert (status, pid, used, name) == (0, "4711", "75141", "sglang::scheduler_TP1")
    assert listed == f"GPU 1: NVIDIA H200 (UUID: {uuid})"


def test_unknown_fields_and_options_are_refused(smi) -> None:
    assert smi("--query-gpu=index,colour", "--format=csv") == (
        2,
        'index,colour\nField "colour" is not a valid field to query.\n',
    )
    assert smi("--reset")[0] == 1
