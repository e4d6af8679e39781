"""How a simulated rank reads a checkpoint, looked at in its own maps whenever it would sleep."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from simulated import needs_linux

from bringup.demo import checkpoint, scenarios
from bringup.demo.loading import AHEAD, SLICES, Loader

SECONDS = 25.0


def read(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> tuple[list[set[str]], list[tuple[str, int]], float]:
    """Read a checkpoint; returns what was mapped at each sleep, the calls with the looks before them, seconds slept."""
    looks: list[set[str]] = []
    calls: list[tuple[str, int]] = []
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        looks.append(mapped())

    def note(what: str) -> Callable[..., None]:
        return lambda *_: calls.append((what, len(looks)))

    monkeypatch.setattr("bringup.demo.plan.time", SimpleNamespace(sleep=sleep))
    loader = Loader(scenarios.load("healthy").plan, 0)
    loader.read(files, SECONDS, opened=note("opened"), consumed=note("consumed"))
    return looks, calls, sum(slept)


def mapped() -> set[str]:
    """Return the names of the checkpoint files that this process has mapped."""
    return set(re.findall(r"/(model[\w-]*\.safetensors)$", Path("/proc/self/maps").read_text(), re.MULTILINE))


@needs_linux
def test_every_file_is_mapped_once_and_no_more_than_the_loader_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint.make_target(tmp_path / "target", "Some", 64)
    files = checkpoint.files(tmp_path / "target")
    looks, calls, slept = read(files, monkeypatch)
    assert set().union(*looks) == {path.name for path in files}
    assert max(map(len, looks)) == AHEAD
    for path in files:
        seen = [path.name in names for names in looks]
        assert sum(seen[1:][n] and not seen[n] for n in range(len(seen) - 1)) + seen[0] == 1
    assert [what for what, _ in calls].count("opened") == [what for what, _ in calls].count("consumed") == len(files)
    assert mapped() == set()
    assert slept == pytest.approx(SECONDS, rel=0.05)


@needs_linux
def test_a_draft_of_one_file_is_mapped_until_it_is_consumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint.make_draft(tmp_path / "draft", "LlamaForCausalLMEagle3")
    looks, calls, _ = read(checkpoint.files(tmp_path / "draft"), monkeypatch)
    assert looks == [{"model.safetensors"}] * (2 * SLICES)
    assert calls == [("opened", 0), ("consumed", 2 * SLICES)]
    assert mapped() == set()
