"""A recorded start judged again: the same decoder, reduction and judgement as live, on the recording's own clock.

Nothing but the recording is looked at: earlier starts on this machine say nothing about one recorded elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec

from bringup.core.assess import assess
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.hosts.recording import CommandReader, Recording
from bringup.report.contract import contract
from bringup.report.harmless import harmless
from bringup.session.knowledge import Knowledge
from bringup.session.player import Player, past_policy

EVERY = 1.0
"""Seconds of recorded time between two looks at a state to which nothing happens."""
_AMOUNT = re.compile(r"(?<![A-Za-z0-9])[-+]?\d[\d.,]*(?: ?(?:ms|s|min|h|%|[kKMGT]i?B(?:/s)?|W)\b)?(?:[- ]#)*")


@dataclass(frozen=True, slots=True)
class Moment:
    """What was said at a moment of the recording."""

    t: float
    """Seconds since exec."""
    verdict: Verdict
    state: State


def command_reader(knowledge: Knowledge) -> CommandReader:
    """Return what reads the command line of a recorded start with the flags of its engine."""

    def read(name: str, argv: Sequence[str]) -> dict[str, Any]:
        engine = next((known for known in knowledge.engines if known.name == name), None)
        return engine.read_command(argv) if engine is not None else {}

    return read


def moments(recording: Recording, knowledge: Knowledge) -> Iterator[Moment]:
    """Judge a recording at every second of its time, after whatever changed the state, and at its end."""
    policy = past_policy(knowledge)
    player = Player(recording, knowledge)
    wall, tick = recording.wall, EVERY

    def look(t: float) -> Moment:
        return Moment(t, assess(player.state, wall + t, policy), player.state)

    for t, item in chain(recording.items, [(recording.end, b"")]):
        while tick < t:
            yield look(tick)
            tick += EVERY
        if player.take(t, item):
            yield look(t)
    yield look(recording.end)


def changes(played: Iterable[Moment]) -> Iterator[Moment]:
    """Yield the moments at which something else is said than before; the last moment always comes last."""
    said: Hashable = None
    last: Moment | None = None
    for moment in played:
        meaning = meaning_of(moment.verdict)
        if meaning != said:
            yield moment
            said, last = meaning, None
        else:
            last = moment
    if last is not None:
        yield last


def meaning_of(verdict: Verdict) -> Hashable:
    """Return what a verdict says, without what only counts on: ages, times left, shares, the position of a bar."""
    cause = verdict.cause
    return (
        (verdict.state, verdict.phase, verdict.role, verdict.hang, _wording(verdict.summary)),
        (verdict.engine, verdict.version, verdict.attempt, verdict.model, verdict.draft_model, verdict.port),
        (verdict.ranks_expected, verdict.ranks_done, verdict.failed_ranks, verdict.stale_s is not None),
        tuple((view.rank, view.phase, view.role, view.trouble, view.straggler) for view in verdict.ranks),
        tuple((view.phase, view.role, view.part, view.ended) for view in verdict.phases),
        cause and (cause.kind, cause.line, cause.line_number, cause.rank, cause.secondary),
        tuple((advisory.kind, _wording(advisory.detail)) for advisory in verdict.warnings),
        verdict.countdown and verdict.countdown.name,
    )


def _wording(sentence: str) -> str:
    """The words of a sentence without its numbers; those in names, such as TP3, stay."""
    return _AMOUNT.sub("#", sentence)


def to_json(moment: Moment, recording: Recording) -> str:
    """Return a moment as one line of JSON: `t`, and the verdict as `status` and `explain` give it."""
    # The zone of the recorded host is not known, but its clock is.
    zone = 0.0 if recording.wall > 0 else None
    row: dict[str, Any] = {"t": round(moment.t, 3), **msgspec.to_builtins(contract(moment.verdict, zone))}
    return msgspec.json.encode(row).decode() + "\n"


def to_text(moment: Moment) -> str:
    """Return a moment as one line for a person."""
    verdict = moment.verdict
    minutes, seconds = divmod(moment.t, 60)
    return f"{minutes:4.0f}:{seconds:04.1f}  {verdict.state:9} {verdict.phase or '':12} {harmless(verdict.summary)}\n"
