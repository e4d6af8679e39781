"""Why a start failed or stopped: the first real error, who it came from, and who went without a word.

The order of a failing launch (SGLang, engine.py and scheduler.py): a rank prints its exception, signals its parent,
the parent says so once and kills everything, itself too. What comes after that line is noise, and so are the errors of
ranks that only lost their peer. Where nothing else is left, the culprit is the rank that said nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bringup.core.action import Action
from bringup.core.events import KernelLine
from bringup.core.kernel import cause_kind, explaining_line, rank_of_line, stalling_line
from bringup.core.own_stop import launch_words, own_launch, own_stop, stopped_by
from bringup.core.policy import Policy
from bringup.core.ranks import expected_ranks, name_of
from bringup.core.state import Attempt, EndingLine, FaultLine, Rank, State
from bringup.core.verdict import Cause, StateName

_ENDS = ("child-failed", "sigterm", "sigint", "draining", "shutdown")
"""Endings that say why; the first of them counts. The killing of the tree follows all of them."""
_FAILURES = ("child-failed",)
_SIGNALS = ("sigterm", "sigint")
_SAID = {
    "sigterm": "SIGTERM received",
    "sigint": "SIGINT received",
    "draining": "the server was asked to end and drains",
    "shutdown": "the HTTP server was shut down",
}
_TOGETHER = 0.9
"""Seconds between two disappearances below which a sample cannot tell which came first."""

_HEEDED = 2.0
"""Seconds after the line of a signal for which a server that is asked for its health is not called stopped yet."""
_TEARDOWN = 3.0
"""Seconds in which a launcher that ends follows its ranks: all of them gone at once is its own doing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An end: how it is called, why, and which ranks it came from."""

    state: StateName
    cause: Cause | None
    failed_ranks: tuple[int, ...] = ()
    explained: bool = True
    """A line says why; else the kernel log may know."""
    action: Action | None = None
    """The operator's stop or restart that it comes from."""


def root_line(attempt: Attempt) -> FaultLine | None:
    """Return the error line that everything else follows from, or None without any.

    Among the primary ones before the kill the first counts; one that no rule could name only where there is no other,
    and that a process was killed only where nothing was said before (a launcher kills what its failure leaves over).
    """
    early = [line for line in attempt.faults if not line.after_kill]
    for lines in (
        [line for line in early if line.vetoes_ready],
        [line for line in early if not line.secondary and line.kind not in ("unknown", "killed")],
        [line for line in early if not line.secondary],
        [line for line in early if line.kind != "unknown"],
        early,
        [line for line in attempt.faults if not line.secondary],
        list(attempt.faults),
    ):
        if lines:
            return lines[0]
    return None


def suspect(state: State, policy: Policy) -> Cause | None:
    """Return the line that may explain a stall: an error, one that a rule calls suspect, or the kernel's of a GPU."""
    attempt = state.attempt
    root = root_line(attempt)
    if root is not None:
        return _failed(attempt, root, policy).cause
    line = dict(attempt.facts).get("suspect")
    if line:
        return _cause("comm-init", line, None, None, policy)
    told = stalling_line(state)
    return _by_kernel(told, rank_of_line(state, told), policy) if told is not None else None


def outcome(state: State, policy: Policy) -> Outcome | None:
    """Return how the attempt ended, or None while it has not; where no line says why, the kernel log may."""
    end = _end(state, policy)
    if end is None or end.explained or (line := explaining_line(state)) is None:
        return end
    rank = rank_of_line(state, line)
    return Outcome("failed", _by_kernel(line, rank, policy), (rank.rank,) if rank is not None else end.failed_ranks)


def _end(state: State, policy: Policy) -> Outcome | None:
    attempt = state.attempt
    root = root_line(attempt)
    stop = next((line for line in attempt.endings if line.how in _ENDS and _is_heeded(state, line)), None)
    if (action := own_stop(state, stop, root)) is not None:
        return Outcome("stopped", stopped_by(state, action, stop, policy), action=action)
    if root is not None and not root.secondary and not root.after_kill:
        return _failed(attempt, root, policy)
    lost = lost_ranks(state)
    if stop is not None and stop.how not in _FAILURES and not (lost and _first_gone(state) < stop.at - _TOGETHER):
        return _stopped(stop, policy)
    if state.gone_at is not None and (launched := own_launch(state)) is not None:
        return _unexplained("failed", "unknown", launch_words(launched), policy)
    if lost and _is_over(state):
        return Outcome("failed", _killed(state, lost, policy), lost, explained=False)
    if root is not None and _is_over(state):
        return _failed(attempt, root, policy)
    if state.gone_at is not None:
        return _unexplained("stopped", "killed", "the launcher ended without an error line", policy)
    if _gave_up(attempt):
        return _unexplained("failed", "unknown", "a child process failed without a line of its own", policy)
    return None


def _unexplained(name: StateName, kind: str, text: str, policy: Policy) -> Outcome:
    cause = replace(_cause(kind, text, None, None, policy), channel="processes")
    return Outcome(name, cause, explained=False)


def _by_kernel(line: KernelLine, rank: Rank | None, policy: Policy) -> Cause:
    kind = cause_kind(line)
    advice = policy.advice.get(f"{kind}:host") or _advice(kind, policy)
    number = rank.rank if rank is not None else None
    return Cause(kind, line.text, None, number, secondary=False, advice=advice, channel="kernel")


def _is_heeded(state: State, line: EndingLine) -> bool:
    """Whether a signal ends the server: not known while its line is a moment old and health has not failed since."""
    answer, seen = state.http, state.sampled_at
    if line.how not in _SIGNALS or state.gone_at is not None or answer is None or seen is None:
        return True
    failed = answer.at > line.at and answer.at != state.http_ok_at
    return failed or seen - line.at > _HEEDED


def lost_ranks(state: State) -> tuple[int, ...]:
    """Return the ranks whose process went first, without an error of their own, and not because the server stopped.

    A rank that printed an exception ends by itself; one that is killed prints nothing.
    """
    spoke = {line.rank for line in state.attempt.faults if line.rank is not None and line.kind != "killed"}
    gone = [(rank.gone_at, rank.rank) for rank in state.attempt.ranks if rank.gone_at is not None]
    silent = [(at, rank) for at, rank in gone if rank not in spoke]
    if not silent:
        return ()
    first = min(at for at, _ in silent)
    lost = tuple(sorted(rank for at, rank in silent if at - first < _TOGETHER))
    if state.attempt.faults:
        return lost
    if state.gone_at is not None and state.gone_at - first < _TOGETHER:
        return ()  # it took its ranks along, and it takes seconds to give up the memory of a GPU
    all_at_once = len(lost) == sum(1 for rank in state.attempt.ranks if rank.process is not None)
    until = state.gone_at if state.gone_at is not None else state.sampled_at
    return () if all_at_once and (until is None or until - first < _TEARDOWN) else lost


def _first_gone(state: State) -> float:
    return min((rank.gone_at for rank in state.attempt.ranks if rank.gone_at is not None), default=0.0)


def failed_ranks(attempt: Attempt) -> tuple[int, ...]:
    """Return the ranks with the error that is the cause: of their own where one has it, else passed on by a peer.

    Ranks fail within moments of each other, so some of them report it only after the first has had everything killed.
    """
    root = root_line(attempt)
    alike = [line for line in attempt.faults if root is not None and line.kind == root.kind and line.rank is not None]
    chosen = [line for line in alike if not line.secondary] or alike
    return tuple(sorted({line.rank for line in chosen if line.rank is not None}))


def _is_over(state: State) -> bool:
    """The server has ended or says that it does; or ranks are gone before it ever served."""
    attempt = state.attempt
    if state.gone_at is not None or _gave_up(attempt):
        return True
    served = any(name == "ready" for name, _ in attempt.reached)
    early = [line for line in attempt.faults if not line.after_kill]
    if not served:
        return bool(lost_ranks(state)) or (len(early) > 0 and _all_secondary_ends(attempt, early))
    return False


def _all_secondary_ends(attempt: Attempt, early: list[FaultLine]) -> bool:
    """Without a process list: ranks that raised because a peer was lost do not come back.

    A link that is not up yet (comm-init) may still come up; a process that was killed does not come back.
    """
    if any(line.kind == "killed" for line in early):
        return True
    lost = [line for line in early if line.kind != "comm-init"]
    return all(line.secondary for line in early) and any(line.rank is not None for line in lost)


def _gave_up(attempt: Attempt) -> bool:
    return any(line.how in _FAILURES for line in attempt.endings)


def _failed(attempt: Attempt, root: FaultLine, policy: Policy) -> Outcome:
    ranks = failed_ranks(attempt)
    if root.secondary and not ranks:
        ranks = _silent_rank(attempt)
    rank = root.rank if root.rank is not None else (ranks[0] if len(ranks) == 1 and not root.vetoes_ready else None)
    cause = Cause(
        kind=root.kind,
        line=root.text,
        line_number=root.line or None,
        rank=rank,
        secondary=root.secondary,
        advice=_advice(root.kind, policy, attempt, secondary=root.secondary),
    )
    explained = not root.secondary and root.kind != "killed"
    return Outcome("failed", cause, () if root.vetoes_ready else ranks, explained)


def _silent_rank(attempt: Attempt) -> tuple[int, ...]:
    """The one rank that printed no error while all others did."""
    everyone = set(expected_ranks(attempt) or ())
    spoke = {line.rank for line in attempt.faults if line.rank is not None}
    silent = everyone - spoke
    return tuple(silent) if len(silent) == 1 and len(everyone) > 2 else ()


def _stopped(stop: EndingLine, policy: Policy) -> Outcome:
    text = stop.text or _SAID.get(stop.how, stop.how)
    return Outcome("stopped", _cause("killed", text, stop.line, None, policy))


def _killed(state: State, lost: tuple[int, ...], policy: Policy) -> Cause:
    names = ", ".join(name_of(state.attempt, rank) for rank in lost)
    echo = next((line for line in state.attempt.faults if line.kind == "killed"), None)
    text = echo.text if echo is not None else f"the process of {names} ended without an error line of its own"
    line = echo.line if echo is not None else None
    cause = _cause("killed", text, line, lost[0] if len(lost) == 1 else None, policy)
    return cause if echo is not None else replace(cause, channel="processes")


def _cause(kind: str, text: str, line: int | None, rank: int | None, policy: Policy) -> Cause:
    return Cause(kind, text, line or None, rank, secondary=False, advice=_advice(kind, policy))


def _advice(kind: str, policy: Policy, attempt: Attempt | None = None, *, secondary: bool = False) -> str:
    """The most exact advice there is: for the engine and the phase, for one of them, for the kind alone."""
    if secondary:
        elsewhere = policy.advice.get(f"{kind}:secondary") or policy.advice.get("secondary")
        if elsewhere:
            return elsewhere
    engine = attempt.engine if attempt is not None else None
    phase = _newest_phase(attempt) if attempt is not None else ""
    for name in (f"{kind}:{engine}:{phase}", f"{kind}:{engine}", f"{kind}:{phase}", kind):
        if name in policy.advice:
            return policy.advice[name]
    return policy.advice.get("unknown", "")


def _newest_phase(attempt: Attempt) -> str:
    """The phase that any rank entered last; "serving" from the ready line on."""
    if any(name == "ready" for name, _ in attempt.reached):
        return "serving"
    edges = [(edge.began or 0.0, edge.phase) for rank in attempt.ranks for edge in rank.edges if edge.ended is None]
    return max(edges)[1] if edges else ""
