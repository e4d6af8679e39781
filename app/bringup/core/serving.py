"""Does it serve: the ready line and everything that must not contradict it; and when serving is not healthy."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.liveness import compilers_at_work, patience_of
from bringup.core.phases import time_of
from bringup.core.policy import Policy
from bringup.core.ranks import name_of
from bringup.core.state import State

_NOT_YET = 503
_SETTLED = 5.0
"""Seconds after the ready line for which an answer may still be that of a moment before: a probe takes one or more."""
_NO_LOG = ("null", "missing", "denied", "terminal")


@dataclass(frozen=True, slots=True)
class Serving:
    """Whether the server serves, and what is wrong with it if it does."""

    ready: bool
    since: float | None = None
    troubles: tuple[str, ...] = ()
    """Sentences; a server that serves with one of these is degraded."""
    warnings: tuple[tuple[str, str], ...] = ()
    accept_len: float | None = None
    doubt: str = ""
    """Why it is not called ready although the ready line came."""


def serving(state: State, now: float, policy: Policy) -> Serving:
    """Return whether every channel that can be had agrees that this server serves."""
    accept, mismatch = acceptance(state, policy)
    since = ready_since(state)
    stranger = foreign_owner(state)
    if since is None:
        return Serving(ready=False, warnings=stranger, accept_len=accept)
    doubt = stranger[0][1] if stranger else _contradiction(state, since, now, policy)
    if doubt:
        return Serving(ready=False, since=since, warnings=stranger, accept_len=accept, doubt=doubt)
    troubles = [*_lost(state), *_unhealthy(state, now, policy), *mismatch]
    warnings = tuple(("draft-mismatch", text) for text in mismatch)
    return Serving(ready=True, since=since, troubles=tuple(troubles), warnings=warnings, accept_len=accept)


def ready_since(state: State) -> float | None:
    """Return when the ready line came; without any log, when HTTP first answered well on a port of this tree."""
    said = time_of(state.attempt, "ready")
    if state.attempt.engine == "router" and said is None:
        said = time_of(state.attempt, "http-up")
    if said is not None or any(line.vetoes_ready for line in state.attempt.faults):
        return said
    without_log = state.log.kind in _NO_LOG or any(channel == "log" for channel, _ in state.closed)
    if without_log and state.http_ok_at is not None and _owns_port(state) is True:
        return state.http_ok_at
    return None


def foreign_owner(state: State) -> tuple[tuple[str, str], ...]:
    """Return a warning where another process listens on the server's port."""
    if _owns_port(state) is not False:
        return ()
    who = state.port_title or f"process {state.port_pid}"
    return (("port-conflict", f"Port {state.attempt.port or '?'} belongs to another process: {who[:120]}"),)


def acceptance(state: State, policy: Policy) -> tuple[float | None, tuple[str, ...]]:
    """Return the newest accept length, and a sentence where it stayed under the floor: the draft is never right."""
    lens = state.attempt.accept_lens
    if not lens:
        return None, ()
    last = lens[-policy.accept_lines :]
    if len(last) < policy.accept_lines or any(value >= policy.accept_floor for value in last):
        return lens[-1], ()
    text = (
        f"the draft model is hardly ever accepted: accept length {lens[-1]:.2f} over the last {len(last)} decode lines"
    )
    return lens[-1], (text,)


def _contradiction(state: State, since: float, now: float, policy: Policy) -> str:
    """A server that says 503 well after its own ready line is not ready yet; for how long that may be has a limit."""
    answer = state.http
    if answer is None or answer.status != _NOT_YET or state.http_ok_at is not None or answer.at < since + _SETTLED:
        return ""
    if now - since > patience_of(policy, "serving").stalled:
        return ""
    return f"{answer.path} still answers HTTP {answer.status}"


def _owns_port(state: State) -> bool | None:
    """Whether the listener on the port is of this server's tree; None where that cannot be told."""
    if not state.port_pid or state.sampled_at is None:
        return None
    tree = {process.pid for process in state.processes}
    if state.server is not None:
        tree.add(state.server.pid)
    return state.port_pid in tree


def _lost(state: State) -> tuple[str, ...]:
    gone = [rank.rank for rank in state.attempt.ranks if rank.gone_at is not None]
    if not gone:
        return ()
    names = ", ".join(name_of(state.attempt, rank) for rank in gone[:4])
    verb = "has" if len(gone) == 1 else "have"
    return (f"the process of {names} {verb} ended while the launcher still runs",)


def _unhealthy(state: State, now: float, policy: Policy) -> tuple[str, ...]:
    """Health that keeps failing; not while kernels are compiled, for then the first request takes minutes."""
    answer, since = state.http, state.http_bad_since
    if since is None and answer is not None and answer.status == _NOT_YET and state.http_ok_at is None:
        since = ready_since(state)
    if since is None or answer is None or compilers_at_work(state, now):
        return ()
    compiled = state.compilers.moved_at or since
    if now - max(since, compiled) <= patience_of(policy, "serving").stalled:
        return ()
    what = f"HTTP {answer.status}" if answer.status is not None else answer.error or "no answer"
    return (f"{answer.path} has been failing for {now - since:.0f} s ({what}) while the process lives",)
