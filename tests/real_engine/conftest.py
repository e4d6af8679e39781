from __future__ import annotations

import pytest
from sshd import real_sshd as real_sshd

from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy
from bringup.session.knowledge import Knowledge


@pytest.fixture(scope="session")
def knowledge() -> Knowledge:
    """What the program itself loads."""
    return Knowledge(load_engines(), load_wrappers(), load_policy())
