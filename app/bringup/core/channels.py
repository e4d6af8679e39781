"""The channels of evidence themselves: how fresh the log is, what the GPUs hold, what HTTP and the port answer."""

from __future__ import annotations

from dataclasses import replace

from bringup.core import bars, gpu_loads, lines, rank_memory
from bringup.core.events import (
    ActionStep,
    ChannelClosed,
    ChannelOpened,
    CheckpointSeen,
    GpusSeen,
    HostSeen,
    HttpAnswered,
    KernelSaid,
    LinesRead,
    LinkChanged,
    LogMoved,
    LogOpened,
    LogRoom,
    LogWritten,
    PortSeen,
    Warned,
)
from bringup.core.outdated import begun
from bringup.core.own_stop import had_gone
from bringup.core.ranks import find, rank_of
from bringup.core.state import Action, Link, LogChannel, State
from bringup.core.whose import told_skew

HISTORY = 120
"""Samples of GPU memory kept for a sparkline."""
_MOST_MOVES = 20
_MOST_LOGS = 20
_ROUNDED = 5.0
"""Seconds by which two tellings may differ in when the same action was begun."""
_MOST_KERNEL_LINES = 40
_GAPS = {
    "missing": "Lines may be missing: the log was rotated or truncated, and what was written to it after byte {read:,} "
    "was not found",
    "between": "Lines may be missing: the log was rotated more than once, and not all of what came between was found",
}


def host_seen(state: State, event: HostSeen) -> State:
    """Return the state with what kind of machine answers."""
    return replace(state, node=event.node, system=event.system, user=event.user, utc_offset=event.utc_offset)


def log_opened(state: State, event: LogOpened) -> State:
    """Return the state with the log that is being read; the launches in another one are counted by themselves."""
    same = state.log.path == event.path
    if is_another(state.log, event):
        state = _counted_anew(state, event.path)
    log = replace(state.log, is_former=False) if same else LogChannel()
    return replace(state, log=replace(log, path=event.path, kind=event.kind, note=event.note))


def is_another(log: LogChannel, event: LogOpened) -> bool:
    """Tell whether a log that is opened takes the place of the one before: its server writes elsewhere."""
    return log.is_former and log.path != event.path and not event.renamed


def _counted_anew(state: State, path: str) -> State:
    """Return the state at the begin of another log: nothing that was read before is of the process that writes it."""
    old, numbers = state.attempt, dict(state.numbers)
    own = begun(state, state.server).attempt if state.server is not None else old
    attempt = replace(own, number=numbers.pop(path, 1))
    numbers[state.log.path] = old.number + int(old.logged)
    return replace(state, attempt=attempt, earlier=(), numbers=tuple(numbers.items())[-_MOST_LOGS:])


def log_moved(state: State, event: LogMoved) -> State:
    """Return the state after the log was rotated, truncated or replaced: its size starts again, the attempt goes on."""
    moves = (*state.log.moves, (event.at, event.how))[-_MOST_MOVES:]
    size = 0 if event.how in ("rotated", "truncated", "replaced") else state.log.size + event.size
    attempt = state.attempt
    if event.rest in _GAPS:
        detail = _GAPS[event.rest].format(read=event.read)
        attempt = lines.warned(attempt, Warned(at=event.at, kind="log-gap", detail=detail))
    return replace(state, log=replace(state.log, moves=moves, size=size), attempt=attempt)


def log_written(state: State, event: LogWritten) -> State:
    """Return the state with when the log last grew: the host's word for it counts more than the stamps of the lines.

    They may be in another zone than the host's, of another clock, or missing. A bar has none: this tells its time where
    it is the last that was written.
    """
    attempt = bars.date(state.attempt, event.at) if state.log.ends_in_bar else state.attempt
    return replace(state, log=replace(state.log, grew_at=event.at), attempt=attempt)


def log_room(state: State, event: LogRoom) -> State:
    """Return the state with whether the disk of the log is full."""
    return state if event.full == state.log.full else replace(state, log=replace(state.log, full=event.full))


def lines_read(state: State, event: LinesRead) -> State:
    """Return the state after a chunk of the log, whether or not its lines meant something."""
    log = replace(
        state.log,
        size=state.log.size + event.size,
        lines=state.log.lines + event.lines,
        unknown=state.log.unknown + event.unknown,
        ends_in_bar=event.ends_in_bar,
        skew=state.log.skew if (skew := told_skew(event)) is None else skew,
        # Bytes that were there before and carry no time of their own do not tell when they came.
        grew_at=event.at if event.size and event.at > 0 else state.log.grew_at,
    )
    attempt = state.attempt
    for labels in event.heard:
        number = rank_of(attempt, labels)
        if number is not None and find(attempt, number) is not None:
            attempt = lines.listen(attempt, number, labels, event.at)
    if attempt.began_at is None and event.lines and event.at > 0:
        attempt = replace(attempt, began_at=event.at)
    return replace(state, log=log, attempt=attempt)


def gpus_seen(state: State, event: GpusSeen) -> State:
    """Return the state with a new answer of nvidia-smi; a rank's GPU is the one that its process holds memory on."""
    loads = gpu_loads.look(state.gpu, event)
    past = dict(state.gpu.history)
    history = tuple(
        (gpu.index, (*past.get(gpu.index, ()), gpu.used)[-HISTORY:]) for gpu in event.gpus if gpu.used is not None
    )
    channel = replace(
        state.gpu,
        loads=loads,
        gpus=event.gpus,
        apps=event.apps,
        seen_at=event.at,
        history=history,
        moved_at=max((load.moved_at for load in loads if load.moved_at is not None), default=state.gpu.moved_at),
    )
    ranks = rank_memory.look(state, event)
    same = ranks is state.attempt.ranks
    return replace(state, gpu=channel, attempt=state.attempt if same else replace(state.attempt, ranks=ranks))


def http_answered(state: State, event: HttpAnswered) -> State:
    """Return the state after a readiness probe; failures count only after a success."""
    if event.status is not None and 200 <= event.status < 300:
        since = state.http_since if state.http_since is not None else event.at
        return replace(state, http=event, http_ok_at=event.at, http_since=since, http_bad_since=None)
    bad = state.http_bad_since
    if bad is None and state.http_ok_at is not None:
        bad = event.at
    return replace(state, http=event, http_bad_since=bad)


def port_seen(state: State, event: PortSeen) -> State:
    """Return the state with who listens on the server's port, and since when that is known.

    What HTTP answered while another process listened there says nothing of the one that does now.
    """
    same = (state.port_pid, state.port_number) == (event.pid, event.port)
    if state.port_pid and event.pid and not same:
        state = replace(state, http=None, http_ok_at=None, http_since=None, http_bad_since=None)
    return replace(
        state,
        port_pid=event.pid,
        port_title=event.title,
        port_seen_at=event.at,
        port_number=event.port,
        port_since=state.port_since if same and state.port_since is not None else event.at,
    )


def checkpoint_seen(state: State, event: CheckpointSeen) -> State:
    """Return the state with the files of one model; a look that shows the same changes nothing."""
    seen = event.checkpoint
    if seen in state.checkpoints:
        return state
    return replace(state, checkpoints=(*(known for known in state.checkpoints if known.role != seen.role), seen))


def kernel_said(state: State, event: KernelSaid) -> State:
    """Return the state with what the kernel log said; lines that were known already are not taken twice."""
    new = tuple(line for line in dict.fromkeys(event.lines) if line not in state.kernel)
    return replace(state, kernel=(*state.kernel, *new)[-_MOST_KERNEL_LINES:], kernel_asked_at=event.at)


def channel_closed(state: State, event: ChannelClosed) -> State:
    """Return the state with a channel that cannot be had."""
    entry = (event.channel, event.why)
    if entry in state.closed:
        return state
    return replace(state, closed=(*(known for known in state.closed if known[0] != event.channel), entry))


def channel_opened(state: State, event: ChannelOpened) -> State:
    """Return the state with a channel that is there again."""
    left = tuple(known for known in state.closed if known[0] != event.channel)
    return state if len(left) == len(state.closed) else replace(state, closed=left)


def link_changed(state: State, event: LinkChanged) -> State:
    """Return the state with the connection up or down."""
    if (state.link.status, state.link.why) == (event.status, event.why):
        return state
    return replace(state, link=Link(event.status, event.at, event.why))


def action_step(state: State, event: ActionStep) -> State:
    """Return the state with an operator's stop or restart one step further: this one's, or somebody else's."""
    old = state.elsewhere if event.who else state.action
    goes_on = old is not None and (old.action, old.who) == (event.action, event.who) and not old.ended
    since = old.since if old is not None and goes_on else event.since or event.at
    until = None if event.left is None else event.at + event.left
    ended_at = event.at if event.ended else None
    server = (state.server.pid, state.server.start) if state.server is not None else None
    of = old.of if old is not None and goes_on else server
    new = Action(event.action, event.step, since, event.ended, event.failed, until, ended_at, event.name, event.who, of)
    if new == old:
        return state
    if event.who:
        return replace(state, elsewhere=new)
    acts = new.touches and not _is_told_after(state, new)
    return replace(state, action=new, acted=new if acts else state.acted)


def _is_told_after(state: State, new: Action) -> bool:
    """Say whether the end of the server is judged by what was known before: by what was done until then.

    What is begun when it is gone has not ended it. What became of an action that was cut off moves its end only while
    something of it still runs.
    """
    old = state.acted
    if old is None:
        return False
    again = old.ended and new.ended and old.action == new.action and abs(old.since - new.since) <= _ROUNDED
    return had_gone(new, state) or (again and (state.gone_at is not None or not new.failed))
