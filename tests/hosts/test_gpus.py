"""What nvidia-smi prints when it is well, and when it is not."""

from __future__ import annotations

import pytest

from bringup.core.events import Gpu
from bringup.hosts.probe.gpus import MOST_GPUS, Answer


def answer(*gpus: str) -> Answer:
    made = Answer(1.0)
    for line in gpus:
        made.take_gpu(line)
    return made


def gpu(index: int) -> str:
    return f"{index}, GPU-{index}, 1, 2, 3, 4.5, 6.0, 7, NVIDIA H200"


def no_title(pid: int) -> str:
    return ""


@pytest.mark.parametrize("missing", ["[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "ERR!", "", "nan", "-1"])
def test_a_value_that_is_not_there_is_none(missing: str) -> None:
    line = f"0, GPU-0, {missing}, {missing}, {missing}, {missing}, {missing}, {missing}, Tesla, odd"
    assert answer(line).gpus == [Gpu(index=0, uuid="GPU-0", name="Tesla, odd")]


@pytest.mark.parametrize(
    "line",
    [
        "No devices were found",
        "Failed to initialize NVML: Driver/library version mismatch",
        "Unable to determine the device handle for GPU0000:5E:00.0: GPU is lost.  Reboot the system, to recover",
    ],
)
def test_troubles_are_kept_in_its_own_words(line: str) -> None:
    made = answer("", line, "NVML library version: 580.159", gpu(1))
    assert made.said == line
    assert [known.index for known in made.gpus] == [1]


def test_memory_by_process() -> None:
    made = answer(gpu(0), gpu(1))
    made.take_app("70/70", "ann", "71, GPU-1, 512, sglang::scheduler_TP1")
    made.take_app("", "", "72, GPU-0, [N/A], [Not Found]")
    made.take_app("", "", "73, GPU-gone, 1, x")
    first, second = made.resolve((), 70, no_title)
    assert (first.pid, first.gpu, first.used, first.title, first.user) == (71, 1, 512, "sglang::scheduler_TP1", "ann")
    assert (second.pid, second.gpu, second.used, second.title) == (72, 0, None, "")


def test_names_with_commas_and_line_ends() -> None:
    made = answer(gpu(0))
    made.take_app("", "", "71, GPU-0, 512, a, b\x1b[2J, c")
    made.take_app("", "", "the second line, of the name")
    (app,) = made.resolve((), None, no_title)
    assert app.title == "a, b, c"
    assert made.said == ""


@pytest.mark.parametrize(
    ("parent", "root", "tree", "orphan"),
    [
        ("1/40", 70, (), True),  # left over
        ("1/71", 70, (), False),  # a service that leads its own session
        ("1/40", 70, (71,), False),  # the watched server's
        ("1/1", 1, (), False),  # the watched server is init of its container
        ("55/40", 70, (), False),
        ("", 70, (), False),
    ],
)
def test_orphans(parent: str, root: int, tree: tuple[int, ...], orphan: bool) -> None:
    made = answer(gpu(0))
    made.take_app(parent, "ann", "71, GPU-0, 512, x")
    (app,) = made.resolve(tree, root, no_title)
    assert app.orphan is orphan


def test_a_slice_of_the_only_gpu_is_on_that_gpu() -> None:
    made = answer(gpu(0))
    made.take_app("", "", "71, MIG-1234, 512, x")
    assert [app.gpu for app in made.resolve((), None, no_title)] == [0]


def test_there_is_a_limit() -> None:
    assert len(answer(*(gpu(index) for index in range(MOST_GPUS + 5))).gpus) == MOST_GPUS
