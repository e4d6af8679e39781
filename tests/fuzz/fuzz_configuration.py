"""Fuzzes `fuzz.targets.configuration`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from fuzz.fuzzing import run  # noqa: E402 - the path comes first

run(__file__)
