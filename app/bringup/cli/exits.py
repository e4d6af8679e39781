"""Exit codes by state, as `status`, `wait` and `explain --exit-code` end."""

from __future__ import annotations

from collections.abc import Mapping

from bringup.core.verdict import StateName

BY_STATE: Mapping[StateName, int] = {
    "ready": 0,
    "failed": 1,
    "stalled": 3,
    "degraded": 5,
    "starting": 6,
    "slow": 6,
    "waiting": 7,
    "stopped": 8,
    "standby": 9,
    "unknown": 10,
}
"""2 is a wrong command line or an input that cannot be read, 4 a host that cannot be reached: neither is a state."""
