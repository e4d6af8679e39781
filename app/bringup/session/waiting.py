"""When a wait is over: at an end of the start, never because time has passed while work goes on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bringup.core.agreement import asked_before, is_good, owner
from bringup.core.liveness import is_blind
from bringup.core.phases import time_of
from bringup.core.policy import Patience, Policy
from bringup.core.state import State
from bringup.core.verdict import StateName
from bringup.session.headless import Look

ENDS: frozenset[StateName] = frozenset({"ready", "failed", "stalled", "stopped", "standby", "degraded"})
LATE = 10.0
"""Seconds for which an end that only an old log tells of is held back: the server that is waited for may just be coming
up, and writes to the same file."""
QUIET_SEEN = 60.0
"""Seconds for which nothing must have moved before our own eyes, too, before a wait ends because of silence; a quarter
of the patience that was asked for, where that is less."""
STALL_HOLDS = 3.0
"""Seconds for which a stall must hold: one sample can show a rank in the one moment in which it waits for a disk."""
ANSWER = 8.0
"""Seconds for which a server that seems ready is given to answer: two questions to a port that can be asked."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the one who waits has asked for; None means for ever."""

    timeout: float | None = None
    appear: float | None = None
    stall: float | None = None


class Wait:
    """Decides, look by look."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._stalled_at: float | None = None
        """Since when every look was a stall, in seconds since the first look."""
        self._ready_at: float | None = None
        """The same of looks that said ready."""

    def is_over(self, look: Look) -> bool:
        """Say whether the wait ends with this look."""
        self._take_note(look)
        if not look.settled:
            return False
        terms, state = self._terms, look.verdict.state
        if terms.timeout is not None and look.elapsed >= terms.timeout:
            return True
        if state == "waiting":
            return terms.appear is not None and look.elapsed >= terms.appear
        if state not in ENDS:
            return False
        if look.state.server is None:
            return look.elapsed >= LATE
        if state == "ready" and _awaits_answer(look.state):
            return look.elapsed - (self._ready_at or 0.0) >= ANSWER
        return state != "stalled" or self._is_proven(look)

    def _take_note(self, look: Look) -> None:
        if look.verdict.state != "stalled" or not look.settled:
            self._stalled_at = None
        elif self._stalled_at is None:
            self._stalled_at = look.elapsed
        if look.verdict.state != "ready":
            self._ready_at = None
        elif self._ready_at is None:
            self._ready_at = look.elapsed

    def ran_out(self, look: Look) -> bool:
        """Say whether the time is over while there is no connection to say anything with."""
        timeout = self._terms.timeout
        return timeout is not None and look.elapsed >= timeout and look.state.link.status != "up"

    def _is_proven(self, look: Look) -> bool:
        held = look.elapsed - (self._stalled_at if self._stalled_at is not None else look.elapsed)
        if is_blind(look.state):
            return True
        if look.verdict.failed_ranks or look.verdict.hang == "stopped":
            return held >= STALL_HOLDS
        stall = self._terms.stall
        return look.watched >= (QUIET_SEEN if stall is None else min(QUIET_SEEN, stall / 4))


def _awaits_answer(state: State) -> bool:
    """Say whether HTTP can be asked and has not answered since the ready line: until then only the log says ready."""
    ready, answer = time_of(state.attempt, "ready"), state.http
    if ready is None or any(name == "http" for name, _ in state.closed):
        return False
    if answer is None:
        return owner(state) == "own"
    return not is_good(answer) and asked_before(answer, ready)


def impatient(policy: Policy, stall: float | None) -> Policy:
    """Return the policy with a patience of `stall` seconds instead of each phase's own; without one, as it is."""
    if stall is None:
        return policy
    patience = {phase: _with(own, stall) for phase, own in policy.patience.items()}
    return replace(policy, patience=patience, busy_factor=1.0)


def _with(own: Patience, stall: float) -> Patience:
    return replace(own, slow=min(own.slow, stall), stalled=stall, compiling=stall, blind=stall)
