"""What the painters draw from: the state and its verdict at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bringup.core.state import Action, State
from bringup.core.verdict import Verdict

if TYPE_CHECKING:
    from bringup.session.console import Recorded, StopPlan, Unfinished

_STALE_LINKS = ("lost", "refused")


@dataclass(frozen=True, slots=True, eq=False)
class OtherNode:
    """A host of a start with several, while another one is shown."""

    name: str
    state: State
    now: float
    """Epoch seconds on its own clock."""
    left: Unfinished | None = None
    """What was left in the middle on it."""
    dismissed: Action | None = None
    """An action on it that failed, once the operator has read that."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One moment of a watched host."""

    state: State
    verdict: Verdict
    title: str
    """What the operator called the host."""
    read_only: bool = False
    plan: StopPlan | None = None
    """What the action under way touches, where it was begun on this screen."""
    held_before: int = 0
    """MiB of GPU memory that all of it held before."""
    asking: str = ""
    """What the host is asked now for a diagnosis; "" while none is made."""
    dismissed: Action | None = None
    """An action that failed, once the operator has read that."""
    recorded: Recorded = ""
    """Whether what is seen is recorded now."""
    left: Unfinished | None = None
    """What a lost connection, or a launch that failed, left in the middle on the host."""
    others: tuple[OtherNode, ...] = ()
    """The hosts of the same start that are not shown."""

    @property
    def now(self) -> float:
        """Epoch seconds on the host's clock."""
        return self.verdict.now

    @property
    def is_old(self) -> bool:
        """What is shown is not what is: the connection is gone or nothing came for a while."""
        return self.verdict.stale_s is not None or self.state.link.status in _STALE_LINKS

    @property
    def has_draft(self) -> bool:
        """Two models are loaded."""
        return self.verdict.draft_model is not None or any(view.role == "draft" for view in self.verdict.phases)

    @property
    def is_busy(self) -> bool:
        """A stop or restart of the operator is under way."""
        return self.state.action is not None and not self.state.action.ended
