"""Earlier starts of what is watched: loaded for the estimate once its command is known, and kept when it is over.

The history is a convenience: whatever is wrong with it is said once, as a channel that cannot be had, and nothing else
changes. Its file is only touched in threads.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bringup.core.assess import assess
from bringup.core.defects import failure_of
from bringup.core.earlier import durations
from bringup.core.events import ChannelClosed
from bringup.core.policy import PastStart, Policy
from bringup.core.ranks import has_draft
from bringup.core.state import State
from bringup.core.verdict import PhaseView, Verdict
from bringup.history.records import Ended, PhaseRow, StartKey, StartRow
from bringup.session.clock import HostClock
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.target import Target

if TYPE_CHECKING:
    from bringup.history.store import Store

EVERY = 1.0
"""Seconds between two looks."""
LAST_WORD = 1.0
"""Seconds that the end of a session waits for what is still to be written."""
_AT_ONCE = 20.0
"""Seconds after a launch within which it was seen from its begin: imports alone take longer."""
_OVER: dict[str, Ended] = {
    "ready": "ready", "degraded": "degraded", "failed": "failed", "stopped": "stopped", "standby": "standby"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What was loaded, for which command and without which start."""

    key: StartKey
    identity: str
    policy: Policy


class Starts:
    """The history of one session, or none: `policy` is what the verdict is made with."""

    def __init__(
        self,
        store: Store | None,
        target: Target,
        picture: Picture,
        clock: HostClock,
        logs: Logs,
        policy: Policy,
    ) -> None:
        self._store = store
        self._target = target
        self._picture = picture
        self._clock = clock
        self._logs = logs
        self._base = policy
        self._loaded: _Loaded | None = None
        self._launch: tuple[object, ...] = ()
        self._seen_at = 0.0
        """When the launch that is watched was first seen."""
        self._broken = False
        """The connection was lost while it started: what came later came all at once."""
        self._kept: tuple[object, ...] = ()
        self._said: set[str] = set()

    @property
    def policy(self) -> Policy:
        """The thresholds, with the earlier starts of what is watched where they are known."""
        loaded = self._loaded
        if loaded is None or loaded.key != key_of(self._picture.state, self._target):
            return self._base
        return loaded.policy

    async def run(self) -> None:
        """Load and keep until cancelled; ends at once where there is no history."""
        while self._store is not None:
            await asyncio.sleep(EVERY)
            await self.look()

    async def look(self) -> None:
        """Load what became known, keep what is over; never raises."""
        if self._store is None:
            return
        try:
            await self._look(self._store)
        except Exception as error:  # noqa: BLE001 - a console goes on without its history, and says so
            self._tell(str(failure_of(error)))

    async def finish(self) -> None:
        """Keep what was over in the last moment before the session ends."""
        try:
            async with asyncio.timeout(LAST_WORD):
                await self.look()
        except TimeoutError:
            return  # the disk hangs: leaving matters more

    async def _look(self, store: Store) -> None:
        state, now = self._picture.state, self._clock.now()
        self._notice(state, now)
        key = key_of(state, self._target)
        if key is None:
            return
        identity = identity_of(state)
        if self._loaded is None or (self._loaded.key, self._loaded.identity) != (key, identity):
            # Said before it is loaded, so that a history that cannot be read is not asked again every second.
            self._loaded = _Loaded(key, identity, self._base)
            earlier = await asyncio.to_thread(store.earlier, key, but=identity)
            self._loaded = _Loaded(key, identity, _with(self._base, earlier))
            self._tell(store.notice)
        if not self._logs.is_level:
            return  # What is known so far may be of an earlier launch in the same log.
        verdict = assess(state, now, self._base)
        start = self._start(state, verdict, key)
        mark = (self._launch, start.outcome, start.cause, len(start.phases)) if start is not None else ()
        if start is not None and mark != self._kept:
            self._kept = mark
            await asyncio.to_thread(store.record, start)
            self._tell(store.notice)

    def _notice(self, state: State, now: float) -> None:
        """Note since when this launch is watched, and whether without a break."""
        server = state.server
        launch = (state.attempt.number, None if server is None else (server.pid, server.start))
        if launch != self._launch:
            self._launch, self._seen_at, self._broken = launch, now, False
        if state.link.status != "up":
            self._broken = True

    def _start(self, state: State, verdict: Verdict, key: StartKey) -> StartRow | None:
        """Return what is kept of a start that is over, None while it is not."""
        began = verdict.since
        if verdict.state not in _OVER or not began:
            return None
        ready = next((view.started for view in verdict.phases if view.phase == "serving"), None)
        phases = [view for view in verdict.phases if view.phase != "serving"]
        last = max((view.started + view.seconds for view in phases), default=began)
        until = ready if ready is not None else last
        outcome = _OVER[verdict.state]
        if ready is not None and outcome not in ("ready", "degraded"):
            outcome = "ready"  # It served; what became of it later is no longer the start.
        failed = verdict.cause is not None and outcome in ("failed", "stopped")
        return StartRow(
            key=key,
            target=self._target.name,
            identity=identity_of(state),
            began_at=began,
            outcome=outcome,
            seconds=max(0.0, until - began),
            version=verdict.version or "",
            cause=verdict.cause.kind if verdict.cause is not None and failed else "",
            whole=self._is_whole(state, began, phases),
            phases=tuple(_row(view, began) for view in phases if view.started > 0),
        )

    def _is_whole(self, state: State, began: float, phases: list[PhaseView]) -> bool:
        """Tell whether all of it was seen: live from its begin, or in a log whose lines carry their own times."""
        launched = state.attempt.launched_at
        dated = state.attempt.logged and launched is not None and began - 2.0 <= launched < self._seen_at - 1.0
        live = self._seen_at - began <= _AT_ONCE and not self._broken
        return (live or dated) and all(view.started > 0 for view in phases)

    def _tell(self, sentence: str) -> None:
        """Say once what is wrong with the history."""
        if sentence and sentence not in self._said:
            self._said.add(sentence)
            self._picture.apply([ChannelClosed(at=self._clock.now(), channel="history", why=sentence)])


def key_of(state: State, target: Target) -> StartKey | None:
    """Return which earlier starts are comparable; None while it is not known what is started."""
    attempt = state.attempt
    if not attempt.launched or not attempt.engine or not attempt.model or attempt.engine == "router":
        return None
    draft = (attempt.draft_model or attempt.algorithm) if has_draft(attempt) else ""
    return StartKey(
        host=state.node or target.name,
        engine=attempt.engine,
        model=attempt.model,
        draft=draft,
        tp=attempt.tp,
        pp=attempt.pp,
        dp=attempt.dp,
        ep=attempt.ep,
        nnodes=attempt.nnodes,
    )


def identity_of(state: State) -> str:
    """Return what proves two consoles to watch the same start; empty where there is only a log."""
    server = state.server
    return f"{server.pid}:{server.start}" if server is not None else ""


def _with(policy: Policy, earlier: tuple[PastStart, ...]) -> Policy:
    return replace(policy, history=durations(earlier), earlier=earlier)


def _row(view: PhaseView, began: float) -> PhaseRow:
    return PhaseRow(
        view.phase,
        view.role or "",
        view.part,
        max(0.0, view.started - began),
        view.seconds,
        view.ended,
        view.ranks_done,
    )
