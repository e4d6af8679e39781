"""The verdict as JSON, schema version 1: the one place that fixes names, order and types of what programs read.

What is not known is null. Times are ISO 8601: with the zone where the host's is known, without one in a log's own local
time; where a log prints no year (`--03-02T09:14:29`) or no date (`09:14:29`), neither is made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import msgspec

from bringup.core.events import Phase, Role
from bringup.core.verdict import SCHEMA, Hang, Origin, PhaseView, RankView, StateName, Verdict
from bringup.report.harmless import harmless

if TYPE_CHECKING:
    # Whoever only explains a log needs nothing of what watches hosts.
    from bringup.session.console import Unfinished

Left = Sequence[tuple[str, "Unfinished"]]
"""Hosts, as the operator named them, with what was left in the middle there."""

_NO_YEAR = 2000
"""Year that the stamps' reader puts in where a log prints none (core.stamps)."""
_NO_DATE = 1971
"""Times before this year come from stamps without a date."""


class Rank(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rank; `progress` 0 to 1 of its phase, `source` the channel that told it, `quiet_s` seconds without work.

    Where a phase has several parts (captures: "prefill", "decode", "verify", "extend"), `progress` is that of `part`.
    """

    rank: int
    node: str | None
    labels: dict[str, int]
    pid: int | None
    gpu: int | None
    phase: Phase | None
    role: Role | None
    progress: float | None
    source: Origin
    quiet_s: float | None
    part: str | None = None


class Bar(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Last true position of the bar of the current phase."""

    done: int
    total: int


class PhaseSpan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One phase over all ranks; `seconds` until now where it has not ended."""

    phase: Phase
    role: Role | None
    started: str | None
    seconds: float | None
    ended: bool


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The line that everything else follows from, and what to do."""

    kind: str
    line: str | None
    line_number: int | None
    rank: int | None
    secondary: bool
    advice: str
    node: str | None = None
    """The host that it is of, where a start has several; left out where it has one."""


class Warning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something to look at that is not a failure."""

    kind: str
    detail: str


class TimeLimit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A time limit of the engine or a library that runs now; `left_s` is negative once it should have given up."""

    name: str
    left_s: float
    limit_s: float
    waits_for: list[int]


class LeftInTheMiddle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stop, restart or launch that nobody ended; `can` says what can be done: "launch" goes on, "discard" forgets it.

    `busy` where it is under way elsewhere; `new_pid` is the server that it launched, `alive` those of the old one that
    still run.
    """

    host: str
    action: str
    sentence: str
    busy: bool
    age_s: int
    can: list[str]
    pid: int
    alive: list[int]
    new_pid: int | None


class Contract(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The verdict, schema version 1; the last three are left out where there is nothing to say."""

    schema: int
    state: StateName
    phase: Phase | None
    role: Role | None
    summary: str
    engine: str | None
    version: str | None
    attempt: int
    model: str | None
    draft_model: str | None
    port: int | None
    now: str | None
    stale_s: float | None
    ranks_expected: int | None
    ranks_done: dict[Phase, list[int]]
    ranks: list[Rank]
    bar: Bar | None
    phases: list[PhaseSpan]
    eta_s: tuple[float, float] | None
    failed_ranks: list[int]
    cause: Cause | None
    warnings: list[Warning]
    evidence: list[str]
    accept_len: float | None
    hang: Hang = ""
    """What a stall looks like."""
    countdown: TimeLimit | None = None
    unfinished: list[LeftInTheMiddle] = []


def contract(verdict: Verdict, utc_offset: float | None = None, left: Left = ()) -> Contract:
    """Return the verdict in the shape of its JSON. `utc_offset` (seconds east) is the host's zone where it is known.

    `left` is what was left in the middle on hosts.
    """
    return Contract(
        schema=SCHEMA,
        state=verdict.state,
        phase=verdict.phase,
        role=verdict.role,
        summary=harmless(verdict.summary),
        engine=_text(verdict.engine),
        version=_text(verdict.version),
        attempt=verdict.attempt,
        model=_text(verdict.model),
        draft_model=_text(verdict.draft_model),
        port=verdict.port,
        now=moment(verdict.now, utc_offset),
        stale_s=_rounded(verdict.stale_s),
        ranks_expected=verdict.ranks_expected,
        ranks_done={phase: list(ranks) for phase, ranks in verdict.ranks_done},
        ranks=[_rank(view) for view in verdict.ranks],
        bar=Bar(*verdict.bar) if verdict.bar is not None else None,
        phases=[_phase(view, utc_offset) for view in verdict.phases],
        eta_s=(round(verdict.eta_s[0], 1), round(verdict.eta_s[1], 1)) if verdict.eta_s is not None else None,
        failed_ranks=list(verdict.failed_ranks),
        cause=_cause(verdict),
        warnings=[Warning(advisory.kind, harmless(advisory.detail)) for advisory in verdict.warnings],
        evidence=[harmless(line) for line in verdict.evidence],
        accept_len=_rounded(verdict.accept_len),
        hang=verdict.hang,
        countdown=_countdown(verdict),
        unfinished=[_unfinished(host, each) for host, each in left],
    )


def to_json(verdict: Verdict, utc_offset: float | None = None, left: Left = ()) -> str:
    """Return the verdict as indented JSON with a line end."""
    return msgspec.json.format(msgspec.json.encode(contract(verdict, utc_offset, left)), indent=2).decode() + "\n"


def moment(at: float | None, utc_offset: float | None) -> str | None:
    """Return a time in ISO 8601, None where there is none."""
    if at is None or at <= 0:
        return None
    if utc_offset is not None:
        zone = timezone(timedelta(seconds=round(utc_offset)))
        return datetime.fromtimestamp(at, zone).isoformat(timespec="milliseconds")
    when = datetime.fromtimestamp(at, UTC).replace(tzinfo=None)
    text = when.isoformat(timespec="milliseconds" if when.microsecond >= 500 else "seconds")
    if when.year < _NO_DATE:
        return text.partition("T")[2]
    return text.replace(f"{_NO_YEAR}-", "--", 1) if when.year == _NO_YEAR else text


def _rank(view: RankView) -> Rank:
    return Rank(
        rank=view.rank,
        node=_text(view.node),
        labels=dict(view.labels),
        pid=view.pid,
        gpu=view.gpu,
        phase=view.phase,
        role=view.role,
        progress=_rounded(view.progress),
        source=view.source,
        quiet_s=_rounded(view.quiet_s),
        part=view.part or None,
    )


def _phase(view: PhaseView, utc_offset: float | None) -> PhaseSpan:
    started = moment(view.started, utc_offset)
    seconds = round(view.seconds, 3) if started is not None else None
    return PhaseSpan(view.phase, view.role, started, seconds, view.ended)


def _cause(verdict: Verdict) -> Cause | None:
    cause = verdict.cause
    if cause is None:
        return None
    line, advice = _text(cause.line), harmless(cause.advice)
    return Cause(cause.kind, line, cause.line_number, cause.rank, cause.secondary, advice, _text(cause.node))


def _countdown(verdict: Verdict) -> TimeLimit | None:
    limit = verdict.countdown
    if limit is None:
        return None
    return TimeLimit(limit.name, round(limit.left_s, 1), round(limit.limit_s, 1), list(limit.waits_for))


def _unfinished(host: str, left: Unfinished) -> LeftInTheMiddle:
    return LeftInTheMiddle(
        host=harmless(host),
        action=harmless(left.action),
        sentence=harmless(left.sentence),
        busy=left.busy,
        age_s=left.age,
        can=list(left.can),
        pid=left.server[0],
        alive=[pid for pid, _ in left.alive],
        new_pid=left.new[0] if left.new is not None and left.new_alive else None,
    )


def _text(text: str | None) -> str | None:
    """Text that came from the log, None where it says nothing."""
    return harmless(text) if text else None


def _rounded(number: float | None) -> float | None:
    return round(number, 4) if number is not None else None
