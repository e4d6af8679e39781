"""Does it serve: all channels that can be had must agree, the others are named; and when serving is not healthy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bringup.core.agreement import Channel, agreement, fails, has_log, is_worker, owner, stranger
from bringup.core.checkpoints import draft_fit
from bringup.core.liveness import compilers, compilers_at_work, patience_of
from bringup.core.phases import time_of
from bringup.core.policy import Policy
from bringup.core.ranks import name_of
from bringup.core.state import State
from bringup.core.versions import reaches
from bringup.core.words import names

_NOT_YET = 503
_SETTLED = 5.0
"""Seconds after the ready line for which an answer may still be that of a moment before: a probe takes one or more."""
_QUIET_LOG = 60.0
"""Seconds for which HTTP must have answered well before a log that shows nothing of a launch is done without."""
_SHARED_UNTIL = "0.28"
"""Version of vLLM from which on two servers cannot listen on one port any more (before: SO_REUSEPORT)."""


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
    """Why it is not called ready although it seems so."""
    channels: tuple[Channel, ...] = ()
    """What each channel says to it."""


def serving(state: State, now: float, policy: Policy) -> Serving:
    """Return whether every channel that can be had agrees that this server serves."""
    accept, mismatch = acceptance(state, policy)
    channels = agreement(state, now)
    since = ready_since(state, now)
    foreign = stranger(state)
    conflicts = tuple(("port-conflict", text) for text in (foreign, _shared(state)) if text)
    if since is None:
        return Serving(ready=False, warnings=conflicts, accept_len=accept, channels=channels)
    doubt = foreign or _contradiction(state, since, now, policy)
    if doubt:
        return Serving(ready=False, since=since, warnings=conflicts, accept_len=accept, doubt=doubt, channels=channels)
    troubles = (*_lost(state), *_unhealthy(state, since, now, policy), *mismatch)
    warnings = (*conflicts, *(("draft-mismatch", _with_names(text, state, policy)) for text in mismatch))
    return Serving(ready=True, since=since, troubles=troubles, warnings=warnings, accept_len=accept, channels=channels)


def ready_since(state: State, now: float) -> float | None:
    """Return when the ready line came; where there is no log for it, since when HTTP answers well.

    Then its port must not be another's or nobody's; who holds it may be unknown.
    """
    said = time_of(state.attempt, "ready")
    if state.attempt.engine == "router" and said is None:
        said = time_of(state.attempt, "http-up")
    if said is not None or any(line.vetoes_ready for line in state.attempt.faults):
        return said
    since = state.http_since
    if has_log(state) or is_worker(state) or since is None or owner(state) not in ("own", "unknown"):
        return None
    can_be_read = state.log.lines > 0
    return None if can_be_read and now - since < _QUIET_LOG else since


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


def _with_names(text: str, state: State, policy: Policy) -> str:
    """Say why, where the weight names of the draft tell it."""
    found = draft_fit(state, policy)
    if found is None:
        return f"{text}; check that its weight names are those that the engine's class takes, and its target"
    if found.unknown or found.lacking:
        what = f"{len(found.unknown)} of its {found.total} weight names" if found.unknown else names(found.lacking)
        return f"{text}; {found.model_class} did not load {what}"
    return f"{text}; its weight names fit {found.model_class}, so check that it was trained for this target"


def _shared(state: State) -> str:
    """Another server was told the same port, and this version lets both listen: requests are spread over them."""
    version = state.attempt.version
    if state.attempt.engine != "vllm" or version is None or reaches(version, _SHARED_UNTIL) or state.server is None:
        return ""
    port = state.attempt.port
    rival = next((other for other in state.others if other.port == port and other.engine == "vllm"), None)
    if rival is None or port is None:
        return ""
    return f"PID {rival.pid} is another vLLM server with port {port}: {version} lets both listen, requests go to either"


def _contradiction(state: State, since: float, now: float, policy: Policy) -> str:
    """What a server that is ready does not do, well after its ready line; for how long that may be has a limit."""
    if state.http_ok_at is not None or now - since > patience_of(policy, "serving").stalled:
        return ""
    answer = state.http
    if answer is not None and answer.status == _NOT_YET and answer.at >= since + _SETTLED:
        return f"{answer.path} still answers HTTP {answer.status}"
    if owner(state) == "free" and (state.port_seen_at or 0.0) >= since + _SETTLED:
        return f"nobody listens on port {state.port_number or state.attempt.port}"
    return ""


def _lost(state: State) -> Iterator[str]:
    gone = [rank.rank for rank in state.attempt.ranks if rank.gone_at is not None]
    if gone:
        verb = "has" if len(gone) == 1 else "have"
        who = ", ".join(name_of(state.attempt, rank) for rank in gone[:4])
        yield f"the process of {who} {verb} ended while the launcher still runs"


def _unhealthy(state: State, since: float, now: float, policy: Policy) -> Iterator[str]:
    """Health that keeps failing; not while kernels are compiled, for then the first request takes minutes."""
    limit = patience_of(policy, "serving").stalled
    if owner(state) == "free" and now - max(since, state.port_since or since) > limit:
        yield f"nobody listens on port {state.port_number or state.attempt.port} while the process lives"
        return
    answer, failing = state.http, state.http_bad_since
    if failing is None and answer is not None and state.http_ok_at is None:
        failing = since if fails(answer) else None
    if failing is None or answer is None or compilers_at_work(state, now, policy):
        return
    if now - max(failing, compilers(state, policy).moved_at or failing) > limit:
        what = f"HTTP {answer.status}" if answer.status is not None else answer.error or "no answer"
        yield f"{answer.path} has been failing for {now - failing:.0f} s ({what}) while the process lives"
