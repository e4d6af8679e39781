"""Fuzzes `fuzz.targets.recordings`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from fuzz.fuzzing import run

run(__file__)
