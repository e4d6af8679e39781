"""Property tests explore anew on a developer's machine, and try the same examples each time in CI."""

from __future__ import annotations

import os
import tempfile

from faulttable import pytest_terminal_summary as pytest_terminal_summary
from hypothesis import settings

# Nothing that a test lets happen lands among the history, the recordings and the crash reports of whoever runs it.
os.environ.setdefault("BRINGUP_DATA_DIR", tempfile.mkdtemp(prefix="bringup-tests-"))
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI") == "true":
    settings.load_profile("ci")
