"""Does it serve: all channels that can be had must agree, the others are named; and when serving is not healthy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bringup.core.agreement import (
    SETTLED,
    Channel,
    agreement,
    has_log,
    in_words,
    is_good,
    is_worker,
    owner,
    stranger,
)
from bringup.core.checkpoints import draft_fit
from bringup.core.liveness import compilers, compilers_at_work, judged_at, patience_of
from bringup.core.phases import all_steps, time_of
from bringup.core.policy import Policy
from bringup.core.ranks import name_of
from bringup.core.state import Rank, State
from bringup.core.versions import reaches
from bringup.core.words import names

_WITHOUT_LINE = 120.0
"""Seconds for which HTTP must have answered well before the ready line of a log that is read is done without."""
_PROVING = (("/ready", ""), ("/health_generate", ""), ("/health", "0.4.10"))
"""Paths of SGLang, and from which version on a 200 there means that the warm-up is over (http_server.py)."""
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


def serving(state: State, now: float, policy: Policy, stopped: tuple[Rank, ...] = ()) -> Serving:
    """Return whether every channel that can be had agrees that this server serves; `stopped` are ranks in state T."""
    accept, mismatch = acceptance(state, policy)
    channels = agreement(state, now)
    since = ready_since(state, now)
    foreign = stranger(state)
    conflicts = tuple(("port-conflict", text) for text in (foreign, _shared(state)) if text)
    if since is None:
        return Serving(ready=False, warnings=conflicts, accept_len=accept, channels=channels)
    doubt = foreign or _contradiction(state, since, channels)
    if doubt:
        return Serving(ready=False, since=since, warnings=conflicts, accept_len=accept, doubt=doubt, channels=channels)
    troubles = (*_halted(state, stopped, now, policy), *_lost(state), *_unhealthy(state, since, now, policy), *mismatch)
    warnings = (*conflicts, *(("draft-mismatch", _with_names(text, state, policy)) for text in mismatch))
    return Serving(ready=True, since=since, troubles=troubles, warnings=warnings, accept_len=accept, channels=channels)


def ready_since(state: State, now: float) -> float | None:
    """Return when the ready line came; where there is no log for it, since when HTTP answers well.

    Then its port must not be another's or nobody's; who holds it may be unknown. A log that is read may have lost the
    line: then HTTP must have answered well for minutes, on the port of this server, with a path that proves it.
    """
    said = time_of(state.attempt, "ready")
    if state.attempt.engine == "router" and said is None:
        said = time_of(state.attempt, "http-up")
    if said is not None or any(line.vetoes_ready for line in state.attempt.faults):
        return said
    since = state.http_since
    if is_worker(state) or since is None or owner(state) not in ("own", "unknown"):
        return None
    if has_log(state):
        proven = _asked_a_proof(state) and _all_done(state)
        return since if proven and (state.http_ok_at or since) - since >= _WITHOUT_LINE else None
    can_be_read = state.log.lines > 0
    return None if can_be_read and now - since < _QUIET_LOG else since


def answers_well(state: State) -> bool:
    """Tell whether this server's own port answers well now on a path that does so only once requests are served."""
    return state.http is not None and is_good(state.http) and _asked_a_proof(state)


def _asked_a_proof(state: State) -> bool:
    """Tell whether the newest question was put to this server, on a path where a 200 proves that it serves."""
    answer, attempt = state.http, state.attempt
    if answer is None or owner(state) != "own" or any(name == "http" for name, _ in state.closed):
        return False
    if attempt.engine == "vllm":
        return True
    since = dict(_PROVING).get(answer.path)
    return since is not None and (not since or (attempt.version is not None and reaches(attempt.version, since)))


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


def _contradiction(state: State, since: float, channels: tuple[Channel, ...]) -> str:
    """What speaks against the ready line, asked or seen after it; one that HTTP has confirmed is a ready server's."""
    if state.http_ok_at is not None and state.http_ok_at >= since - SETTLED:
        return ""
    for channel in channels:
        if channel.name == "http" and channel.answer == "no":
            return channel.says
    if owner(state) == "free" and (state.port_seen_at or 0.0) >= since + SETTLED:
        return f"nobody listens on port {state.port_number or state.attempt.port}"
    return ""


def _all_done(state: State) -> bool:
    steps = all_steps(state.attempt)
    return bool(steps) and all(step.complete for step in steps)


def _halted(state: State, stopped: tuple[Rank, ...], now: float, policy: Policy) -> Iterator[str]:
    """Processes that somebody has stopped: they answer nothing until they are let go on."""
    who = [name_of(state.attempt, rank.rank) for rank in stopped]
    since = state.halted_at
    if since is not None and judged_at(state, now, policy) - since >= patience_of(policy, "serving").stopped:
        who.insert(0, "the launcher")
    if who:
        yield f"{names(who)} {'is' if len(who) == 1 else 'are'} stopped (state T)"


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
    if failing is None or answer is None or compilers_at_work(state, now, policy):
        return
    if now - max(failing, compilers(state, policy).moved_at or failing) > limit:
        yield f"{answer.path} has been failing for {now - failing:.0f} s ({in_words(answer)}) while the process lives"
