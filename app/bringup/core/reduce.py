"""Events go in, the next state comes out: the only way in which a state is made.

No clock and no judgement: what the facts mean at a moment is said by `assess`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bringup.core import attempts, bars, channels, lines, outdated, samples
from bringup.core.events import (
    ActionStep,
    Bar,
    ChannelClosed,
    ChannelOpened,
    CheckpointSeen,
    Compiling,
    Decoded,
    Ending,
    Event,
    Fact,
    Fault,
    GpusSeen,
    HostSeen,
    HttpAnswered,
    KernelSaid,
    Launch,
    LinesRead,
    LinkChanged,
    LogBegan,
    LogEvent,
    LogMoved,
    LogOpened,
    LogRoom,
    LogWritten,
    PhaseBegan,
    PhaseEnded,
    PortSeen,
    ProcessesSeen,
    Reached,
    Searching,
    ServerFound,
    ServerGone,
    VersionSeen,
    Warned,
)
from bringup.core.ranks import has_replicas
from bringup.core.reaches import remember
from bringup.core.replicas import introduce, placed
from bringup.core.shards import sort_again
from bringup.core.state import Attempt, State


def reduce(state: State, event: Event) -> State:
    """Return the state after an event; the same object where nothing changed."""
    after = _apply(state, event)
    return after if after is state else remember(after, event)


def _apply(state: State, event: Event) -> State:
    match event:
        case Launch():
            return attempts.launch(state, event)
        case LogEvent():
            return _log_event(state, event)
        case LinesRead() | LogOpened() | LogMoved() | LogWritten() | LogBegan() | LogRoom():
            return _log_channel(state, event)
        case ServerFound() | ServerGone() | Searching():
            return _server(state, event)
        case ProcessesSeen() | GpusSeen() | CheckpointSeen():
            return _sample(state, event)
        case _:
            return _surroundings(state, event)


def _sample(state: State, event: ProcessesSeen | GpusSeen | CheckpointSeen) -> State:
    match event:
        case ProcessesSeen():
            return samples.processes_seen(state, event)
        case GpusSeen():
            return channels.gpus_seen(state, event)
        case CheckpointSeen():
            return sort_again(channels.checkpoint_seen(state, event))


def _log_event(state: State, event: LogEvent) -> State:
    if event.pid is not None and has_replicas(state.attempt):
        state = replace(state, attempt=introduce(state, event))
        event = placed(state.attempt, event)
    attempt = _line(lines.heard(state.attempt, event), event)
    if attempt.began_at is None and event.at > 0:
        attempt = replace(attempt, began_at=event.at)
    return state if attempt is state.attempt else replace(state, attempt=attempt)


def decode_lines(state: State, events: Sequence[Decoded]) -> State:
    """Return the state after decode lines that follow each other, as after each of them by itself."""
    for event in events:
        heard = lines.heard(state.attempt, event)
        state = state if heard is state.attempt else _log_event(state, replace(event, accept_len=None))
    attempt = lines.decoded(state.attempt, events)
    return state if attempt is state.attempt else replace(state, attempt=attempt)


def _line(attempt: Attempt, event: LogEvent) -> Attempt:
    match event:
        case PhaseBegan() | PhaseEnded():
            return lines.phase_edge(attempt, event)
        case Bar():
            return bars.draw(attempt, event)
        case Fact():
            return lines.fact(attempt, event)
        case Reached():
            return lines.reached(attempt, event)
        case Compiling():
            return lines.compiling(attempt, event)
        case Decoded():
            return lines.decoded(attempt, (event,))
        case Fault():
            return lines.fault(attempt, event)
        case Ending():
            return lines.ending(attempt, event)
        case Warned():
            return lines.warned(attempt, event)
        case _:
            return attempt


def _log_channel(state: State, event: LinesRead | LogOpened | LogMoved | LogWritten | LogBegan | LogRoom) -> State:
    match event:
        case LinesRead():
            return channels.lines_read(state, event)
        case LogOpened():
            return channels.log_opened(state, event)
        case LogMoved():
            return channels.log_moved(state, event)
        case LogWritten():
            return outdated.log_written(channels.log_written(state, event), event)
        case LogBegan():
            return outdated.log_began(state, event)
        case LogRoom():
            return channels.log_room(state, event)


def _server(state: State, event: ServerFound | ServerGone | Searching) -> State:
    match event:
        case ServerFound():
            return attempts.server_found(state, event)
        case ServerGone():
            return attempts.server_gone(state, event)
        case Searching():
            return attempts.searching(state, event)


def _surroundings(state: State, event: Event) -> State:
    match event:
        case HttpAnswered():
            return channels.http_answered(state, event)
        case PortSeen():
            return channels.port_seen(state, event)
        case HostSeen():
            return channels.host_seen(state, event)
        case VersionSeen():
            return attempts.version_seen(state, event)
        case KernelSaid():
            return channels.kernel_said(state, event)
        case ChannelClosed():
            return channels.channel_closed(state, event)
        case ChannelOpened():
            return channels.channel_opened(state, event)
        case LinkChanged():
            return channels.link_changed(state, event)
        case ActionStep():
            return channels.action_step(state, event)
        case _:
            return state
