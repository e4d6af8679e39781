"""Accounts made from what there is: a log, a recording, or a host that is watched now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bringup.core.assess import assess
from bringup.core.errors import UsageError
from bringup.core.policy import Policy
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.hosts.logfile import LogFile
from bringup.hosts.recording import Recording
from bringup.recordings.encoder import LogPiece
from bringup.report.account import Account, Tail, among, around, last_of
from bringup.report.explanation import explain
from bringup.report.replaying import Moment, moments
from bringup.session.knowledge import Knowledge
from bringup.session.series import Point, Series


class _Tailed(LogFile):
    """A log of which the last lines are kept while somebody else reads it."""

    def __init__(self, log: LogFile, tail: Tail) -> None:
        self.name = log.name
        self.trouble = log.trouble
        self._log = log
        self._tail = tail

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the log."""
        for chunk in self._log.chunks():
            self._tail.feed(chunk)
            yield chunk
        self.trouble = self._log.trouble


class _Sampler:
    """Samples a log's own time, in which minutes can lie between two lines: what was so before them counts, too."""

    def __init__(self, policy: Policy) -> None:
        self.series = Series()
        self._policy = policy
        self._before: tuple[State, float] | None = None

    def see(self, state: State, at: float) -> None:
        """Take the state after an event of the log."""
        if self.series.is_due(at):
            if self._before is not None:
                then, when = self._before
                self.series.add(then, assess(then, when, self._policy), last=True)
            self.series.add(state, assess(state, at, self._policy))
        self._before = (state, at)


def of_log(log: LogFile, knowledge: Knowledge) -> Account:
    """Return the account of a log, over the log's own time.

    Raises UsageError where nothing of it could be read.
    """
    sampler, tail = _Sampler(knowledge.policy), Tail()
    explained = explain(_Tailed(log, tail), knowledge, watch=sampler.see)
    sampler.series.add(explained.state, explained.verdict, last=True)
    reading = explained.reading
    if reading.trouble and not reading.size:
        raise UsageError(reading.trouble, "Nothing of it could be read.")
    return Account(
        name=reading.name,
        kind="log",
        verdict=explained.verdict,
        state=explained.state,
        points=sampler.series.points,
        excerpt=explained.excerpt,
        tail=tail.lines(),
        reading=reading,
        trouble=reading.trouble,
    )


def of_recording(recording: Recording, knowledge: Knowledge, name: str) -> Account:
    """Return the account of a recorded start, over the time of the recording."""
    series = Series()
    last: Moment | None = None
    for last in moments(recording, knowledge):
        series.add(last.state, last.verdict)
    assert last is not None, "a recording has an end"
    cause = last.verdict.cause
    number = cause.line_number if cause is not None and cause.channel == "log" else None
    excerpt, tail = around(_log_of(recording), number)
    return Account(
        name=recording.header.host or last.state.node or name,
        kind="recording",
        verdict=last.verdict,
        state=last.state,
        points=series.points,
        excerpt=excerpt,
        tail=tail,
        zone=last.state.utc_offset if recording.wall > 0 else None,
        trouble=recording.trouble,
    )


def of_host(
    name: str, state: State, verdict: Verdict, points: Sequence[Point] = (), lines: Sequence[bytes] = ()
) -> Account:
    """Return the account of a host that is watched: its state now, what was sampled, and the newest log lines."""
    cause = verdict.cause
    told = cause is not None and cause.channel == "log"
    excerpt = among(lines, cause.line, cause.line_number) if cause is not None and told else ()
    return Account(
        name=name,
        kind="host",
        verdict=verdict,
        state=state,
        points=tuple(points),
        excerpt=excerpt,
        tail=last_of(lines),
        zone=state.utc_offset,
    )


def of_hosts(state: State, verdict: Verdict, nodes: Sequence[Account], points: Sequence[Point] = ()) -> Account:
    """Return the account of one start on several hosts: `verdict` is about all of them, `state` of one that decides."""
    numbered = tuple(replace(node, part=number) for number, node in enumerate(nodes, 1))
    cause = verdict.cause
    guilty = next((node for node in numbered if cause is not None and node.name == cause.node), None)
    return Account(
        name=", ".join(node.name for node in numbered),
        kind="host",
        verdict=verdict,
        state=state,
        # What GPUs hold is told of each host: their numbers say nothing without it.
        points=tuple(replace(point, gpus=()) for point in points),
        excerpt=guilty.excerpt if guilty is not None else (),
        zone=state.utc_offset,
        nodes=numbered,
    )


def _log_of(recording: Recording) -> Iterator[bytes]:
    for _, item in recording.items:
        if isinstance(item, bytes):
            yield item
        elif isinstance(item, LogPiece):
            yield item.data
