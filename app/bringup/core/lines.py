"""Log lines that a rule knew, other than launches and bars: what each changes in the attempt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bringup.core import edges
from bringup.core.events import (
    Compiling,
    Decoded,
    Ending,
    Fact,
    Fault,
    Labels,
    LogEvent,
    PhaseBegan,
    PhaseEnded,
    Reached,
    Warned,
)
from bringup.core.rank_memory import weigh
from bringup.core.ranks import MOST_RANKS, find, first_local_rank, put, rank_of
from bringup.core.settling import catch_up, settle
from bringup.core.state import Attempt, Edge, EndingLine, FaultLine, Rank
from bringup.core.whose import has_arrived

FEW = 24
"""Kept at each end of a list that a log can make as long as it likes."""
ACCEPT_LINES = 32
KILL_NOISE = ("child-failed", "sigterm", "sigint", "shutdown")
"""Endings after which an error is a consequence; the killing of the tree alone is announced before the cause, too."""
_OF_MAIN: tuple[str, ...] = (
    *("port-in-use", "bad-path", "wrapper", "import", "config", "auth", "download"),
    *("disk-full", "warmup", "timeout", "killed"),
)
"""Causes that the main process finds: without a label, such a line says nothing about a rank."""
_RANK_IN_TEXT = re.compile(r"\bRank (\d{1,5})\b")


def heard(attempt: Attempt, event: LogEvent) -> Attempt:
    """Return the attempt with the line's time noted, for the log and for the rank that wrote it."""
    own = event.labels if all(name != "rank" for name, _ in event.labels) else ()
    number = rank_of(attempt, own) if own else None
    ranks = _listening(attempt, number, own, event.at, event.origin)
    if ranks is attempt.ranks and attempt.last_line_at == event.at:
        return attempt
    return replace(attempt, ranks=ranks, last_line_at=event.at)


def listen(attempt: Attempt, number: int | None, labels: Labels, at: float, origin: str = "") -> Attempt:
    """Return the attempt with a rank heard at a time; a rank that was not known becomes known.

    Its place is where the transport says that its first line came from.
    """
    ranks = _listening(attempt, number, labels, at, origin)
    return attempt if ranks is attempt.ranks else replace(attempt, ranks=ranks)


def _listening(attempt: Attempt, number: int | None, labels: Labels, at: float, origin: str) -> tuple[Rank, ...]:
    if number is None:
        return attempt.ranks
    known = find(attempt, number)
    if known is None and len(attempt.ranks) >= MOST_RANKS:
        return attempt.ranks
    own = tuple(label for label in labels if label[0] != "rank")
    if known is not None and known.heard_at == at and (known.labels or not own):
        return attempt.ranks
    rank = known or Rank(number)
    return put(attempt.ranks, replace(rank, labels=rank.labels or own, node=rank.node or origin, heard_at=at))


def phase_edge(attempt: Attempt, event: PhaseBegan | PhaseEnded) -> Attempt:
    """Return the attempt after a phase began or ended, on the rank that says so or in the main process."""
    if isinstance(event, PhaseEnded) and event.gib is not None:
        attempt = weigh(attempt, event)
    if event.everyone:
        return settle(_own_edge(attempt, event), event)
    return _own_edge(attempt, event)


def _own_edge(attempt: Attempt, event: PhaseBegan | PhaseEnded) -> Attempt:
    number = rank_of(attempt, event.labels)
    if number is None:
        return replace(attempt, main=_edge(attempt, attempt.main, event))
    attempt = listen(attempt, number, event.labels, event.at, event.origin)
    rank = find(attempt, number)
    if rank is None:
        return attempt
    after = _edge(attempt, rank.edges, event)
    if after is rank.edges:
        return attempt
    return catch_up(replace(attempt, ranks=put(attempt.ranks, replace(rank, edges=after))), number, event.at)


def _edge(attempt: Attempt, old: tuple[Edge, ...], event: PhaseBegan | PhaseEnded) -> tuple[Edge, ...]:
    return edges.begin(attempt, old, event) if isinstance(event, PhaseBegan) else edges.end(attempt, old, event)


def fact(attempt: Attempt, event: Fact) -> Attempt:
    """Return the attempt with a fact noted; the newest value of a name counts."""
    if (event.name, event.value) in attempt.facts:
        return attempt
    facts = (*(known for known in attempt.facts if known[0] != event.name), (event.name, event.value))[-2 * FEW :]
    attempt = replace(attempt, facts=facts)
    if event.name == "version":
        return replace(attempt, version=event.value)
    if event.name == "engine" and (attempt.engine is None or not attempt.logged):
        return replace(attempt, engine=event.value)
    if event.name == "model" and attempt.model is None:
        return replace(attempt, model=event.value)
    if event.name == "port" and attempt.port is None and event.value.isdecimal():
        return replace(attempt, port=int(event.value))
    return attempt


def reached(attempt: Attempt, event: Reached) -> Attempt:
    """Return the attempt with a milestone of the main process; the first time counts.

    Where several HTTP servers were asked for, it is ready with the last of them.
    """
    if event.everyone:
        attempt = settle(attempt, event)
    if event.free is not None and (attempt.free_gb is None or event.free < attempt.free_gb):
        attempt = replace(attempt, free_gb=event.free)
    if event.milestone == "ready" and attempt.up + 1 < attempt.servers:
        return replace(attempt, up=attempt.up + 1)
    if any(name == event.milestone for name, _ in attempt.reached) or len(attempt.reached) >= FEW:
        return attempt
    return replace(attempt, reached=(*attempt.reached, (event.milestone, event.at)))


def compiling(attempt: Attempt, event: Compiling) -> Attempt:
    """Return the attempt with a compile announced or ended."""
    others = tuple(entry for entry in attempt.compiling if entry[0] != event.what)
    if event.ended:
        return attempt if len(others) == len(attempt.compiling) else replace(attempt, compiling=others)
    if len(others) < len(attempt.compiling) or len(others) >= FEW:
        return attempt
    return replace(attempt, compiling=(*others, (event.what, event.at)))


def decoded(attempt: Attempt, events: Sequence[Decoded]) -> Attempt:
    """Return the attempt with the accept lengths of decode lines under traffic; the warm-up is none."""
    lens = [event.accept_len for event in events if event.accept_len is not None and event.running != 0]
    if not lens or _warms_up(attempt):
        return attempt
    return replace(attempt, accept_lens=(*attempt.accept_lens, *lens)[-ACCEPT_LINES:])


def _warms_up(attempt: Attempt) -> bool:
    """HTTP is up and the ready line has not come; a log that was found late shows neither."""
    names = [name for name, _ in attempt.reached]
    return "http-up" in names and "ready" not in names


def fault(attempt: Attempt, event: Fault) -> Attempt:
    """Return the attempt with an error line; of very many the first and the newest are kept."""
    line = FaultLine(
        at=event.at,
        kind=event.kind,
        text=event.text,
        line=event.line,
        rank=_rank_of_fault(attempt, event),
        origin=event.origin,
        secondary=event.secondary,
        vetoes_ready=event.vetoes_ready,
        after_kill=any(ending.how in KILL_NOISE for ending in attempt.endings),
        arrived=has_arrived(event),
    )
    kept = attempt.faults if len(attempt.faults) < 2 * FEW else (*attempt.faults[:FEW], *attempt.faults[FEW + 1 :])
    return replace(attempt, faults=(*kept, line))


def _rank_of_fault(attempt: Attempt, event: Fault) -> int | None:
    """The rank that failed: the one named in the text of the main process, else the one that wrote the line."""
    if event.kind == "killed" and (named := _RANK_IN_TEXT.search(event.text)):
        return first_local_rank(attempt) + int(named[1])
    if event.labels:
        return rank_of(attempt, event.labels)
    if event.kind in _OF_MAIN or not any(rank.edges for rank in attempt.ranks):
        return None
    return rank_of(attempt, ())


def ending(attempt: Attempt, event: Ending) -> Attempt:
    """Return the attempt with a line in which the server says that it ends."""
    line = EndingLine(
        at=event.at,
        how=event.how,
        line=event.line,
        remaining=event.remaining,
        text=event.text,
        arrived=has_arrived(event),
    )
    last = attempt.endings[-1] if attempt.endings else None
    if last is not None and last.how == event.how:
        kept = replace(last, remaining=event.remaining if event.remaining is not None else last.remaining)
        return attempt if kept == last else replace(attempt, endings=(*attempt.endings[:-1], kept))
    return attempt if len(attempt.endings) >= FEW else replace(attempt, endings=(*attempt.endings, line))


def warned(attempt: Attempt, event: Warned) -> Attempt:
    """Return the attempt with a warning; the same one is kept once, and few of one kind."""
    if event.kind == "watchdog" and any(ending.how in KILL_NOISE for ending in attempt.endings):
        return attempt  # A server that goes down has stacks dumped, too.
    kind = "draft-mismatch" if event.kind == "unmatched-weights" and _loads_draft(attempt, event) else event.kind
    entry = (kind, event.detail)
    alike = sum(1 for known, _ in attempt.warnings if known == kind)
    if entry in attempt.warnings or alike >= FEW or len(attempt.warnings) >= 4 * FEW:
        return attempt
    return replace(attempt, warnings=(*attempt.warnings, entry))


def _loads_draft(attempt: Attempt, event: Warned) -> bool:
    """The rank that wrote the line is loading the weights of the draft."""
    number = rank_of(attempt, event.labels)
    rank = find(attempt, number) if number is not None else None
    load = edges.open_edge(rank.edges, "weights") if rank is not None else None
    return load is not None and load.role == "draft"
