"""When a wait is over: at an end of the start, never because time has passed while work goes on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bringup.core.agreement import awaits_answer
from bringup.core.liveness import is_blind
from bringup.core.policy import Patience, Policy
from bringup.core.verdict import StateName
from bringup.session.headless import Look

ENDS: frozenset[StateName] = frozenset({"ready", "failed", "stalled", "stopped", "standby", "degraded"})
LATE = 10.0
"""Seconds for which an end that only an old log tells of is held back: the server that is waited for may just be coming
up, and writes to the same file. As long after somebody's restart it may not be found yet."""
QUIET_SEEN = 60.0
"""Seconds for which nothing must have moved before our own eyes, too, before a wait ends because of silence; a quarter
of the patience that was asked for, where that is less."""
STALL_HOLDS = 3.0
"""Seconds for which a stall must hold: one sample can show a rank in the one moment in which it waits for a disk."""
LOSS_HOLDS = 3.0
"""Seconds for which a loss of ranks must stay all there is to say: of a server that is stopped they may go first."""
ANSWER = 20.0
"""Seconds for which a server whose log says ready is given to answer: a loaded host is asked and answers late."""

YOUNG = 120.0
"""Seconds after its start in which a server that lives may still be about to print its arguments."""


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
        self._state: StateName | None = None
        """What every look since `_since` (seconds after the first) has said; a stall counts once it is settled."""
        self._since = 0.0

    def is_over(self, look: Look) -> bool:
        """Say whether the wait ends with this look."""
        self._take_note(look)
        if not look.settled:
            return False
        terms, state = self._terms, look.verdict.state
        if self._is_late(look):
            return True
        if state not in ENDS:
            return self.is_missed(look)
        if look.state.server is None:
            return look.elapsed >= (max(LATE, terms.appear or 0.0) if self._is_old(look) else LATE)
        held = look.elapsed - self._since
        if state == "ready" and awaits_answer(look.state):
            return held >= ANSWER
        if state == "failed" and _may_be_a_stop(look):
            return held >= LOSS_HOLDS
        if state == "failed" and _may_be_of_before(look):
            return False
        return state != "stalled" or self._is_proven(look, held)

    def _take_note(self, look: Look) -> None:
        state = look.verdict.state
        if state != self._state or (state == "stalled" and not look.settled):
            self._state, self._since = state, look.elapsed

    def may_come_again(self, look: Look) -> bool:
        """Say whether this may be the end of a server that somebody restarts: then the host is asked first.

        Between the stop and the launch there is no server, and whatever an old log says may be of the one before.
        """
        state = look.verdict.state
        is_end = state in ENDS if look.state.server is None else state in ("failed", "stopped")
        return is_end and not self._is_late(look)

    def ran_out(self, look: Look) -> bool:
        """Say whether the time is over while there is no connection to say anything with."""
        return self._is_late(look) and look.state.link.status != "up"

    def _is_late(self, look: Look) -> bool:
        timeout = self._terms.timeout
        return timeout is not None and look.elapsed >= timeout

    def is_missed(self, look: Look) -> bool:
        """Say whether no server was found in the time that was given to it to appear.

        What an old log says is no server; one that grows while we look is one, wherever its processes are.
        """
        appear, state = self._terms.appear, look.verdict.state
        if appear is None or state in ENDS:
            return False
        if state == "waiting":
            return look.elapsed >= appear
        # A start prints nothing for a while: whether a log that tells of one is old shows only then.
        enough = appear if state == "unknown" else max(LATE, appear)
        return look.elapsed >= enough and look.state.server is None and self._is_old(look)

    def _is_old(self, look: Look) -> bool:
        """Say whether all that is known is a log that was not written to since the first look."""
        grew = look.state.log.grew_at
        is_unseen = any(name == "search" for name, _ in look.state.closed)
        return not is_unseen and (grew is None or look.verdict.now - grew >= look.elapsed)

    def _is_proven(self, look: Look, held: float) -> bool:
        if is_blind(look.state):
            return True
        if look.verdict.failed_ranks or look.verdict.hang == "stopped":
            return held >= STALL_HOLDS
        stall = self._terms.stall
        return look.watched >= (QUIET_SEEN if stall is None else min(QUIET_SEEN, stall / 4))


def comes_again(look: Look) -> bool:
    """Say whether somebody brings up the server, or has done so just now: the new one is about to be found."""
    known = look.state.elsewhere
    if known is None or known.action not in ("restart", "launch") or known.failed:
        return False
    return known.ended_at is None or look.verdict.now - known.ended_at < LATE


def _may_be_a_stop(look: Look) -> bool:
    """Say whether ranks are gone without a word while the launcher, which may still say why, is there."""
    cause = look.verdict.cause
    return look.state.gone_at is None and cause is not None and cause.kind == "killed"


def _may_be_of_before(look: Look) -> bool:
    """Say whether the error may be of a start before this one: it stood in the log already, and nothing else tells.

    A young server that has not printed its arguments does so soon; if it does not, the error was its own.
    """
    server, attempt = look.state.server, look.state.attempt
    if server is None or not attempt.faults or attempt.logged or look.state.last_loss is not None:
        return False
    return all(line.by is not None for line in attempt.faults) and look.verdict.now - server.started_at < YOUNG


def impatient(policy: Policy, stall: float | None) -> Policy:
    """Return the policy with a patience of `stall` seconds instead of each phase's own; without one, as it is."""
    if stall is None:
        return policy
    patience = {phase: _with(own, stall) for phase, own in policy.patience.items()}
    return replace(policy, patience=patience, busy_factor=1.0)


def _with(own: Patience, stall: float) -> Patience:
    return replace(own, slow=min(own.slow, stall), stalled=stall, compiling=stall, blind=stall)
