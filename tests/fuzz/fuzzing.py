"""Runs one target under atheris (libFuzzer): `python tests/fuzz/fuzz_framing.py -max_total_time=60`.

Needs the extra `fuzz`. Further words go to libFuzzer; a folder among them is a corpus that grows. An input that fails
is put under crashes/, where the test of this folder finds it from then on.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

HERE = Path(__file__).parent
_LONGEST = 8192


def run(script: str) -> None:
    """Fuzz the target that a script is named after."""
    name = Path(script).stem.removeprefix("fuzz_")
    sys.path.insert(0, str(HERE.parents[1] / "app"))
    with atheris.instrument_imports(include=["bringup"]):
        from fuzz.targets import TARGETS
    from fuzz.seeds import SEEDS

    crashes = HERE / "crashes" / name
    crashes.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS[name]):
            Path(corpus, str(number)).write_bytes(seed)
        given = sys.argv[1:]
        options = [f"-max_len={_LONGEST}", f"-artifact_prefix={crashes}/", "-timeout=20", "-rss_limit_mb=1500"]
        folders = [word for word in given if not word.startswith("-")] or [f"{corpus}/new"]
        Path(folders[0]).mkdir(exist_ok=True)
        flags = [word for word in given if word.startswith("-")]
        atheris.Setup([script, *options, *flags, *folders, corpus], TARGETS[name])
        atheris.Fuzz()
