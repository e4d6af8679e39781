"""What a report needs of hosts that are watched for a while: samples of each of them, and of the start as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bringup.core.state import State
    from bringup.report.account import Account
    from bringup.session.headless import Look
    from bringup.session.series import Series


def states_of(look: Look) -> Sequence[State]:
    """Return the state of the host, or of each of several."""
    from bringup.session.fleet_looks import FleetLook

    return [state for _, state, _ in look.nodes] if isinstance(look, FleetLook) else [look.state]


class Samples:
    """Samples of what is watched, look by look."""

    def __init__(self) -> None:
        from bringup.session.series import Series

        self._whole = Series()
        self._nodes: dict[str, Series] = {}

    def add(self, look: Look) -> None:
        """Take samples where they are due."""
        from bringup.session.fleet_looks import FleetLook
        from bringup.session.series import Series

        if not isinstance(look, FleetLook):
            self._whole.add(look.state, look.verdict)
            return
        for name, state, verdict in look.nodes:
            self._nodes.setdefault(name, Series()).add(state, verdict)
        # Which node decides can change, and another server would begin anew: the first node is always the same.
        self._whole.add(look.nodes[0][1], look.verdict)

    def account(self, name: str, look: Look, lines: Mapping[str, Sequence[bytes]]) -> Account:
        """Return what a report is made of; `lines` are the newest of each host's log."""
        from bringup.report.accounts import of_host, of_hosts
        from bringup.session.fleet_looks import FleetLook

        if not isinstance(look, FleetLook):
            (only,) = lines.values()
            return of_host(name, look.state, look.verdict, self._whole.points, only)
        nodes = [
            of_host(node, state, verdict, self._nodes[node].points, lines[node]) for node, state, verdict in look.nodes
        ]
        return of_hosts(look.state, look.verdict, nodes, self._whole.points)
